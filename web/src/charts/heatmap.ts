// SPDX-License-Identifier: Apache-2.0
// Heat maps: a number for each pair of a row and a place along.
import type {CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams} from 'echarts';
import type {Unit} from '../document';
import {show, tick} from '../format';
import {ticks} from '../ticks';
import {categoryAxis, kGrid, named, nameOf} from './axis';
import {frame, kAtOnce, tip, type Drawing, type Input, type Nothing} from './drawing';

export function drawHeatmap(input: Input): Drawing | Nothing {
  const {chart, rows, theme, width} = input;
  const along = rows.column(chart.x);
  const up = rows.column(chart.y[0] ?? '');
  const value = rows.column(chart.value);
  if (!along || !up || !value) return {nothing: 'There are no columns to draw.'};

  const order = along.type === 'text' ? rows.at : [...rows.at].sort((a, b) => (rows.number(chart.x, a) ?? 0) - (rows.number(chart.x, b) ?? 0));
  const xs = [...new Set(order.map((row) => nameOf(rows.value(chart.x, row), along)))];
  const ys = [...new Set(rows.at.map((row) => nameOf(rows.value(up.name, row), up)))];
  const cells = rows.at.map((row) => ({
    row, x: nameOf(rows.value(chart.x, row), along), y: nameOf(rows.value(up.name, row), up), value: rows.number(value.name, row),
  })).filter((cell): cell is typeof cell & {value: number} => cell.value !== null);
  if (cells.length === 0) return {nothing: 'No rows were left to draw.'};

  const values = cells.map((cell) => cell.value);
  const share = value.unit === 'fraction' || value.unit === 'percent';
  const low = Math.min(0, values.reduce((a, b) => Math.min(a, b), Infinity));
  let high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (share && high <= 1 && high > 0.6 && value.unit === 'fraction') high = 1;
  if (high <= low) high = low + 1;
  const height = Math.min(900, 92 + ys.length * Math.max(6, Math.min(24, 640 / ys.length)));
  const places = along.type === 'text' ? [] : [...new Set(order.map((row) => rows.number(chart.x, row)))];
  const x = categoryAxis(along, xs, theme, false, width);
  const y = categoryAxis(up, ys, theme, true, width);
  const {interval: _every, ...labels} = y.option['axisLabel'] as Record<string, unknown>;
  return {
    option: frame(input, {
      trigger: 'item',
      formatter: ({dataIndex}: {dataIndex: number}) => {
        const cell = cells[dataIndex];
        return cell ? tip(`${cell.y}, ${cell.x}`, [{name: value.label, value: show(cell.value, value)}]) : '';
      },
    }, {
      grid: {...kGrid, top: 40},
      xAxis: {...named(x), axisLine: {show: false}, axisLabel: {...(x.option['axisLabel'] as object), ...labelled(places, along.type === 'time' ? 's' : along.unit, width)}},
      // All names where they fit, else some.
      yAxis: {...y.option, inverse: true, axisLine: {show: false}, axisLabel: ys.length <= 45 ? y.option['axisLabel'] : labels},
      title: [upTitleOf(value.label, theme.soft)],
      visualMap: {
        type: 'continuous', min: low, max: high, calculable: false, orient: 'horizontal', right: 8, top: -4, itemHeight: Math.min(180, width / 3), itemWidth: 10,
        inRange: {color: theme.ramp}, text: [tick(high, value.unit), tick(low, value.unit)], textStyle: {color: theme.soft, fontSize: 12},
        seriesIndex: 0, dimension: 2, padding: 5, hoverLink: false,
      },
      series: [{
        // ECharts' own heat map paints in portions whatever it is told, and paper does not wait.
        type: 'custom',
        name: value.label,
        data: cells.map((cell) => [cell.x, cell.y, cell.value]),
        encode: {x: 0, y: 1},
        clip: true,
        ...kAtOnce,
        renderItem: (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) => cellAt(api, xs.length <= 60 ? 1 : 0),
      }],
    }),
    height,
    marks: cells.length,
    zoom: xs.length > 30 ? [{axis: 'x'}] : [],
    keys: [],
    left_out: '',
  };
}

/** A cell, on whole pixels so that neighbours neither overlap nor leave a gap. */
function cellAt(api: CustomSeriesRenderItemAPI, gap: number) {
  const [x, y] = api.coord([api.value(0), api.value(1)]) as [number, number];
  const [width, height] = api.size?.([1, 1]) as [number, number];
  const left = Math.round(x - width / 2);
  const top = Math.round(y - height / 2);
  const shape = {
    x: left, y: top, width: Math.max(1, Math.round(x + width / 2) - left - gap), height: Math.max(1, Math.round(y + height / 2) - top - gap),
  };
  return {type: 'rect' as const, shape, style: {fill: api.visual('color') as string}};
}

/** Which columns have a label: round numbers, where there are some; else every so many. */
function labelled(places: (number | null)[], unit: Unit, width: number): {interval?: (n: number) => boolean} {
  const first = places[0] ?? 0;
  const last = places[places.length - 1] ?? 0;
  const round = new Set(ticks(first, last, Math.max(2, Math.floor((width - 120) / 100)), unit, 'linear'));
  const at = places.map((place) => place !== null && round.has(place));
  return at.filter(Boolean).length >= 2 ? {interval: (n) => at[n] ?? false} : {};
}

function upTitleOf(text: string, colour: string) {
  return {text, left: 0, top: 4, padding: 0, textStyle: {color: colour, fontSize: 12, fontWeight: 'normal'}};
}
