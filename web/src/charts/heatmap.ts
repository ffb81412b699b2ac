// SPDX-License-Identifier: Apache-2.0
// Heat maps: a number for each pair of a row and a place along.
import type {CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams} from 'echarts';
import type {Column} from '../document';
import {dateTick, isDate, show, tick} from '../format';
import {dateTicks, ticks} from '../ticks';
import {categoryAxis, isLong, kGrid, longest, named, nameOf, within} from './axis';
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
  const plot = width - 30 - Math.min(190, longest(ys) * 7);
  const x = categoryAxis(along, xs, theme, false, plot);
  const round = roundOnes(places, along, plot);
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
      xAxis: {...named(x), axisLine: {show: false}, ...(round ? {name: round.title, nameGap: 28, axisLabel: {...(x.option['axisLabel'] as object), rotate: 0, hideOverlap: true, formatter: round.label, customValues: round.at(0, xs.length - 1)}} : {})},
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
    height: height + (round ? 0 : x.deep),
    marks: cells.length,
    zoom: xs.length > 30 ? [{axis: 'x', ...(round ? {ticks: round.at} : {})}] : [],
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

/** Round numbers and dates along: the columns that have them among those from `low` to `high`, and what is said there. */
interface Round {
  title: string;
  at(low: number, high: number): number[];
  label(name: string): string;
}

/** Undefined where the columns are names, or numbers of which hardly one is round. */
function roundOnes(places: (number | null)[], along: Column, pixels: number): Round | undefined {
  const numbers = places.filter((place): place is number => place !== null);
  const [first, last] = [numbers[0] ?? 0, numbers[numbers.length - 1] ?? 0];
  if (numbers.length < 2 || numbers.length !== places.length) return undefined;
  const dates = along.type === 'time' && isDate(first);
  const unit = along.type === 'time' ? 's' : along.unit;
  const words = new Map(numbers.map((number) => [nameOf(number, along), dates ? dateTick(number, isLong(first, last)) : tick(number, unit)]));
  const count = Math.max(2, Math.floor(pixels / (dates ? 70 : 90)));
  const at = (low: number, high: number) => {
    const [from, to] = [numbers[Math.max(0, Math.ceil(low))] ?? first, numbers[Math.floor(high)] ?? last];
    const wanted = new Set(dates ? dateTicks(from, to, count) : ticks(from, to, count, unit, 'linear'));
    // A label in the middle of its column must not leave the picture.
    const fits = (n: number) => ((Math.floor(high) - n + 0.5) / (high - low + 1)) * pixels > 12;
    return numbers.flatMap((number, n) => (wanted.has(number) && fits(n) ? [n] : []));
  };
  if (at(0, numbers.length - 1).length < 2) return undefined;
  return {title: dates ? `${along.label} (${within(first, last)}UTC)` : along.label, at, label: (name) => words.get(name) ?? name};
}

function upTitleOf(text: string, colour: string) {
  return {text, left: 0, top: 4, padding: 0, textStyle: {color: colour, fontSize: 12, fontWeight: 'normal'}};
}
