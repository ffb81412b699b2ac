// SPDX-License-Identifier: Apache-2.0
// Keeps what is shown as new as what the service has: asks for its revision, and for more when that has grown.
import {useEffect, useRef, useState} from 'preact/hooks';
import {get} from './ask';
import type {Overview} from './service';

const kEvery = 2000;  // milliseconds
/** What is measured, and the clock, change without a revision: so often the whole is asked for. */
const kWhole = 5;
/** A slow answer is not asked for more than a quarter of the time. */
const kRest = 3;

export interface Live {
  overview?: Overview;
  /** Whether the last question found no answer. */
  lost: boolean;
  /** The service's clock less this one's, in seconds. */
  ahead: number;
}

/** The overview, asked again and again while the page is seen. */
export function useOverview(): Live {
  const [live, setLive] = useState<Live>({lost: false, ahead: 0});
  useEffect(() => {
    let revision = -1;
    let asked = 0;
    let timer = 0;
    let busy = false;
    const abort = new AbortController();
    const look = async () => {
      clearTimeout(timer);
      if (busy || document.hidden) return;
      busy = true;
      try {
        const overview = await get<Overview>(revision < 0 || asked++ % kWhole === kWhole - 1 ? '/v1/overview' : `/v1/overview?revision=${revision}`, abort.signal);
        if (overview) {
          revision = overview.revision;
          setLive({overview, lost: false, ahead: overview.now_s - Date.now() / 1000});
        } else {
          setLive((before) => (before.lost ? {...before, lost: false} : before));
        }
      } catch {
        if (abort.signal.aborted) return;
        // A service that has started again counts from elsewhere.
        revision = -1;
        setLive((before) => ({...before, lost: true}));
      }
      busy = false;
      timer = window.setTimeout(() => void look(), kEvery);
    };
    const wake = () => void look();
    document.addEventListener('visibilitychange', wake);
    window.addEventListener('almanac-changed', wake);
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', wake);
      window.removeEventListener('almanac-changed', wake);
    };
  }, []);
  return live;
}

/** After a change: what is shown is asked for at once. */
export function lookAgain(): void {
  window.dispatchEvent(new Event('almanac-changed'));
}

export interface Answer<T> {
  path: string;
  value?: T;
  error?: unknown;
}

/**
 * The JSON at `path` ("" = nothing is asked), asked again whenever `version` differs: never twice at
 * a time, and the less often the longer it takes. The last answer stays until the next is there.
 */
export function useAnswer<T>(path: string, version: unknown): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({path});
  const again = useRef<() => void>(() => undefined);
  const seen = useRef(version);
  useEffect(() => {
    if (path === '') return;
    const abort = new AbortController();
    let timer = 0;
    let busy = false;
    let wanted = false;
    const load = async () => {
      if (busy) {
        wanted = true;
        return;
      }
      busy = true;
      const begun = performance.now();
      try {
        const value = await get<T>(path, abort.signal);
        setAnswer(value === undefined ? {path} : {path, value});
      } catch (error) {
        if (abort.signal.aborted) return;
        setAnswer((before) => (before.path === path ? {...before, error} : {path, error}));
      }
      timer = window.setTimeout(() => {
        busy = false;
        if (!wanted) return;
        wanted = false;
        void load();
      }, Math.max(300, kRest * (performance.now() - begun)));
    };
    again.current = () => void load();
    void load();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path]);
  useEffect(() => {
    if (seen.current === version) return;
    seen.current = version;
    if (path !== '') again.current();
  }, [version]);
  return answer.path === path ? answer : {path};
}

/** A number that grows every `seconds` while the page is seen: for what changes without a revision. */
export function useTicks(seconds: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = window.setInterval(() => !document.hidden && setTicks((before) => before + 1), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return ticks;
}
