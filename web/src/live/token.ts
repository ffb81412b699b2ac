// SPDX-License-Identifier: Apache-2.0
// The token that allows changes: kept for this tab, until it is closed or the service refuses it.
import {useEffect, useState} from 'preact/hooks';

const kKey = 'almanac-token';
const watchers = new Set<() => void>();

function stored(): string {
  try {
    return sessionStorage.getItem(kKey) ?? '';
  } catch {
    return '';
  }
}

let kept = stored();

export function token(): string {
  return kept;
}

export function keepToken(text: string): void {
  kept = text;
  try {
    if (text === '') sessionStorage.removeItem(kKey); else sessionStorage.setItem(kKey, text);
  } catch {
    // Then it lasts as long as the page.
  }
  for (const watcher of watchers) watcher();
}

export function dropToken(): void {
  if (kept !== '') keepToken('');
}

/** Whether there is a token now. */
export function useToken(): boolean {
  const [has, setHas] = useState(kept !== '');
  useEffect(() => {
    const look = () => setHas(kept !== '');
    watchers.add(look);
    look();
    return () => { watchers.delete(look); };
  }, []);
  return has;
}
