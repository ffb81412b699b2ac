// SPDX-License-Identifier: Apache-2.0
// Lines, and steps: cumulative distributions, series over time.
import type {Column, Scale} from '../document';
import {show} from '../format';
import {marker, style, type Style} from '../theme';
import {axisAlong, common, kGrid, named, numberAxis, upTitle, type Axis} from './axis';
import {frame, tip, type Drawing, type Input, type Nothing, type TipLine} from './drawing';
import {split} from './rows';

interface Curve {
  name: string;
  style: Style;
  right: boolean;
  published: boolean;
  column: Column;
  points: {x: number | string; at: number | null; y: number | null}[];  // at: place on the y axis
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
  const stackedTop = chart.stacked ? sums(left.map((series) => series.rows.at.map((row) => [rows.text(chart.x, row), rows.number(series.column.name, row) ?? 0]))) : [];
  const up = yAxis(left.length > 0 ? left : all, [...valuesOf(left), ...stackedTop, ...chart.reference.flatMap((reference) => reference.y)], chart.y_scale);
  const upRight = right[0] ? yAxis(right, valuesOf(right), 'linear') : undefined;

  let unseen = 0;
  const place = (x: number | string | null, value: number | null, axis: Axis) => {
    const at = axis.place(value);
    const shown = along.place(x);
    if (shown === null || (at === null && value !== null)) ++unseen;
    return shown === null ? null : {x: shown, at: at as number | null, y: value};
  };
  const curves: Curve[] = all.map((series, n) => ({
    name: series.name,
    style: series.right ? {...style(theme, n), dash: [4, 3]} : style(theme, n),
    right: series.right,
    published: false,
    column: series.column,
    points: series.rows.at
      .map((row) => place(rows.value(chart.x, row), rows.number(series.column.name, row), series.right && upRight ? upRight : up))
      .filter((point): point is NonNullable<typeof point> => point !== null),
  }));
  chart.reference.forEach((reference, n) => curves.push({
    name: reference.name,
    style: {colour: theme.grey, dash: [[3, 3], [8, 3], [1.5, 3]][n % 3] as number[], symbol: 'none'},
    right: false,
    published: true,
    column: left[0]?.column ?? first.column,
    points: reference.x
      .map((x, at) => place(x, reference.y[at] ?? null, up))
      .filter((point): point is NonNullable<typeof point> => point !== null),
  }));
  const ordered = along.option['type'] !== 'category';
  if (ordered) for (const curve of curves) curve.points.sort((a, b) => Number(a.x) - Number(b.x));

  const drawn = curves.filter((curve) => curve.points.some((point) => point.at !== null));
  if (!drawn.some((curve) => !curve.published)) {
    return {nothing: rows.at.length === 0 ? 'No rows were left to draw.' : 'None of the values can be shown on these axes; the table has them.'};
  }
  const seen = drawn.filter((curve) => !input.hidden.has(curve.name));
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
      series: seen.map((curve) => ({
        type: 'line',
        name: curve.name,
        data: curve.points.map((point) => [point.x, point.at]),
        yAxisIndex: curve.right ? 1 : 0,
        step: stepped && !curve.published ? 'end' : false,
        ...(chart.stacked && !curve.right && !curve.published ? {stack: 'all', areaStyle: {color: curve.style.colour, opacity: 0.75}} : {}),
        lineStyle: {color: curve.style.colour, width: curve.published || curve.right ? 1.5 : 2, type: chart.stacked && !curve.right && !curve.published ? 'solid' : curve.style.dash},
        ...marker(curve.style, theme),
        symbolSize: sparse(curve.points.length, curves.indexOf(curve), curves.length),
        showSymbol: !chart.stacked,
        showAllSymbol: true,
        emphasis: {disabled: true},
        z: curve.published ? 1 : 3,
        clip: true,
      })),
    }),
    height: kHeight + along.deep,
    marks: seen.length,
    zoom: ordered ? [{axis: 'x', ...(along.ticks ? {ticks: along.ticks} : {})}] : [],
    keys: drawn.length > 1 ? drawn.map((curve) => ({name: curve.name, mark: chart.stacked ? 'area' : 'line', ...curve.style})) : [],
    left_out: unseen === 0 ? '' : `${unseen} ${unseen === 1 ? 'point' : 'points'} at 0 cannot stand on a logarithmic axis; the table has them.`,
  };
}

const kHeight = 330;

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
  const line = (y: number | null) => ({style: curve.style, name: curve.name, value: show(y, curve.column)});
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
