// SPDX-License-Identifier: Apache-2.0
// Lines, and steps, with the bands of intervals: cumulative distributions, series over time.
import type {CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams} from 'echarts';
import {graphic} from 'echarts/core';
import type {Column, Scale} from '../document';
import {percent, plain, show} from '../format';
import {marker, type Style} from '../theme';
import {axisAlong, common, kGrid, named, numberAxis, upTitle, type Axis} from './axis';
import {frame, kAtOnce, styleOf, tip, type Drawing, type Input, type Nothing, type TipLine} from './drawing';
import {split} from './rows';

interface Curve {
  name: string;
  style: Style;
  right: boolean;
  published: boolean;
  column: Column;
  points: Point[];
  band: Stretch[];
}

interface Point {
  x: number | string;
  at: number | null;  // place on the y axis
  y: number | null;
}

/** What an interval spans at a place, in places on the y axis and in values. */
interface Stretch {
  x: number | string;
  from: number;
  to: number;
  low: number;
  high: number;
}

export function drawLine(input: Input, stepped = false): Drawing | Nothing {
  const {chart, rows, theme} = input;
  const column = rows.column(chart.x);
  const all = split(chart, rows);
  const [first] = all;
  if (!column || !first) return {nothing: 'There are no columns to draw.'};

  const xs = rows.at.map((row) => rows.value(chart.x, row));
  const along = axisAlong(input, column, [...xs, ...chart.reference.flatMap((reference) => reference.x)]);
  const pixels = kHeight - 60;
  const yAxis = (of: typeof all, values: (number | null)[], scale: Scale) => numberAxis({
    column: common(of.map((series) => series.column)), values, scale, theme, upright: true, pixels,
    fit: scale === 'log' ? 'margin' : 'zero',
  });
  // The axis fits what is switched on.
  const fitted = (of: typeof all) => {
    const on = of.filter((series) => !input.hidden.has(series.name));
    return on.length > 0 ? on : of;
  };
  const left = fitted(all.filter((series) => !series.right));
  const right = fitted(all.filter((series) => series.right));
  const valuesOf = (of: typeof all) => of.flatMap((series) => series.rows.at.map((row) => rows.number(series.column.name, row)));
  const banded = (series: (typeof all)[number]) => !series.right && series.column.name === chart.y[0];
  const bandEnds = [chart.band.low, chart.band.high].filter((name) => rows.column(name));
  const bandValues = left.filter(banded).flatMap((series) => series.rows.at.flatMap((row) => bandEnds.map((name) => rows.number(name, row))));
  const stackedTop = chart.stacked ? sums(left.map((series) => series.rows.at.map((row) => [rows.text(chart.x, row), rows.number(series.column.name, row) ?? 0]))) : [];
  const up = yAxis(left.length > 0 ? left : all, [...valuesOf(left), ...bandValues, ...stackedTop, ...chart.reference.flatMap((reference) => reference.y)], chart.y_scale);
  const upRight = right[0] ? yAxis(right, valuesOf(right), 'linear') : undefined;

  const unseen = new Map<string, number>();
  /** What a curve has reached at 0, which is the left edge of a logarithmic axis. */
  const atZero = new Map<string, number>();
  const place = (name: string, x: number | string | null, value: number | null, axis: Axis) => {
    const at = axis.place(value);
    if (chart.zeros !== '' && chart.x_scale === 'log' && x === 0 && value !== null && at !== null) {
      atZero.set(name, Math.max(value, atZero.get(name) ?? value));
      return null;
    }
    const shown = along.place(x);
    if (shown === null || (at === null && value !== null)) unseen.set(name, (unseen.get(name) ?? 0) + 1);
    return shown === null ? null : {x: shown, at: at as number | null, y: value};
  };
  const curves: Curve[] = all.map((series, n) => ({
    name: series.name,
    style: series.right ? {...styleOf(input, series.of, n), dash: [4, 3]} : styleOf(input, series.of, n),
    right: series.right,
    published: false,
    column: series.column,
    points: series.rows.at
      .map((row) => place(series.name, rows.value(chart.x, row), rows.number(series.column.name, row), series.right && upRight ? upRight : up))
      .filter((point): point is Point => point !== null),
    band: bandEnds.length < 2 || !banded(series) ? [] : series.rows.at.flatMap((row) => {
      const [x, low, high] = [along.place(rows.value(chart.x, row)), rows.number(chart.band.low, row), rows.number(chart.band.high, row)];
      if (x === null || low === null || high === null) return [];
      // An interval down to 0 ends at the edge of a logarithmic axis.
      return [{x, from: (up.place(low) as number | null) ?? up.low, to: (up.place(high) as number | null) ?? up.low, low, high}];
    }),
  }));
  chart.reference.forEach((reference, n) => curves.push({
    name: reference.name,
    style: {colour: theme.grey, dash: [[3, 3], [8, 3], [1.5, 3]][n % 3] as number[], symbol: 'none', hatch: 0},
    right: false,
    published: true,
    column: left[0]?.column ?? first.column,
    points: reference.x
      .map((x, at) => place(reference.name, x, reference.y[at] ?? null, up))
      .filter((point): point is Point => point !== null),
    band: [],
  }));
  for (const curve of curves) {
    const value = atZero.get(curve.name);
    if (value !== undefined) curve.points.push({x: along.low, at: (curve.right && upRight ? upRight : up).place(value) as number | null, y: value});
  }
  const ordered = along.option['type'] !== 'category';
  if (ordered) for (const curve of curves) {
    curve.points.sort((a, b) => Number(a.x) - Number(b.x));
    curve.band.sort((a, b) => Number(a.x) - Number(b.x));
  }

  const drawn = curves.filter((curve) => curve.points.some((point) => point.at !== null));
  if (!drawn.some((curve) => !curve.published)) {
    return {nothing: rows.at.length === 0 ? 'No rows were left to draw.' : 'None of the values can be shown on these axes; the table has them.'};
  }
  const seen = drawn.filter((curve) => !input.hidden.has(curve.name));
  const lost = [...unseen].reduce((sum, [name, count]) => sum + (input.hidden.has(name) ? 0 : count), 0);
  return {
    option: frame(input, {
      trigger: 'axis',
      axisPointer: {type: 'line', lineStyle: {color: theme.line, type: 'solid', width: 1}},
      formatter: (params: {axisValue: number | string; axisValueLabel: string}[] | {axisValue: number | string; axisValueLabel: string}) => {
        const [point] = Array.isArray(params) ? params : [params];
        if (!point) return '';
        return tip(along.heading(point.axisValue), seen.map((curve) => readOff(curve, point.axisValue, ordered, stepped && !curve.published)));
      },
    }, {
      title: [upTitle(up.title, theme, 'left'), ...(upRight ? [upTitle(upRight.title, theme, 'right')] : [])],
      grid: kGrid,
      xAxis: {...named(along), ...(ordered ? {} : {boundaryGap: false})},
      yAxis: [up.option, ...(upRight ? [{...upRight.option, position: 'right', splitLine: {show: false}}] : [])],
      series: [...seen.map((curve) => ({
        type: 'line',
        name: curve.name,
        data: curve.points.map((point) => [point.x, point.at]),
        yAxisIndex: curve.right ? 1 : 0,
        step: stepped && !curve.published ? 'end' : false,
        ...(chart.stacked && !curve.right && !curve.published ? {stack: 'all', areaStyle: {color: curve.style.colour, opacity: 0.75}} : {}),
        lineStyle: {color: curve.style.colour, width: curve.published || curve.right ? 1.5 : 2, type: curve.style.dash},
        ...marker(curve.style, theme),
        symbolSize: sparse(curve.points.length, curves.indexOf(curve), curves.length),
        showAllSymbol: true,
        emphasis: {disabled: true},
        z: curve.published ? 1 : 3,
        clip: true,
      })), ...seen.filter((curve) => curve.band.length > 0).map((curve) => bandOf(curve, stepped))],
    }),
    height: kHeight + along.deep,
    marks: seen.length,
    zoom: ordered ? [{axis: 'x', ...(along.ticks ? {ticks: along.ticks} : {})}] : [],
    keys: drawn.length > 1 ? drawn.map((curve) => ({name: curve.name, mark: 'line', ...curve.style})) : [],
    left_out: [
      zeroWords(chart.zeros, seen.flatMap((curve) => (atZero.has(curve.name) ? [{name: curve.name, share: shareOf(atZero.get(curve.name) ?? NaN, curve.column)}] : [])), drawn.length),
      lost === 0 ? '' : `${plain(lost)} ${lost === 1 ? 'point' : 'points'} at 0 cannot be drawn on a logarithmic axis; see the table.`,
    ].filter((part) => part !== '').join(' '),
  };
}

