// SPDX-License-Identifier: Apache-2.0
// Buttons that change something. They need a token, and ask for confirmation if the change cannot be undone.
import {useState} from 'preact/hooks';
import {change, words} from './ask';
import {lookAgain} from './poll';
import {useToken} from './token';

export interface Action {
  label: string;
  method: 'POST' | 'PUT';
  path: string;
  body?: object;
  /** Asked before it is done; absent = it can be taken back. */
  sure?: string;
}

let last = 0;

export function Actions({actions, note = true}: {actions: Action[]; note?: boolean}) {
  const has = useToken();
  const [asked, setAsked] = useState<Action>();
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  const [id] = useState(() => `why-off-${++last}`);
  const run = async (action: Action) => {
    setAsked(undefined);
    setBusy(true);
    setSaid('');
    try {
      await change(action.method, action.path, action.body);
      lookAgain();
    } catch (error) {
      setSaid(words(error));
    }
    setBusy(false);
  };
  if (asked && has) {
    return (
      <div class="actions" role="group" aria-label={asked.label}>
        <span class="sure">{asked.sure}</span>
        <button type="button" class="grave" ref={(button) => button?.focus()} onClick={() => void run(asked)}>{asked.label}</button>
        <button type="button" onClick={() => setAsked(undefined)}>No</button>
      </div>
    );
  }
  return (
    <div class="actions">
      {actions.map((action) => (
        <button
          key={action.label} type="button" aria-disabled={!has || busy} aria-describedby={has ? undefined : id}
          title={has ? '' : 'Changes need a token (top right)'}
          onClick={() => { if (has && !busy) { if (action.sure) setAsked(action); else void run(action); } }}
        >{action.label}</button>
      ))}
      <span id={id} class={has || !note ? 'unseen' : 'hint'}>{has ? '' : 'Changes need a token.'}</span>
      <span role="status" class="refused">{said}</span>
    </div>
  );
}
