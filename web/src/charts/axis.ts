// SPDX-License-Identifier: Apache-2.0
// Axes. A logarithmic axis is a linear one of logarithms, so that zoom, bars and ticks behave alike.
import type {Column, Scale, Unit, Value} from '../document';
import {bare, dateTick, isDate, measure, show, tick} from '../format';
import {dateTicks, step, ticks} from '../ticks';
import type {Theme} from '../theme';
import type {Input} from './drawing';

export interface Axis {
  option: Record<string, unknown>;
  /** Where a value stands on the axis; null where it cannot be shown. */
  place(value: Value): number | string | null;
  ticks?: (low: number, high: number) => number[];
  /** The title with the measure: "GPU time (GPU-hours)". */
  title: string;
  /** A value in words, for a tooltip. */
  show(value: Value): string;
  /** What a tooltip says of a place. */
  heading(place: number | string): string;
  /** Pixels that turned labels need below, more than flat ones. */
  deep: number;
  low: number;  // places; 0 and 0 of categories
  high: number;
}

export function lineStyle(theme: Theme) {
  return {
    axisLine: {show: true, onZero: false, lineStyle: {color: theme.line, width: 1}},
    axisTick: {show: true, length: 4, lineStyle: {color: theme.line}},
    axisLabel: {color: theme.soft, fontSize: 12, hideOverlap: true},
    splitLine: {show: false, lineStyle: {color: theme.grid, width: 1}},
  };
}

/** data: ends where the data end; margin: a little beyond; zero: from 0 (or a power of ten) to a tick. */
type Fit = 'data' | 'margin' | 'zero';

export interface NumberAxis {
  column: Column;
  values: (number | null)[];
  scale: Scale;
  theme: Theme;
  upright: boolean;
  pixels: number;
  fit: Fit;
}

/** An axis of numbers; `values` decide its ends. */
export function numberAxis({column, values, scale, theme, upright, pixels, fit}: NumberAxis): Axis {
  const log = scale === 'log';
  const count = Math.max(2, Math.floor(pixels / (upright ? 48 : 84)));
  const unit = column.unit;
  // Whole numbers have whole ticks: there is no half replica.
  const steps: Unit = unit === '' && values.every((value) => value === null || Number.isInteger(value)) ? 'jobs' : unit;
  const ends = log ? logEnds(values, fit) : linearEnds(values, fit, steps, count);
  const [low, high] = ends;
  const put = (value: number) => (log ? Math.log10(value) : value);
  const raw = (place: number) => (log ? 10 ** place : place);
  const size = measure(unit, Math.max(Math.abs(low), Math.abs(high)));
  const ticksOf = (from: number, to: number) => ticks(raw(from), raw(to), count, steps, scale).map(put);
  const base = lineStyle(theme);
  const at = ticksOf(put(low), put(high));
  const label = (place: number) => tick(Number(raw(place).toPrecision(12)), unit, size.divisor);
  return {
    option: {
      type: 'value',
      min: put(low),
      max: put(high),
      scale: true,
      axisLine: {...base.axisLine, show: !upright},
      axisTick: {...base.axisTick, show: !upright, customValues: at},
      axisLabel: {...base.axisLabel, customValues: at, formatter: label},
      splitLine: {...base.splitLine, show: upright, customValues: at},
      axisPointer: {label: {show: false}},
    },
    place: (value) => (typeof value === 'number' && (!log || value > 0) ? put(value) : null),
    ticks: ticksOf,
    title: size.name && !column.label.includes(size.name) ? `${column.label} (${size.name})` : column.label,
    show: (value) => show(value, column),
    heading: (at) => `${column.label}: ${show(Number(raw(Number(at)).toPrecision(12)), column)}`,
    deep: 0,
    low: put(low),
    high: put(high),
  };
}

function extent(values: (number | null)[], usable: (value: number) => boolean): [number, number] | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || !usable(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : undefined;
}

function logEnds(values: (number | null)[], fit: Fit): [number, number] {
  const found = extent(values, (value) => value > 0);
  if (!found) return [1, 10];
  let [low, high] = found;
  if (high / low < 1.5) [low, high] = [low / 2, high * 2];
  const margin = (high / low) ** 0.03;
  if (fit === 'zero') return [10 ** Math.floor(Math.log10(low * 0.9)), high * margin];
  return fit === 'margin' ? [low / margin, high * margin] : [low, high];
}

