// SPDX-License-Identifier: Apache-2.0
// Axes. A logarithmic axis is a linear one of logarithms, so that zoom, bars and ticks behave alike.
import type {Column, Scale, Value} from '../document';
import {isDate, measure, show, tick} from '../format';
import {step, ticks} from '../ticks';
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

export interface NumberAxis {
  column: Column;
  values: number[];
  scale: Scale;
  theme: Theme;
  upright: boolean;
  pixels: number;
  /** A linear axis starts at 0, and ends at a tick. */
  zero: boolean;
}

/** An axis of numbers; `values` decide its ends. */
export function numberAxis({column, values, scale, theme, upright, pixels, zero}: NumberAxis): Axis {
  const log = scale === 'log';
  const usable = log ? values.filter((value) => value > 0) : values;
  let low = usable.reduce((a, b) => Math.min(a, b), Infinity);
  let high = usable.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
  const count = Math.max(2, Math.floor(pixels / (upright ? 48 : 84)));
  const unit = column.unit;
  if (log) {
    if (high / low < 1.5) [low, high] = [low / 2, high * 2];
    // Axes upwards end at a power of ten; along, data ends where it ends.
    if (upright) high *= 1.15;
  } else {
    if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
    if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
    const share = unit === 'fraction' || unit === 'percent';
    const whole = unit === 'percent' ? 100 : 1;
    if (zero && share && low === 0 && high > 0.6 * whole && high <= whole * 1.000001) {
      high = whole;
    } else if (upright || zero) {
      const by = step(high - low, count, unit);
      high = Math.ceil(high / by - 1e-9) * by;
      low = Math.floor(low / by + 1e-9) * by;
    } else {
      const margin = (high - low) * 0.02;
      [low, high] = [low - margin, high + margin];
    }
  }
  const put = (value: number) => (log ? Math.log10(value) : value);
  const raw = (place: number) => (log ? 10 ** place : place);
  const size = measure(unit, Math.max(Math.abs(low), Math.abs(high)));
  const ticksOf = (from: number, to: number) => ticks(raw(from), raw(to), count, unit, scale).map(put);
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
    low: put(low),
    high: put(high),
  };
}

/** An axis of dates in UTC, to the millisecond inside. */
function dateAxis(column: Column, values: number[], theme: Theme): Axis {
  const base = lineStyle(theme);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity) * 1000;
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity) * 1000;
  return {
    option: {
      type: 'time',
      min: low === high ? low - 43200000 : low,
      max: low === high ? high + 43200000 : high,
      ...base,
      axisPointer: {label: {show: false}},
    },
    place: (value) => (typeof value === 'number' ? value * 1000 : null),
    title: `${column.label} (UTC)`,
    show: (value) => show(value, column),
    low,
    high,
  };
}

/** An axis of names, or of numbers that are shown as names. */
export function categoryAxis(column: Column, values: Value[], theme: Theme, upright: boolean, pixels: number): Axis {
  const names = [...new Set(values.map((value) => nameOf(value, column)))];
  const base = lineStyle(theme);
  const letters = Math.max(6, Math.floor((upright ? Math.min(190, pixels * 0.4) : 130) / 6.6));
  return {
    option: {
      type: 'category',
      data: names,
      ...base,
      axisTick: {show: false},
      axisLabel: {...base.axisLabel, formatter: (name: string) => cut(name, letters), ...(upright ? {interval: 0} : {})},
      axisPointer: {label: {show: false}, type: 'shadow'},
    },
    place: (value) => nameOf(value, column),
    title: column.label,
    show: (value) => nameOf(value, column),
    low: 0,
    high: 0,
  };
}

export function nameOf(value: Value, column: Column): string {
  if (value === null || value === '') return '(none)';
  return typeof value === 'string' ? value : show(value, column);
}

function cut(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

/** The axis along the bottom: names, dates or numbers, as its column is. */
export function axisAlong(input: Input, column: Column, values: Value[], zero = false): Axis {
  const {theme, width} = input;
  if (column.type === 'text') return categoryAxis(column, values, theme, false, width);
  const numbers = values.filter((value): value is number => typeof value === 'number');
  if (column.type === 'time' && numbers.some(isDate)) return dateAxis(column, numbers, theme);
  const plain: Column = column.type === 'time' ? {...column, type: 'number', unit: 's'} : column;
  return numberAxis({
    column: plain, values: numbers, scale: input.chart.x_scale, theme, upright: false, pixels: width - 70, zero,
  });
}

/** A title of an axis that points up, above its end rather than along it: it is read without turning. */
export function upTitle(text: string, theme: Theme, side: 'left' | 'right') {
  return {text, [side]: 0, top: 0, padding: 0, textStyle: {color: theme.soft, fontSize: 12, fontWeight: 'normal'}};
}

/** Adds the title of the axis below. */
export function named(axis: Axis): Record<string, unknown> {
  return {...axis.option, name: axis.title, nameLocation: 'middle', nameGap: 28, nameTextStyle: {fontSize: 12}};
}

export const kGrid = {left: 4, right: 16, top: 26, bottom: 26, containLabel: true};
