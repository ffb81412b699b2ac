// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says until the reader says otherwise.
import {useEffect, useLayoutEffect, useState} from 'preact/hooks';
import type {Theme} from './theme';

type Name = Theme['name'];
const kKey = 'almanac-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');
const ofSystem = (): Name => (system.matches ? 'dark' : 'light');

/** Storage may be refused to a page that is a file. */
function remembered(): Name | undefined {
  try {
    const name = localStorage.getItem(kKey);
    return name === 'dark' || name === 'light' ? name : undefined;
  } catch {
    return undefined;
  }
}

function remember(name: Name): void {
  try {
    if (name === ofSystem()) localStorage.removeItem(kKey); else localStorage.setItem(kKey, name);
  } catch {
    // Then the choice lasts as long as the page.
  }
}

export function useThemeName(): [Name, () => void] {
  const [name, setName] = useState<Name>(remembered() ?? ofSystem());
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = name;
  }, [name]);
  useEffect(() => {
    const follow = () => setName(remembered() ?? ofSystem());
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  return [name, () => {
    const next = name === 'dark' ? 'light' : 'dark';
    remember(next);
    setName(next);
  }];
}
