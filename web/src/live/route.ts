// SPDX-License-Identifier: Apache-2.0
// Which view is shown: "#/queue?user=ann" in the address, so that a view can be kept and sent.
import {useEffect, useState} from 'preact/hooks';

export interface Route {
  view: string;
  /** What follows the view: a job. */
  part: string;
  query: URLSearchParams;
}

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', part = ''] = path.split('/');
  return {view: view || 'now', part: decode(part), query: new URLSearchParams(query)};
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parse(location.hash));
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Changes what follows "?" of the view that is shown; "" takes a part away. What is then shown begins with its first page. Going back leaves the view. */
export function refine(route: Route, parts: Record<string, string>): void {
  const query = new URLSearchParams(route.query);
  query.delete('page');
  for (const [name, value] of Object.entries(parts)) {
    if (value === '') query.delete(name); else query.set(name, value);
  }
  const text = query.toString();
  const part = route.part ? `/${encodeURIComponent(route.part)}` : '';
  history.replaceState(null, '', `#/${route.view}${part}${text ? `?${text}` : ''}`);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

export function jobLink(id: string): string {
  return `#/job/${encodeURIComponent(id)}`;
}

export function sweepLink(name: string): string {
  return `#/sweeps/${encodeURIComponent(name)}`;
}

/** The map with that node shown whole; "" = none. */
export function nodeLink(name: string): string {
  return name === '' ? '#/now' : `#/now?node=${encodeURIComponent(name)}`;
}