function linearEnds(values: (number | null)[], fit: Fit, unit: Unit, count: number): [number, number] {
  let [low, high] = extent(values, () => true) ?? [0, 1];
  if (fit === 'zero') [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  if (fit === 'data') return [low, high];
  if (fit === 'margin') {
    const margin = (high - low) * 0.03;
    return [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
  }
  // A share of something is seen against the whole of it, unless it is small.
  const whole = unit === 'fraction' ? 1 : unit === 'percent' ? 100 : Infinity;
  if (low === 0 && high > 0.6 * whole && high <= whole * 1.000001) return [0, whole];
  const by = step(high - low, count, unit);
  return [Math.floor(low / by + 1e-9) * by, Math.ceil(high / by - 1e-9) * by];
}

/** An axis of dates in UTC, in seconds. */
function dateAxis(column: Column, values: number[], theme: Theme, pixels: number): Axis {
  const base = lineStyle(theme);
  const first = values.reduce((a, b) => Math.min(a, b), Infinity);
  const last = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [low, high] = first === last ? [first - 43200, last + 43200] : [first, last];
  const count = Math.max(2, Math.floor(pixels / 64));
  const at = dateTicks(low, high, count);
  return {
    option: {
      type: 'value',
      min: low,
      max: high,
      ...base,
      axisTick: {...base.axisTick, customValues: at},
      axisLabel: {...base.axisLabel, customValues: at, formatter: (place: number) => dateTick(place, isLong(low, high))},
      splitLine: {...base.splitLine, customValues: at},
      axisPointer: {label: {show: false}},
    },
    place: (value) => (typeof value === 'number' ? value : null),
    ticks: (from, to) => dateTicks(from, to, count),
    title: `${column.label} (${within(low, high)}${column.zone ?? 'UTC'})`,
    show: (value) => show(value, column),
    heading: (place) => show(Number(place), column),
    deep: 0,
    low,
    high,
  };
}

/** Whether an axis is for months rather than days. */
export function isLong(low: number, high: number): boolean {
  return high - low > 300 * 86400;
}

/** What all dates share and no tick says: "2020, ", "2020-04-01, " or "2022 to 2023, ". */
export function within(low: number, high: number): string {
  const [from, to] = [new Date(low * 1000), new Date(high * 1000)];
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) return '';
  const [first, last] = [from.toISOString(), to.toISOString()];
  if (first.slice(0, 10) === last.slice(0, 10)) return `${first.slice(0, 10)}, `;
  return first.slice(0, 4) === last.slice(0, 4) ? `${first.slice(0, 4)}, ` : `${first.slice(0, 4)} to ${last.slice(0, 4)}, `;
}

const kLetter = 6.9;  // pixels, of a label
/** So many names are always shown, turned if they must be. */
const kAllNames = 15;

/** An axis of names, or of numbers that are shown as names; `pixels` is its length, or the chart's width if it is upright. */
export function categoryAxis(column: Column, values: Value[], theme: Theme, upright: boolean, pixels: number): Axis {
  const names = [...new Set(values.map((value) => nameOf(value, column)))];
  const base = lineStyle(theme);
  const letters = Math.max(6, Math.floor((upright ? Math.min(190, pixels * 0.4) : 130) / 6.6));
  const turned = upright ? {turn: 0, all: true} : turn(names, pixels, letters);
  return {
    option: {
      type: 'category',
      data: names,
      ...base,
      axisTick: {show: false},
      axisLabel: {
        ...base.axisLabel, formatter: (name: string) => cut(name, letters), rotate: turned.turn,
        ...(turned.all ? {interval: 0, hideOverlap: upright} : {}),
      },
      axisPointer: {label: {show: false}, type: 'shadow'},
    },
    place: (value) => nameOf(value, column),
    title: column.label,
    show: (value) => nameOf(value, column),
    heading: (place) => String(place),
    deep: turned.turn === 0 ? 0 : Math.round(Math.min(longest(names), letters) * 6.2 * Math.sin((turned.turn / 180) * Math.PI)) - 4,
    low: 0,
    high: 0,
  };
}

/** How names stand below an axis of so many pixels: flat where all fit, else turned, else not all of them. */
function turn(names: string[], pixels: number, letters: number): {turn: number; all: boolean} {
  const room = pixels / names.length;
  const half = (at: number) => Math.min(names[at]?.length ?? 0, letters) * kLetter / 2;
  if (names.every((_, at) => half(at) + half(at + 1) + 4 <= room)) return {turn: 0, all: true};
  if (names.length > kAllNames && room < 13) return {turn: 0, all: false};
  return {turn: room >= 18 ? 45 : 90, all: true};
}

export function longest(names: string[]): number {
  return names.reduce((most, name) => Math.max(most, name.length), 0);
}

export function nameOf(value: Value, column: Column): string {
  if (value === null || value === '') return '(none)';
  if (typeof value === 'string') return value;
  return column.type === 'time' ? show(value, column) : bare(value, column);
}

function cut(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/** The axis along the bottom: names, dates or numbers, as its column is. */
export function axisAlong(input: Input, column: Column, values: Value[], fit: Fit = 'data'): Axis {
  const {theme, width} = input;
  if (column.type === 'text') return categoryAxis(column, values, theme, false, width - 70);
  const numbers = values.filter((value): value is number => typeof value === 'number');
  if (column.type === 'time' && numbers.some(isDate)) return dateAxis(column, numbers, theme, width - 70);
  const plain: Column = column.type === 'time' ? {...column, type: 'number', unit: 's'} : column;
  return numberAxis({
    column: plain, values: numbers, scale: input.chart.x_scale, theme, upright: false, pixels: width - 70, fit,
  });
}

/** A title of an axis that points up, above its end rather than along it: it is read without turning. */
export function upTitle(text: string, theme: Theme, side: 'left' | 'right') {
  return {text, [side]: 0, top: 3, padding: 0, textStyle: {color: theme.soft, fontSize: 12, fontWeight: 'normal'}};
}

/** Adds the title of the axis below. */
export function named(axis: Axis): Record<string, unknown> {
  return {...axis.option, name: axis.title, nameLocation: 'middle', nameGap: 28 + axis.deep, nameTextStyle: {fontSize: 12}};
}

export const kGrid = {left: 4, right: 16, top: 30, bottom: 26, containLabel: true};

const kNouns: Record<Unit, string> = {
  '': '', s: 'Time', fraction: 'Share', percent: 'Share', jobs: 'Jobs', gpus: 'GPUs', gpu_s: 'GPU time', cpu_s: 'CPU time',
  users: 'Users', nodes: 'Nodes', W: 'Power', x: 'Ratio', points: 'Percentage points',
};

/** What several columns measure together, where the legend names each; else the column itself. */
export function common(columns: Column[]): Column {
  const [first] = columns;
  if (!first) return {name: '', label: '', unit: '', type: 'number'};
  return columns.every((column) => column.name === first.name) ? first : {...first, label: kNouns[first.unit]};
}
