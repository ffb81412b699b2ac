// SPDX-License-Identifier: Apache-2.0
// Gantt charts: which job held what, from when to when.
import type {CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams} from 'echarts';
import {graphic} from 'echarts/core';
import {duration, show} from '../format';
import {filled, style, type Style, type Theme} from '../theme';
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
  // Words stand in the bars: lines go across only where a colour comes again.
  const look = (n: number) => ({...style(theme, n), ...(n < theme.colours.length ? {hatch: 0} : {})});
  const groups = every.map((name, n) => ({name, style: look(n)})).filter((group) => here.has(group.name));
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
      xAxis: {...named({...along, title: along.title.replace(from.label, 'Time')}), splitLine: {...(along.option['splitLine'] as object), show: true}},
      yAxis: {...up.option, inverse: true, axisLabel: lanes.length <= 45 ? up.option['axisLabel'] : labels},
      series: seen.map((group) => ({
        type: 'custom',
        name: group.name,
        data: group.spans.map((span) => [along.place(span.begin), along.place(span.end), span.lane]),
        encode: {x: [0, 1], y: 2},
        itemStyle: {color: group.style.colour},
        clip: true,
        ...kAtOnce,
        renderItem: (params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) =>
          bar(params, api, {group, theme, words: label ? briefly(rows.text(label.name, group.spans[params.dataIndex]?.row ?? -1)) : ''}),
      })),
    }),
    height: 64 + lanes.length * laneHeight(lanes.length),
    marks: spans.length,
    zoom: [{axis: 'x', ...(along.ticks ? {ticks: along.ticks} : {})}, ...(lanes.length > 30 ? [{axis: 'y' as const}] : [])],
    keys: every.length > 1 ? groups.map((group) => ({name: group.name, mark: 'area', ...group.style})) : [],
    left_out: '',
  };
}

/** Words fit into bars of up to so many lanes; with more the chart would be longer than any screen. */
const kWordLanes = 100;

function laneHeight(lanes: number): number {
  return lanes > kWordLanes ? Math.max(5, 1600 / lanes) : Math.max(16, Math.min(22, 800 / lanes));
}

/** "job 4711" of "job 4711 of ann, 8 GPUs, waited 2h". */
function briefly(text: string): string {
  return text.replace(/(?: of |,).*$/s, '').replace(/^job /, '');
}

/** Black or white, whichever stands out more against a colour. */
function inkOn(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000000' : '#ffffff';
}

interface Look {
  group: {style: Style};
  theme: Theme;
  words: string;
}

/** One span, at least a pixel wide, cut at the edges of the chart, with its name where there is room. */
function bar(params: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI, {group, theme, words}: Look) {
  const begin = api.coord([api.value(0), api.value(2)]) as [number, number];
  const end = api.coord([api.value(1), api.value(2)]) as [number, number];
  const size = api.size?.([0, 1]) as [number, number];
  const thick = Math.max(3, size[1] * 0.8);
  const area = params.coordSys as unknown as {x: number; y: number; width: number; height: number};
  const shape = graphic.clipRectByRect(
    {x: begin[0], y: begin[1] - thick / 2, width: Math.max(1, end[0] - begin[0]), height: thick}, area);
  if (!shape) return undefined;
  const {color, decal} = filled(group.style, theme);
  const fits = thick >= 11 && shape.width >= Math.min(words.length, 4) * 6 + 6 && words !== '';
  return {
    type: 'group' as const,
    children: [
      {type: 'rect' as const, shape, style: {fill: color as string, decal, stroke: theme.paper, lineWidth: shape.width > 4 ? 0.75 : 0}},
      ...(fits ? [{type: 'text' as const, silent: true, style: {
        text: words, x: shape.x + 3, y: shape.y + shape.height / 2, verticalAlign: 'middle' as const, fill: inkOn(group.style.colour),
        fontSize: Math.min(11, thick - 2), width: shape.width - 6, overflow: 'truncate' as const, ellipsis: '…',
      }}] : []),
    ],
  };
}
