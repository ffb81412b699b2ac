// SPDX-License-Identifier: Apache-2.0
// Where the token is typed in, and put away again.
import {useRef, useState} from 'preact/hooks';
import {keepToken, useToken} from './token';

export function TokenButton() {
  const has = useToken();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  if (has) return <button type="button" onClick={() => keepToken('')} title="Forgets the token">Forget token</button>;
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()} title="Looking is free; changes and logs need the token">Token</button>
      <dialog ref={dialog} aria-labelledby="token-title">
        <form onSubmit={(event) => {
          event.preventDefault();
          dialog.current?.close();
          keepToken(typed.trim());
          setTyped('');
        }}>
          <h2 id="token-title">Token</h2>
          <p>Every user of the service’s machine may look. Changes, what stands in logs, and a look from another machine need a token of
            yours: <code>almanac token create</code> makes one there. It is kept in this tab until the tab is closed.</p>
          <label>Token <input type="password" autocomplete="off" spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} /></label>
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>Not now</button>
            <button type="submit" class="main" disabled={typed.trim() === ''}>Use it</button>
          </div>
        </form>
      </dialog>
    </>
  );
}
