// SPDX-License-Identifier: Apache-2.0
// Bars, beside each other or stacked; names that do not fit below turn the chart on its side.
import type {Column, Scale} from '../document';
import {bare, measure, plain, show} from '../format';
import {filled, marker} from '../theme';
import {categoryAxis, common, kGrid, longest, named, nameOf, numberAxis, upTitle, type Axis} from './axis';
import {frame, styleOf, tip, type Drawing, type Input, type Nothing} from './drawing';
import {split} from './rows';

const kTallest = 1600;  // pixels
/** Bars on their side in a small chart. */
const kSmall = 6;
/** More names than this lie sideways, as many as there is room for. */
export const kMany = 60;

export function drawBar(input: Input): Drawing | Nothing {
  const {chart, rows, theme, width} = input;
  const column = rows.column(chart.x);
  const all = split(chart, rows);
  const [first] = all;
  if (!column || !first) return {nothing: 'There are no columns to draw.'};

  // Names stand in the order of the rows, unless they rise with their first bars; numbers and times rise.
  const key = column.type !== 'text' ? chart.x : chart.sorted ? chart.y[0] ?? '' : '';
  const order = key === '' ? rows.at : [...rows.at].sort((a, b) => (rows.number(key, a) ?? Infinity) - (rows.number(key, b) ?? Infinity) || a - b);
  const every = [...new Set(order.map((row) => nameOf(rows.value(chart.x, row), column)))];
  const tables = all.map((series, n) => {
    const values = new Map<string, number | null>();
    for (const row of series.rows.at) values.set(nameOf(rows.value(chart.x, row), column), rows.number(series.column.name, row));
    // A line must stand out against the bars that it crosses.
    const own = styleOf(input, series.of, n);
    return {...series, values, style: series.right ? {...own, colour: theme.ink} : own};
  }).filter((table) => [...table.values.values()].some((value) => value !== null && (value !== 0 || !chart.stacked)));
  if (tables.length === 0) return {nothing: 'No rows were left to draw.'};

  const seen = tables.filter((table) => !input.hidden.has(table.name));
  const left = seen.filter((table) => !table.right);
  const right = seen.filter((table) => table.right);
  const sideways = right.length === 0 && (chart.sorted || every.length > kMany || isWide(every, width));
  const depth = chart.stacked ? 1 : Math.max(1, left.length);
  // As many as stand apart from each other; bars that overlap say nothing.
  const most = input.small ? kSmall : Math.max(3, Math.floor((kTallest - 70) / rowHeight(depth, false)));
  const names = sideways ? every.slice(0, most) : every;
  const plot = width - (sideways ? 30 + Math.min(190, longest(names) * 7) : right.length > 0 ? 120 : 70);
  const name = categoryAxis(column, names, theme, sideways, sideways ? width : plot);
  const starred = star(input, name, names);
  // Where there is room, the number itself stands at the bar.
  const largest = left.reduce((high, table) => Math.max(high, ...[...table.values.values()].map((amount) => Math.abs(amount ?? 0))), 0);
  const words = longest(left.flatMap((table) => [...table.values.values()].map((amount) => shortly(amount, table.column, largest)))) * 6.4;
  const numbered = !chart.stacked && right.length === 0 && (sideways || names.length <= 15)
    && (sideways ? depth <= 3 && 70 + names.length * rowHeight(depth, true) <= kTallest : words + 4 <= plot / names.length * (depth === 1 ? 1 : 0.7 / depth));
  const height = sideways ? Math.min(kTallest, 70 + names.length * rowHeight(depth, numbered)) : names.length <= 6 ? 270 : 330;
  const pixels = sideways ? plot - (numbered ? words : 0) : height - 60;

  const tops = chart.stacked
    ? names.map((name) => left.reduce((sum, table) => sum + (table.values.get(name) ?? 0), 0))
    : left.flatMap((table) => [...table.values.values()]);
  const amount = (of: Column[], values: (number | null)[], upright: boolean, scale: Scale) => numberAxis({
    column: common(of), values, scale, theme, upright, pixels, fit: 'zero',
  });
  const value = amount((left.length > 0 ? left : all).map((table) => table.column), tops, !sideways, chart.y_scale);
  const upRight = right[0]
    ? amount(right.map((table) => table.column), right.flatMap((table) => [...table.values.values()]), true, 'linear') : undefined;
  const valueOption = {...value.option, ...(chart.y_scale === 'log' ? {startValue: value.low} : {})};
  // What is not 0 is seen, if only as a hairline.
  const pixel = (value.high - value.low) / pixels;
  const stand = (amount: number | null): number | null => {
    const at = value.place(amount) as number | null;
    if (at === null || amount === 0) return chart.stacked ? null : at;
    const base = chart.y_scale === 'log' ? value.low : 0;
    return base + Math.sign(at - base || 1) * Math.max(Math.abs(at - base), 1.5 * pixel);
  };

  const bars = seen.map((table) => ({
    type: table.right ? 'line' : 'bar',
    name: table.name,
    yAxisIndex: table.right ? 1 : 0,
    data: names.map((at) => {
      const amountAt = table.values.get(at) ?? null;
      const below = amountAt !== null && amountAt < 0;
      return {
        value: table.right && upRight ? upRight.place(amountAt) : stand(amountAt),
        label: {position: sideways ? (below ? 'left' : 'right') : below ? 'bottom' : 'top'},
        // An edge of paper would hide a thin part of a stack.
        ...(chart.stacked && Math.abs(amountAt ?? 0) < 4 * pixel ? {itemStyle: {borderWidth: 0}} : {}),
      };
    }),
    ...(table.right
      ? {...marker(table.style, theme), symbolSize: 7, lineStyle: {color: table.style.colour, width: 1.5, type: [4, 3]}}
      : {barMaxWidth: 46, barCategoryGap: '28%', barGap: '6%', ...(chart.stacked ? {stack: 'all'} : {})}),
    ...(table.right ? {} : {itemStyle: {...filled(table.style, theme), ...(chart.stacked ? {borderColor: theme.paper, borderWidth: 0.75} : {})}}),
    label: {
      show: numbered && !table.right, color: theme.soft, fontSize: 11.5,
      formatter: ({dataIndex}: {dataIndex: number}) => shortly(table.values.get(names[dataIndex] ?? '') ?? null, table.column, largest),
    },
    emphasis: {disabled: true},
  }));
  return {
    option: frame(input, {
      trigger: 'axis',
      axisPointer: {type: 'shadow', shadowStyle: {color: theme.grid, opacity: 0.6}},
      formatter: (params: {dataIndex: number}[]) => {
        const at = names[params[0]?.dataIndex ?? 0] ?? '';
        return tip(at, seen.map((table) => ({style: table.style, name: table.name, value: show(table.values.get(at) ?? null, table.column)})));
      },
    }, {
      title: sideways ? [] : [upTitle(value.title, theme, 'left'), ...(upRight ? [upTitle(upRight.title, theme, 'right')] : [])],
      grid: sideways ? {...kGrid, top: 6, right: numbered ? words + 12 : 22} : kGrid,
      xAxis: sideways ? {...named(value), ...valueOption, axisLine: {show: false}, splitLine: {...(value.option['splitLine'] as object), show: true}} : named(name),
      yAxis: sideways ? {...name.option, inverse: true}
        : [valueOption, ...(upRight ? [{...upRight.option, position: 'right', splitLine: {show: false}}] : [])],
      series: bars,
    }),
    height: height + name.deep,
    tall: sideways,
    marks: names.length * seen.length,
    zoom: !sideways && names.length > 30 ? [{axis: 'x'}] : [],
    keys: tables.length > 1 ? tables.map((table) => ({name: table.name, mark: table.right ? 'line' : 'area', ...table.style, ...(table.right ? {dash: [4, 3]} : {})})) : [],
    left_out: [...starred, ...(names.length < every.length ? [`The first ${names.length} of ${every.length} are drawn; the table has all.`] : [])].join(' '),
  };
}

