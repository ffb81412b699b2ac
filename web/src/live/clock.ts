// SPDX-License-Identifier: Apache-2.0
// Times of day on the reader's clock, as short as they can be said.
import {duration, kMissing} from '../format';

const kDay = 86400;
const two = (part: number) => String(part).padStart(2, '0');

function midnight(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime() / 1000;
}

/** "", "Tue", "3 Dec", "3 Dec 2025": as much of a date as `now` needs. */
function day(date: Date, now: Date): string {
  const days = Math.round((midnight(date) - midnight(now)) / kDay);
  if (days === 0) return '';
  if (Math.abs(days) < 7) return date.toLocaleString('en-GB', {weekday: 'short'});
  const short = `${date.getDate()} ${date.toLocaleString('en-GB', {month: 'short'})}`;
  return date.getFullYear() === now.getFullYear() ? short : `${short} ${date.getFullYear()}`;
}

/** "14:20" within half a day of `now`, "Tue 14:20", "3 Dec 14:20". */
export function clock(at: number | undefined, now: number, withSeconds = false): string {
  if (at === undefined || !Number.isFinite(at)) return kMissing;
  const date = new Date(at * 1000);
  if (Number.isNaN(date.getTime())) return kMissing;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}${withSeconds ? `:${two(date.getSeconds())}` : ''}`;
  const before = Math.abs(at - now) < kDay / 2 ? '' : day(date, new Date(now * 1000));
  return before ? `${before} ${time}` : time;
}

/** "14:20–15:05", "Tue 23:40 – Wed 01:10", "after 14:20" where there is no end to it. */
export function stretch(from: number | undefined, to: number | undefined, now: number): string {
  if (from === undefined && to === undefined) return kMissing;
  if (to === undefined) return `after ${clock(from, now)}`;
  if (from === undefined) return `by ${clock(to, now)}`;
  const [first, last] = [clock(from, now), clock(to, now)];
  if (first === last) return first;
  const [dayOf, ...rest] = last.split(/ (?=\d\d:)/);
  return rest.length > 0 && first.startsWith(`${dayOf} `) ? `${first}–${rest.join('')}` : /[a-z]/i.test(first + last) ? `${first} – ${last}` : `${first}–${last}`;
}

/** "2025-12-03 14:20:05", for a tooltip. */
export function exact(at: number | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at * 1000);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function ago(at: number, now: number): string {
  const passed = Math.round(now - at);
  return passed < 1 ? 'just now' : passed < 10 ? `${passed}s ago` : `${duration(passed)} ago`;
}

/** Epoch seconds moved so that what shows them in UTC shows the reader's clock. */
export function moved(at: number): number {
  return at - new Date(at * 1000).getTimezoneOffset() * 60;
}

/** What the reader's clock is called: "UTC", "GMT+1". */
export function zone(): string {
  const parts = new Intl.DateTimeFormat('en-GB', {timeZoneName: 'short'}).formatToParts(new Date());
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
}
