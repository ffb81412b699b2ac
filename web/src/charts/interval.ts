// SPDX-License-Identifier: Apache-2.0
// Intervals: a number of each row with the range that it may have, against what would be no change.
import type {CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams} from 'echarts';
import {show} from '../format';
import {style} from '../theme';
import {categoryAxis, kGrid, named, nameOf, numberAxis} from './axis';
import {frame, kAtOnce, tip, type Drawing, type Input, type Nothing} from './drawing';

export function drawInterval(input: Input): Drawing | Nothing {
  const {chart, rows, theme, width} = input;
  const column = rows.column(chart.x);
  const middle = rows.column(chart.y[0] ?? '');
  if (!column || !middle) return {nothing: 'There are no columns to draw.'};

  const spans = rows.at.map((row) => ({
    name: nameOf(rows.value(chart.x, row), column),
    value: rows.number(middle.name, row),
    low: rows.number(chart.band.low, row),
    high: rows.number(chart.band.high, row),
  })).filter((span): span is typeof span & {value: number} => span.value !== null);
  if (spans.length === 0) return {nothing: 'No row has a value.'};

  const none = chart.reference.flatMap((reference) => reference.y);
  const axis = numberAxis({
    column: middle, values: [...spans.flatMap((span) => [span.value, span.low, span.high]), ...none],
    scale: chart.x_scale, theme, upright: false, pixels: 2 * (width - 150), fit: 'margin',
  });
  const names = categoryAxis(column, spans.map((span) => span.name), theme, true, width);
  // What lies below a logarithmic axis ends at its edge.
  const place = (value: number) => (axis.place(value) as number | null) ?? axis.low;
  const own = style(theme, 0);
  return {
    option: frame(input, {
      trigger: 'item',
      formatter: ({dataIndex}: {dataIndex: number}) => {
        const span = spans[dataIndex];
        return span ? tip(span.name, [
          {style: own, name: middle.label, value: show(span.value, middle)},
          ...(span.low === null || span.high === null ? [] : [{name: 'Between', value: `${show(span.low, middle)} and ${show(span.high, middle)}`}]),
        ]) : '';
      },
    }, {
      grid: {...kGrid, top: 20, right: 24},
      xAxis: {...named(axis), splitLine: {...(axis.option['splitLine'] as object), show: true}},
      yAxis: {...names.option, inverse: true},
      series: [
        ...chart.reference.map((reference) => ({
          type: 'custom', name: reference.name, data: reference.y.filter((at) => at !== null).map((at) => [place(at)]), silent: true, tooltip: {show: false}, z: 1, ...kAtOnce,
          renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
            const area = params.coordSys as unknown as {y: number; height: number};
            const x = (api.coord([api.value(0), spans[0]?.name ?? '']) as [number, number])[0];
            return {type: 'group' as const, children: [
              {type: 'line' as const, shape: {x1: x, x2: x, y1: area.y, y2: area.y + area.height}, style: {stroke: theme.grey, lineWidth: 1.5, lineDash: [4, 3]}},
              {type: 'text' as const, style: {text: reference.name, x, y: area.y - 4, align: 'center' as const, verticalAlign: 'bottom' as const, fill: theme.soft, fontSize: 11.5}},
            ]};
          },
        })),
        {
          type: 'custom',
          name: middle.label,
          data: spans.map((span) => [place(span.value), span.name]),
          encode: {x: 0, y: 1},
          z: 3,
          ...kAtOnce,
          renderItem: ({dataIndex}: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => {
            const span = spans[dataIndex];
            if (!span) return undefined;
            const at = (value: number) => api.coord([place(value), span.name]) as [number, number];
            const [x, y] = at(span.value);
            const ends = span.low === null || span.high === null ? [] : [at(span.low)[0], at(span.high)[0]] as const;
            return {type: 'group' as const, children: [
              ...(ends.length === 0 ? [] : [{type: 'rect' as const, shape: {x: ends[0], y: y - 5, width: Math.max(1, ends[1] - ends[0]), height: 10}, style: {fill: own.colour, opacity: 0.25}}]),
              {type: 'circle' as const, shape: {cx: x, cy: y, r: 4.5}, style: {fill: own.colour}},
            ]};
          },
        },
      ],
    }),
    height: 70 + spans.length * 26,
    marks: spans.length * 2,
    zoom: [],
    keys: [],
    left_out: chart.band.low === '' ? '' : 'The dot is what was measured, the bar how far chance may move it.',
  };
}
