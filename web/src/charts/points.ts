// SPDX-License-Identifier: Apache-2.0
// Points: two numbers of each row against each other.
import {show} from '../format';
import {marker} from '../theme';
import {axisAlong, kGrid, named, numberAxis, upTitle} from './axis';
import {frame, kAtOnce, styleOf, tip, type Drawing, type Input, type Nothing} from './drawing';
import {split} from './rows';

export function drawPoints(input: Input): Drawing | Nothing {
  const {chart, rows, theme} = input;
  const column = rows.column(chart.x);
  const all = split(chart, rows);
  const [first] = all;
  if (!column || !first) return {nothing: 'There are no columns to draw.'};

  const along = axisAlong(input, column, rows.at.map((row) => rows.value(chart.x, row)), 'margin');
  const ys = all.flatMap((series) => series.rows.at.map((row) => rows.number(series.column.name, row)));
  const up = numberAxis({
    column: first.column,
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
  const size = count > 3000 ? 3.5 : count > 300 ? 5 : 8;
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
          data: cloud.points.map((point) => point.at),
          symbolSize: size,
          ...kAtOnce,
          symbol: marker(cloud.style, theme).symbol,
          itemStyle: {...marker(cloud.style, theme).itemStyle, opacity: count > 3000 ? 0.35 : count > 300 ? 0.55 : 0.85},
          emphasis: {scale: false},
          // A dozen points have room for their names.
          label: {
            show: chart.labels !== '' && count <= 12, position: 'right', color: theme.soft, fontSize: 11.5,
            formatter: ({dataIndex}: {dataIndex: number}) => rows.text(chart.labels, cloud.points[dataIndex]?.row ?? -1),
          },
          labelLayout: {hideOverlap: true, moveOverlap: 'shiftY'},
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
    keys: clouds.length > 1 ? clouds.map((cloud) => ({name: cloud.name, mark: 'line', ...cloud.style, dash: [0, 40]})) : [],
    left_out: unseen === 0 ? '' : `${unseen} ${unseen === 1 ? 'point' : 'points'} at 0 cannot stand on a logarithmic axis; the table has them.`,
  };
}

const kHeight = 360;
