// SPDX-License-Identifier: Apache-2.0
// Gantt charts: which job held what, from when to when.
import type {CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams} from 'echarts';
import {graphic} from 'echarts/core';
import {duration, show} from '../format';
import {style} from '../theme';
import {axisAlong, categoryAxis, kGrid, named, nameOf} from './axis';
import {frame, kAtOnce, tip, type Drawing, type Input, type Nothing} from './drawing';
import {allRows} from './rows';

export function drawGantt(input: Input): Drawing | Nothing {
  const {chart, rows, theme, width} = input;
  const from = rows.column(chart.x);
  const to = rows.column(chart.end);
  const lane = rows.column(chart.y[0] ?? '');
  if (!from || !to || !lane) return {nothing: 'There are no columns to draw.'};

  const spans = rows.at.map((row) => ({
    row,
    begin: rows.number(from.name, row),
    end: rows.number(to.name, row),
    lane: nameOf(rows.value(lane.name, row), lane),
    group: rows.column(chart.by) ? rows.text(chart.by, row) || '(none)' : '',
  })).filter((span): span is typeof span & {begin: number; end: number} => span.begin !== null && span.end !== null);
  if (spans.length === 0) return {nothing: 'No rows were left to draw.'};

  const lanes = [...new Set(spans.map((span) => span.lane))];
  // The whole figure's groups: what the reader chooses changes no colour.
  const every = rows.column(chart.by) ? allRows(rows.figure).distinct(chart.by).map((name) => name || '(none)') : [''];
  const here = new Set(spans.map((span) => span.group));
  const groups = every.map((name, n) => ({name, style: style(theme, n)})).filter((group) => here.has(group.name));
  const along = axisAlong({...input, chart: {...chart, x_scale: 'linear'}}, from, spans.flatMap((span) => [span.begin, span.end]));
  const up = categoryAxis(lane, lanes, theme, true, width);
  const {interval: _every, ...labels} = up.option['axisLabel'] as Record<string, unknown>;
  const seen = groups.filter((group) => !input.hidden.has(group.name))
    .map((group) => ({...group, spans: spans.filter((span) => span.group === group.name)}));
  const label = rows.column(chart.labels);
  return {
    option: frame(input, {
      trigger: 'item',
      formatter: ({seriesIndex, dataIndex}: {seriesIndex: number; dataIndex: number}) => {
        const group = seen[seriesIndex];
        const span = group?.spans[dataIndex];
        if (!group || !span) return '';
        const by = rows.column(chart.by);
        return tip(label ? rows.text(label.name, span.row) || span.lane : span.lane, [
          ...(by ? [{style: group.style, name: by.label, value: group.name}] : []),
          {name: lane.label, value: span.lane},
          {name: from.label, value: show(span.begin, from)},
          {name: to.label, value: show(span.end, to)},
          {name: 'Length', value: duration(span.end - span.begin)},
        ]);
      },
    }, {
      grid: {...kGrid, top: 6},
      xAxis: {...named(along), splitLine: {...(along.option['splitLine'] as object), show: true}},
      yAxis: {...up.option, inverse: true, axisLabel: lanes.length <= 45 ? up.option['axisLabel'] : labels},
      series: seen.map((group) => ({
        type: 'custom',
        name: group.name,
        data: group.spans.map((span) => [along.place(span.begin), along.place(span.end), span.lane]),
        encode: {x: [0, 1], y: 2},
        itemStyle: {color: group.style.colour},
        clip: true,
        ...kAtOnce,
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => bar(params, api, group.style.colour, theme.paper),
      })),
    }),
    height: Math.min(1100, 64 + lanes.length * Math.max(7, Math.min(22, 800 / lanes.length))),
    marks: spans.length,
    zoom: [{axis: 'x', ...(along.ticks ? {ticks: along.ticks} : {})}, ...(lanes.length > 30 ? [{axis: 'y' as const}] : [])],
    keys: every.length > 1 ? groups.map((group) => ({name: group.name, mark: 'area', ...group.style})) : [],
    left_out: '',
  };
}

/** One span, at least a pixel wide, cut at the edges of the chart. */
function bar(params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI, fill: string, paper: string) {
  const begin = api.coord([api.value(0), api.value(2)]) as [number, number];
  const end = api.coord([api.value(1), api.value(2)]) as [number, number];
  const size = api.size?.([0, 1]) as [number, number];
  const thick = Math.max(3, size[1] * 0.74);
  const area = params.coordSys as unknown as {x: number; y: number; width: number; height: number};
  const shape = graphic.clipRectByRect(
    {x: begin[0], y: begin[1] - thick / 2, width: Math.max(1, end[0] - begin[0]), height: thick}, area);
  return shape && {type: 'rect' as const, shape, style: {fill, stroke: paper, lineWidth: shape.width > 4 ? 0.75 : 0}};
}
