// SPDX-License-Identifier: Apache-2.0
// Numbers with units, as people read them. A number that is none is shown as a dash.
import type {Column, Unit, Value} from './document';

export const kMissing = '–';
const kNarrow = '\u202f';  // a narrow space that does not break, between number and unit
const kTied = '\u00a0';    // a space that does not break, between two units

const kMinute = 60;
const kHour = 3600;
const kDay = 86400;

function minus(text: string): string {
  return text.replace('-', '−');
}

/** "103,467", "0.0123", "1.75": all digits of a whole number, else `digits` significant ones. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return kMissing;
  const size = Math.abs(value);
  const text = Number.isInteger(value) || size >= 10 ** (digits - 1) ? Math.round(value).toLocaleString('en-US')
    : size < 1e-6 ? value.toExponential(1) : value.toLocaleString('en-US', {maximumSignificantDigits: digits});
  return minus(text);
}

/** Large counts on an axis: "20,000", "1.5 M", "2 G". */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${plain(value / 1e9)}${kNarrow}G`;
  if (size >= 1e6) return `${plain(value / 1e6)}${kNarrow}M`;
  return plain(value);
}

/** "0.25s", "5.3s", "45s", "12m 05s", "3h 20m", "2d 04h", as the findings say it (src/text/human.h). */
export function duration(value: number): string {
  if (!Number.isFinite(value)) return kMissing;
  if (value < 0) return `−${duration(-value)}`;
  if (value === 0) return '0s';
  if (value < 0.0995) return `${plain(value * 1000)}ms`;
  if (value < 1) return `${plain(value, 2)}s`;
  if (value < 9.95) return `${value.toFixed(1)}s`;
  const whole = Math.round(value);
  if (whole < kMinute) return `${whole}s`;
  if (whole < kHour) return pair(whole, kMinute, 'm', 1, 's');
  if (whole < kDay) return pair(whole, kHour, 'h', kMinute, 'm');
  return pair(whole, kDay, 'd', kHour, 'h');
}

function pair(whole: number, large: number, name: string, small: number, rest: string): string {
  const left = String(Math.floor((whole % large) / small)).padStart(2, '0');
  return `${plain(Math.floor(whole / large))}${name}${kTied}${left}${rest}`;
}

/** One unit only, for an axis: 90 seconds are "1.5m". */
export function shortDuration(value: number): string {
  const size = Math.abs(value);
  const [unit, name]: [number, string] =
    size >= kDay ? [kDay, 'd'] : size >= kHour ? [kHour, 'h'] : size >= kMinute ? [kMinute, 'm'] :
    size >= 1 || size === 0 ? [1, 's'] : [0.001, 'ms'];
  return `${plain(value / unit)}${name}`;
}

/** "61.2 %" of 0.612, "71.0 %" of 0.71 when `even`; small shares keep two digits, and what is not all is never "100 %". */
export function percent(fraction: number, even = false): string {
  if (!Number.isFinite(fraction)) return kMissing;
  const value = fraction * 100;
  const size = Math.abs(value);
  if (size > 99.9 && size < 100) return `>${kNarrow}99.9${kNarrow}%`;
  const digits = size === 0 || size >= 99.95 ? 0 : size >= 1 ? 1 : size >= 0.1 ? 2 : 3;
  const text = value.toLocaleString('en-US', {maximumFractionDigits: digits, minimumFractionDigits: even ? digits : 0});
  return `${minus(text)}${kNarrow}%`;
}

/** A unit of a size that suits the largest of the values that it is for. */
export interface Measure {
  divisor: number;
  /** Stands after numbers, or in a heading: "GPU-h". */
  name: string;
}

/** GPU-seconds become GPU-hours or GPU-days, watts kilowatts: one size for a whole axis or column. */
export function measure(unit: Unit, largest: number): Measure {
  if (unit === 'gpu_s' || unit === 'cpu_s') {
    const of = unit === 'gpu_s' ? 'GPU' : 'CPU';
    if (largest >= 20000 * kHour) return {divisor: kDay, name: `${of}-days`};
    if (largest >= 2 * kHour) return {divisor: kHour, name: `${of}-hours`};
    if (largest >= 10 * kMinute) return {divisor: kMinute, name: `${of}-minutes`};
    return {divisor: 1, name: `${of}-seconds`};
  }
  if (unit === 'W') {
    if (largest >= 2e6) return {divisor: 1e6, name: 'MW'};
    return largest >= 2000 ? {divisor: 1000, name: 'kW'} : {divisor: 1, name: 'W'};
  }
  return {divisor: 1, name: ''};
}

/** A quantity with its unit, on its own: in a tooltip. */
export function quantity(value: Value | undefined, unit: Unit): string {
  if (value === null || value === undefined || value === '') return kMissing;
  if (typeof value === 'string') return value;
  if (!Number.isFinite(value)) return kMissing;
  switch (unit) {
    case 's': return duration(value);
    case 'fraction': return percent(value, true);
    case 'percent': return percent(value / 100, true);
    case 'x': return `${plain(value)}×`;
    case 'points': return `${signed(100 * value)} ${Math.abs(100 * value) === 1 ? 'point' : 'points'}`;
    case 'gpu_s': case 'cpu_s': case 'W': {
      const {divisor, name} = measure(unit, Math.abs(value));
      return `${plain(value / divisor, 4)} ${name}`;
    }
    case 'jobs': return `${plain(value)} ${value === 1 ? 'job' : 'jobs'}`;
    case 'gpus': return `${plain(value)} ${value === 1 ? 'GPU' : 'GPUs'}`;
    case 'users': return `${plain(value)} ${value === 1 ? 'user' : 'users'}`;
    case 'nodes': return `${plain(value)} ${value === 1 ? 'node' : 'nodes'}`;
    default: return plain(value, 4);
  }
}

/** A tick on an axis whose title names the measure. */
export function tick(value: number, unit: Unit, divisor = 1): string {
  switch (unit) {
    case 's': return value === 0 ? '0' : shortDuration(value);
    case 'fraction': return percent(value);
    case 'percent': return percent(value / 100);
    case 'x': return `${plain(value)}×`;
    case 'points': return plain(100 * value);
    default: return short(Number((value / divisor).toPrecision(12)));
  }
}

/** "+3.1", "−0.4", "0": one digit behind the point. */
function signed(value: number): string {
  const text = minus(value.toFixed(1)).replace(/\.0$/, '');
  return value > 0 && text !== '0' ? `+${text}` : text === '−0' ? '0' : text;
}

/**
 * How a value differs from that of a baseline: "−34 %", shares in points; "" where that says nothing.
 */
export function difference(value: Value | undefined, base: Value | undefined, unit: Unit): string {
  if (typeof value !== 'number' || typeof base !== 'number' || value === base) return '';
  if (unit === 'fraction') return quantity(value - base, 'points');
  if (unit === 'percent') return quantity((value - base) / 100, 'points');
  if (base <= 0) return '';
  const by = value / base - 1;
  if (by >= 9) return `${plain(value / base)}×`;
  const text = Math.abs(by) < 0.1 ? signed(100 * by) : signed(Math.round(100 * by));
  return `${text}${kNarrow}%`;
}

/** Times before this are no dates: they count from the start of the trace. */
const kFirstDate = 10 * 365 * kDay;

export function isDate(time: number): boolean {
  return Math.abs(time) >= kFirstDate;
}

/** "2020-04-01 00:05" (UTC), or "day 3, 02:10" of a trace that counts from its own start. */
export function time(value: number): string {
  if (!Number.isFinite(value)) return kMissing;
  if (isDate(value)) {
    const date = new Date(value * 1000);
    if (Number.isNaN(date.getTime())) return kMissing;
    const text = date.toISOString();
    return text.slice(11, 19) === '00:00:00' ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
  }
  const minutes = Math.floor(value / kMinute);
  const day = Math.floor(minutes / 1440);
  const rest = minutes - day * 1440;
  const two = (part: number) => String(part).padStart(2, '0');
  return rest === 0 ? `day ${day}` : `day ${day}, ${two(Math.floor(rest / 60))}:${two(rest % 60)}`;
}

/** A date on an axis: "14:00", "5 Sep"; the first of a month with its year where years are many. */
export function dateTick(value: number, long: boolean): string {
  const date = new Date(value * 1000);
  const text = date.toISOString();
  if (value % kDay !== 0) return value % kMinute === 0 ? text.slice(11, 16) : text.slice(11, 19);
  const month = date.toLocaleString('en-US', {month: 'short', timeZone: 'UTC'});
  const day = date.getUTCDate();
  return long && day === 1 ? `${month} ${text.slice(0, 4)}` : `${day} ${month}`;
}

/** Any value of a column, on its own. */
export function show(value: Value | undefined, column: Column): string {
  if (column.type === 'time' && typeof value === 'number') return time(value);
  return quantity(value, column.unit);
}

/** A quantity beside words that say what it counts: "8" of "GPUs". */
export function bare(value: number, column: Column): string {
  switch (column.unit) {
    case 'jobs': case 'gpus': case 'users': case 'nodes': return plain(value);
    default: return show(value, column);
  }
}

/** A sentence as it is set: a number stays with its unit, and minus and times are signs of their own. */
export function prose(text: string): string {
  return text
    .replace(/(\d) %/g, `$1${kNarrow}%`)
    .replace(/<= /g, `≤${kTied}`)
    .replace(/(\d) (ms|s)(?!\w)/g, `$1${kTied}$2`)
    .replace(/(\d[dhm]) (\d\d[hms])(?!\w)/g, `$1${kTied}$2`)
    .replace(/(\d)x(?!\w)/g, '$1×')
    .replace(/(^|[\s(])-(?=\d)/g, '$1−');
}

/** A cell of a table whose heading names the measure. */
export function cell(value: Value | undefined, column: Column, size: Measure): string {
  if (value === null || value === undefined || value === '') return kMissing;
  if (typeof value === 'string') return value;
  if (column.type === 'time') return time(value);
  switch (column.unit) {
    case 's': case 'fraction': case 'percent': case 'x': case 'points': return quantity(value, column.unit);
    default: return plain(value / size.divisor, 4);
  }
}