const kHeight = 330;

/** A share without decimals that say nothing. */
const shareOf = (value: number, column: Column) => (column.unit === 'fraction' ? percent(value) : show(value, column));

/** "Jobs that did not wait (67 % under fifo, 97 % under las) are at the left edge: ..." */
function zeroWords(zeros: string, curves: {name: string; share: string}[], of: number): string {
  if (curves.length === 0) return '';
  const shares = curves.slice(0, 4).map(({name, share}) => (of > 1 ? `${share} under ${name}` : share));
  return `${zeros} (${shares.join(', ')}${curves.length > 4 ? ', …' : ''}) are at the left edge: a logarithmic axis has no 0.`;
}

/** A shape between the ends of a curve's intervals, behind the curves. */
function bandOf(curve: Curve, stepped: boolean) {
  const {band} = curve;
  return {
    type: 'custom',
    name: curve.name,
    data: [[0]],
    silent: true,
    tooltip: {show: false},
    clip: true,
    z: 1,
    ...kAtOnce,
    renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
      const edge = (end: 'from' | 'to') => band.flatMap((stretch, n) => {
        const at = api.coord([stretch.x, stretch[end]]) as [number, number];
        const next = band[n + 1];
        return stepped && next ? [at, [(api.coord([next.x, next[end]]) as [number, number])[0], at[1]]] : [at];
      });
      const area = params.coordSys as unknown as {x: number; y: number; width: number; height: number};
      const points = graphic.clipPointsByRect([...edge('from'), ...edge('to').reverse()] as [number, number][], area);
      return {type: 'polygon' as const, shape: {points}, style: {fill: curve.style.colour, opacity: 0.18}};
    },
  };
}

