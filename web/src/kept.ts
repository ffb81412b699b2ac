// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen, kept in the address of the page where it has one for that.
import {createContext} from 'preact';
import {useCallback, useContext, useEffect, useMemo, useState} from 'preact/hooks';
import {fragment, parseFragment} from './address';

/** Choices by name; undefined takes one back. */
export interface Kept {
  get(name: string): string | undefined;
  set(name: string, value: string | undefined): void;
}

/** Without one (the dashboard) a choice lasts as long as what it is made on. */
export const KeptChoices = createContext<Kept | undefined>(undefined);

export function useKept(name: string): [string | undefined, (value: string | undefined) => void] {
  const kept = useContext(KeptChoices);
  const [own, setOwn] = useState<string>();
  const keep = kept?.set;
  const set = useCallback((value: string | undefined) => (keep ? keep(name, value) : setOwn(value)), [keep, name]);
  return [kept ? kept.get(name) : own, set];
}

/** The choices of the address, which follows them; links within the page take them along. */
export function useFragment(): Kept {
  const [choices, setChoices] = useState(() => parseFragment(location.hash).choices);
  useEffect(() => {
    const follow = () => setChoices(parseFragment(location.hash).choices);
    const go = (event: MouseEvent) => {
      const link = (event.target as Element).closest?.('a[href^="#"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      const {anchor} = parseFragment(link.getAttribute('href') ?? '');
      const place = document.getElementById(anchor);
      if (!place) return;
      event.preventDefault();
      history.pushState(null, '', fragment({anchor, choices: parseFragment(location.hash).choices}));
      place.scrollIntoView();
      // The keyboard goes on from there, as it does after a link that the browser follows.
      place.tabIndex = -1;
      place.focus({preventScroll: true});
    };
    window.addEventListener('hashchange', follow);
    window.addEventListener('popstate', follow);
    document.addEventListener('click', go);
    return () => {
      window.removeEventListener('hashchange', follow);
      window.removeEventListener('popstate', follow);
      document.removeEventListener('click', go);
    };
  }, []);
  const set = useCallback((name: string, value: string | undefined) => {
    const now = parseFragment(location.hash);
    if (value === (now.choices.get(name) ?? undefined)) return;
    if (value === undefined) now.choices.delete(name); else now.choices.set(name, value);
    history.replaceState(null, '', fragment(now));
    setChoices(now.choices);
  }, []);
  return useMemo(() => ({get: (name) => choices.get(name) ?? undefined, set}), [choices]);
}
