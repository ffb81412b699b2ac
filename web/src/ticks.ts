// SPDX-License-Identifier: Apache-2.0
// Where an axis has its ticks: at numbers that people count in.
import type {Scale, Unit} from './document';
import {measure} from './format';

const kDurations = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
  3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 604800, 864000, 1728000, 4320000,
];

// The first list that is short enough is taken, from the finest to the coarsest.
const kLogDurations = [
  [0.001, 0.01, 0.1, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18000, 43200, 86400, 172800, 432000,
   864000, 2592000, 8640000, 31536000],
  [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000, 86400000],
  [0.001, 1, 60, 3600, 86400, 8640000],
  [1, 3600, 8640000],
];

/** A step of 1, 2 or 5 times a power of ten that cuts `span` into about `count` parts. */
function niceStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const part = rough / power;
  return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

export function step(span: number, count: number, unit: Unit): number {
  if (!(span > 0)) return 1;
  if (unit === 's') {
    const rough = span / Math.max(1, count);
    const found = kDurations.find((duration) => duration >= rough * 0.999);
    if (found !== undefined) return found;
    return niceStep(span / 86400, count) * 86400;
  }
  const size = measure(unit, span).divisor;
  const nice = niceStep(span / size, count) * size;
  const whole = unit === 'jobs' || unit === 'gpus' || unit === 'users' || unit === 'nodes';
  return whole ? Math.max(1, nice) : nice;
}

/** Ticks within [low, high], about `count` of them or fewer, in rising order. */
export function ticks(low: number, high: number, count: number, unit: Unit, scale: Scale): number[] {
  if (!(high > low)) return Number.isFinite(low) ? [low] : [];
  if (scale === 'log') {
    const found = logTicks(low, high, count, unit);
    if (found.length > 1) return found;
  }
  const by = step(high - low, count, unit);
  const first = Math.ceil(low / by - 1e-9);
  const last = Math.floor(high / by + 1e-9);
  const found: number[] = [];
  for (let n = first; n <= last; ++n) found.push(Number((n * by).toPrecision(12)));
  return found;
}

function logTicks(low: number, high: number, count: number, unit: Unit): number[] {
  const within = (list: number[]) => list.filter((value) => value >= low * 0.9999 && value <= high * 1.0001);
  if (unit === 's') {
    const lists = kLogDurations.map(within);
    return lists.find((list) => list.length <= count + 1) ?? (lists[lists.length - 1] as number[]);
  }
  const size = measure(unit, high).divisor;
  if (unit === 'gpus') {
    const doublings = within(Array.from({length: 24}, (_, n) => 2 ** n));
    if (doublings.length <= count + 1) return doublings;
  }
  const from = Math.floor(Math.log10(low / size));
  const to = Math.ceil(Math.log10(high / size));
  const decades = (parts: number[], every: number) => {
    const list: number[] = [];
    for (let n = from; n <= to; ++n) {
      if (n % every === 0) for (const part of parts) list.push(part * 10 ** n * size);
    }
    return within(list);
  };
  const fine = decades([1, 2, 5], 1);
  if (fine.length <= count) return fine;
  for (const every of [1, 2, 3]) {
    const list = decades([1], every);
    if (list.length <= count + 1) return list;
  }
  return decades([1], 4);
}

const kDay = 86400;
const kMonday = 4 * kDay;  // the first after the epoch
const kSpans = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, kDay, 2 * kDay, 7 * kDay, 14 * kDay];
const kMonths = [1, 3, 6, 12, 60, 120];

/** Dates (epoch seconds, UTC) within [low, high], about `count` or fewer: whole hours, midnights, Mondays, first days of months. */
export function dateTicks(low: number, high: number, count: number): number[] {
  const by = kSpans.find((span) => (high - low) / span <= count);
  if (by !== undefined) {
    const from = by >= 7 * kDay ? kMonday : 0;
    const found: number[] = [];
    for (let at = from + Math.ceil((low - from) / by) * by; at <= high; at += by) found.push(at);
    return found;
  }
  const months = kMonths.find((number) => (high - low) / (number * 30.4 * kDay) <= count) ?? 1200;
  const found: number[] = [];
  const year = new Date(low * 1000).getUTCFullYear();
  for (let month = 0; ; month += months) {
    const at = Date.UTC(year - (months > 12 ? year % (months / 12) : 0), month) / 1000;
    if (at > high) return found;
    if (at >= low) found.push(at);
  }
}
