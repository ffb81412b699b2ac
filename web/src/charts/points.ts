// SPDX-License-Identifier: Apache-2.0
// Points: two numbers of each row against each other.
import {plain, show} from '../format';
import {marker} from '../theme';
import {axisAlong, common, kGrid, longest, named, numberAxis, upTitle, type Axis} from './axis';
import {frame, kAtOnce, styleOf, tip, type Drawing, type Input, type Nothing} from './drawing';
import {placeLabels, type Side} from './labels';
import {split} from './rows';

/** So many points may have names. */
const kNamed = 60;

export function drawPoints(input: Input): Drawing | Nothing {
  const {chart, rows, theme} = input;
  const column = rows.column(chart.x);
  const all = split(chart, rows);
  const [first] = all;
  if (!column || !first) return {nothing: 'There are no columns to draw.'};

  const along = axisAlong(input, column, rows.at.map((row) => rows.value(chart.x, row)), chart.x_scale === 'linear' ? 'zero' : 'margin');
  const ys = all.flatMap((series) => series.rows.at.map((row) => rows.number(series.column.name, row)));
  const up = numberAxis({
    column: common(all.map((series) => series.column)),
    values: [...ys, ...chart.reference.flatMap((reference) => reference.y)],
    scale: chart.y_scale, theme, upright: true, pixels: kHeight - 60, fit: chart.y_scale === 'linear' ? 'zero' : 'margin',
  });
  let unseen = 0;
  const clouds = all.map((series, n) => {
    const points: {at: [number | string, number]; row: number}[] = [];
    for (const row of series.rows.at) {
      const x = along.place(rows.value(chart.x, row));
      const y = up.place(rows.number(series.column.name, row)) as number | null;
      if (x !== null && y !== null) points.push({at: [x, y], row});
      else if (rows.number(series.column.name, row) !== null) ++unseen;
    }
    return {...series, points, style: styleOf(input, series.of, n)};
  }).filter((cloud) => cloud.points.length > 0);
  if (clouds.length === 0) {
    return {nothing: rows.at.length === 0 ? 'No rows were left to draw.' : 'None of the values can be shown on these axes; the table has them.'};
  }
  const seen = clouds.filter((cloud) => !input.hidden.has(cloud.name));
  const count = seen.reduce((sum, cloud) => sum + cloud.points.length, 0);
  // The more points, the smaller and fainter: where many lie, ink adds up.
  const size = count > 3000 ? 3.5 : count > 300 ? 5 : 9;
  const isHollow = (row: number) => chart.hollow !== '' && rows.text(chart.hollow, row) !== '';
  // A series of one point is there to be found: the baseline, the best.
  const names = chart.labels === '' || count > kNamed ? []
    : seen.flatMap((cloud) => cloud.points.map(({at, row}) => ({at, name: rows.text(chart.labels, row), must: cloud.points.length === 1})));
  const sides = sidesOf(names, along, up, input.width, size);
  const unnamed = sides.filter((side) => side === null).length;
  let next = 0;
  return {
    option: frame(input, {
      trigger: 'item',
      formatter: ({seriesIndex, dataIndex}: {seriesIndex: number; dataIndex: number}) => {
        const cloud = seen[seriesIndex];
        const point = cloud?.points[dataIndex];
        if (!cloud || !point) return '';
        const name = rows.column(chart.labels) ? rows.text(chart.labels, point.row) : '';
        return tip(name || cloud.name, [
          {name: column.label, value: along.show(rows.value(chart.x, point.row))},
          {style: cloud.style, name: cloud.column.label, value: show(rows.value(cloud.column.name, point.row), cloud.column)},
        ]);
      },
    }, {
      title: [upTitle(up.title, theme, 'left')],
      grid: kGrid,
      xAxis: named(along),
      yAxis: up.option,
      series: [
        ...seen.map((cloud) => ({
          type: 'scatter',
          name: cloud.name,
          data: cloud.points.map(({at, row}) => {
            const side = sides[next++] ?? null;
            // Thousands of points are drawn fast only as plain numbers.
            if (side === null && !isHollow(row)) return at;
            return {
              value: at,
              ...(isHollow(row) ? {itemStyle: {color: theme.paper, borderColor: cloud.style.colour, borderWidth: 1.5, opacity: 1}} : {}),
              ...(side === null ? {} : {label: {show: true, position: side, formatter: rows.text(chart.labels, row)}}),
            };
          }),
          symbolSize: size,
          ...kAtOnce,
          symbol: marker(cloud.style, theme).symbol,
          itemStyle: {...marker(cloud.style, theme).itemStyle, opacity: count > 3000 ? 0.35 : count > 300 ? 0.55 : 0.9},
          emphasis: {scale: false},
          label: {show: false, color: theme.ink, fontSize: 11.5, distance: 3},
        })),
        ...chart.reference.map((reference) => ({
          type: 'line',
          name: reference.name,
          data: reference.x.map((x, n) => [along.place(x), up.place(reference.y[n] ?? null)]).filter(([x, y]) => x !== null && y !== null),
          symbol: 'none',
          lineStyle: {color: theme.grey, width: 1.5, type: [3, 3]},
          silent: true,
          tooltip: {show: false},
        })),
      ],
    }),
    height: kHeight + along.deep,
    marks: count,
    zoom: [
      ...(along.option['type'] === 'category' ? [] : [{axis: 'x' as const, ...(along.ticks ? {ticks: along.ticks} : {})}]),
      {axis: 'y', ...(up.ticks ? {ticks: up.ticks} : {})},
    ],
    keys: clouds.length > 1 ? clouds.map((cloud) => ({
      name: cloud.name, mark: 'line', ...cloud.style, dash: [0, 40],
      ...(cloud.points.every(({row}) => isHollow(row)) ? {symbol: hollow(cloud.style.symbol)} : {}),
    })) : [],
    left_out: [
      unseen === 0 ? '' : `${plain(unseen)} ${unseen === 1 ? 'point' : 'points'} at 0 cannot be drawn on a logarithmic axis; see the table.`,
      unnamed === 0 ? '' : `${unnamed === 1 ? 'One point has' : `${unnamed} points have`} no room for a name: point at a mark to read it.`,
    ].filter((part) => part !== '').join(' '),
  };
}

const kHeight = 360;
/** What axes and titles take on each side, near enough for names. */
const kEdges = {right: 18, top: 32, bottom: 52};

function sidesOf(points: {at: [number | string, number]; name: string; must: boolean}[], along: Axis, up: Axis, width: number, size: number): (Side | null)[] {
  const label = up.option['axisLabel'] as {customValues: number[]; formatter: (place: number) => string};
  const left = 12 + 6.6 * longest(label.customValues.map(label.formatter));
  const area = {left, right: width - kEdges.right, top: kEdges.top, bottom: kHeight - kEdges.bottom};
  const part = (place: number, {low, high}: Axis) => (high > low ? (place - low) / (high - low) : 0.5);
  return placeLabels(points.map(({at: [x, y], name, must}) => ({
    x: area.left + part(Number(x), along) * (area.right - area.left),
    y: area.bottom - part(y, up) * (area.bottom - area.top),
    name,
    must,
    radius: size / 2,
  })), {left: 0, right: width, top: 16, bottom: area.bottom + 2});
}

function hollow(symbol: string): string {
  return symbol.startsWith('empty') ? symbol : `empty${symbol[0]?.toUpperCase()}${symbol.slice(1)}`;
}