/** Pixels of so many bars of one name; numbers at their ends need more. */
function rowHeight(bars: number, numbered: boolean): number {
  return Math.max(20, bars * (numbered ? 14 : 9) + 8);
}

/** Puts a star behind each name that has a caution; says what the star means. */
function star({cautions}: Input, axis: Axis, names: string[]): string[] {
  const marked = names.filter((name) => cautions?.has(name));
  if (!cautions || marked.length === 0) return [];
  const label = axis.option['axisLabel'] as {formatter: (name: string) => string};
  axis.option['axisLabel'] = {...label, formatter: (name: string) => label.formatter(name) + (cautions.has(name) ? '\u2009*' : '')};
  const words = [...new Set(marked.map((name) => cautions.get(name)))];
  return words.map((word) => (words.length === 1 ? `* ${word}.` : `* ${marked.filter((name) => cautions.get(name) === word).join(', ')}: ${word}.`));
}

/** Whether names would overlap below a chart: they are long, and too many. */
export function isWide(names: string[], width: number): boolean {
  const long = longest(names);
  return long > 8 && names.length * (long * 6.6 + 10) > width - 60;
}

/** The number at a bar, in the measure that the axis names. */
function shortly(value: number | null, column: Column, largest: number): string {
  if (value === null) return '';
  const size = measure(column.unit, largest);
  return size.name === '' ? bare(value, column) : plain(value / size.divisor);
}