/** All points get a mark when there are few; else about eight of them, not where other lines have theirs. */
function sparse(points: number, n: number, lines: number) {
  if (points === 1) return 8;
  if (points <= 24) return 6;
  const every = Math.ceil(points / 8);
  const first = Math.floor((every * (n + 0.5)) / Math.max(1, lines));
  return (_: unknown, {dataIndex}: {dataIndex: number}) => (dataIndex % every === first ? 7 : 0);
}

/** The tops of stacked values. */
function sums(parts: [string, number][][]): number[] {
  const total = new Map<string, number>();
  for (const part of parts) for (const [x, y] of part) total.set(x, (total.get(x) ?? 0) + y);
  return [...total.values()];
}

/** What a curve says at a place, between its points too: curves seldom share their points. */
function readOff(curve: Curve, place: number | string, ordered: boolean, stepped: boolean): TipLine {
  const there = curve.band.find((stretch) => stretch.x === (ordered ? Number(place) : place));
  const span = there ? ` (${show(there.low, curve.column)} to ${show(there.high, curve.column)})` : '';
  const line = (y: number | null) => ({style: curve.style, name: curve.name, value: `${show(y, curve.column)}${span}`});
  if (!ordered) return line(curve.points.find((point) => point.x === place)?.y ?? null);
  const at = Number(place);
  let low = -1;
  let high = curve.points.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (Number(curve.points[middle]?.x) <= at) low = middle; else high = middle;
  }
  const before = curve.points[low];
  const after = curve.points[low + 1];
  if (!before) return line(null);
  if (!after || stepped || before.y === null || after.y === null) return line(after || Number(before.x) === at || stepped ? before.y : null);
  const share = (at - Number(before.x)) / (Number(after.x) - Number(before.x));
  return line(before.y + share * (after.y - before.y));
}
