// SPDX-License-Identifier: Apache-2.0
// The address of a report: where in it, and what the reader has chosen:
// "#figure-run_wait_cdf?policies=fifo,qssf&sort.run_comparison=avg_wait_s".

/** Several names in one choice; they may hold any letter. */
export const joined = (names: string[]): string => names.map((name) => name.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');
export const parted = (text: string): string[] => text.split(',').filter((part) => part !== '').map((part) => part.replaceAll('%2C', ',').replaceAll('%25', '%'));

export interface Fragment {
  anchor: string;
  choices: URLSearchParams;
}

export function parseFragment(hash: string): Fragment {
  const [anchor = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  try {
    return {anchor: decodeURIComponent(anchor), choices: new URLSearchParams(query)};
  } catch {
    return {anchor, choices: new URLSearchParams(query)};
  }
}

/** As it stands in the address; what needs no escape there is left readable. */
export function fragment({anchor, choices}: Fragment): string {
  const query = choices.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/');
  return `#${encodeURIComponent(anchor)}${query ? `?${query}` : ''}`;
}

/** What is picked of each column of which one value is drawn at a time: "vc=a;policy=fifo". */
export type Chosen = Record<string, string>;

export function parseChosen(text: string | undefined): Chosen {
  return Object.fromEntries(new URLSearchParams((text ?? '').replaceAll(';', '&')));
}

export function writeChosen(chosen: Chosen): string {
  return new URLSearchParams(chosen).toString().replaceAll('&', ';');
}

export type Windows = {start: number; end: number}[];

/** What is seen along each axis, in percent: "12.5-30,0-100". */
export function writeWindows(windows: Windows): string {
  return windows.map(({start, end}) => `${Number(start.toFixed(2))}-${Number(end.toFixed(2))}`).join(',');
}

export function parseWindows(text: string | undefined): Windows {
  const windows = (text ?? '').split(',').map((part) => /^([\d.]+)-([\d.]+)$/.exec(part)).filter((found) => found !== null);
  return windows.map((found) => ({start: Number(found[1]), end: Number(found[2])})).filter(({start, end}) => start < end && end <= 100);
}
