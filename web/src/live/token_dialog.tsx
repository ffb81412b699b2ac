// SPDX-License-Identifier: Apache-2.0
// Where the token is typed in, and put away again.
import {useRef, useState} from 'preact/hooks';
import {keepToken, useToken} from './token';

export function TokenButton() {
  const has = useToken();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  if (has) return <button type="button" onClick={() => keepToken('')} title="Forget the token">Forget token</button>;
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()} title="Changes and logs need a token">Token</button>
      <dialog ref={dialog} aria-labelledby="token-title">
        <form onSubmit={(event) => {
          event.preventDefault();
          dialog.current?.close();
          keepToken(typed.trim());
          setTyped('');
        }}>
          <h2 id="token-title">Token</h2>
          <p>Every user of the service’s machine can view the dashboard. Changes, logs and access from another machine need a token: run
            <code>almanac token create</code> on that machine. The browser keeps the token until this tab is closed.</p>
          <label>Token <input type="password" autocomplete="off" spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} /></label>
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
            <button type="submit" class="main" disabled={typed.trim() === ''}>Use token</button>
          </div>
        </form>
      </dialog>
    </>
  );
}
