// SPDX-License-Identifier: Apache-2.0
// Box plots of five given numbers a box, and a mean; many or long names turn the chart on its side.
import type {Column} from '../document';
import {show} from '../format';
import {categoryAxis, common, kGrid, named, nameOf, numberAxis, upTitle} from './axis';
import {isWide} from './bar';
import {frame, tip, type Drawing, type Input, type Nothing} from './drawing';

const kParts = ['low', 'q1', 'median', 'q3', 'high'] as const;

export function drawBox(input: Input): Drawing | Nothing {
  const {chart, rows, theme, width} = input;
  const column = rows.column(chart.x);
  const middle = rows.column(chart.box.median);
  if (!column || !middle) return {nothing: 'There are no columns to draw.'};

  const boxes = rows.at
    .map((row) => ({
      row,
      name: nameOf(rows.value(chart.x, row), column),
      five: kParts.map((part) => rows.number(chart.box[part], row)),
      mean: rows.number(chart.box.mean, row),
    }))
    .filter((box): box is typeof box & {five: number[]} => box.five.every((value) => value !== null));
  if (boxes.length === 0) return {nothing: 'No row has all five numbers of a box.'};

  // One name may have several boxes when rows differ in what `by` says.
  const by = rows.column(chart.by);
  for (const box of boxes) if (by) box.name = `${box.name}, ${rows.text(chart.by, box.row)}`;
  const names = boxes.map((box) => box.name);
  const sideways = isWide(names, width) || names.length > 24;
  const height = sideways ? Math.min(1600, 70 + names.length * 24) : 330;
  const values = boxes.flatMap((box) => [...box.five, ...(box.mean === null ? [] : [box.mean])]);
  const axis = numberAxis({
    column: common(kParts.map((part) => rows.column(chart.box[part])).filter((part): part is Column => part !== undefined)), values, scale: chart.y_scale, theme, upright: !sideways, pixels: sideways ? width - 150 : height - 60,
    fit: chart.y_scale === 'linear' ? 'zero' : 'margin',
  });
  const name = categoryAxis(column, names, theme, sideways, sideways ? width : width - 70);
  // A whisker down to 0 ends at the edge of a logarithmic axis.
  const place = (value: number) => (axis.place(value) as number | null) ?? axis.low;
  const colour = theme.colours[0] as string;
  const mean = boxes.map((box) => (box.mean === null ? null : place(box.mean)));
  return {
    option: frame(input, {
      trigger: 'item',
      formatter: ({dataIndex}: {dataIndex: number}) => {
        const box = boxes[dataIndex];
        if (!box) return '';
        const heads = ['Lower whisker', 'Lower quartile', 'Median', 'Upper quartile', 'Upper whisker'];
        const lines = heads.map((head, n) => ({name: head, value: show(box.five[n] ?? null, columnOf(middle))})).reverse();
        if (box.mean !== null) lines.push({name: 'Mean', value: show(box.mean, columnOf(middle))});
        return tip(box.name, lines);
      },
    }, {
      title: sideways ? [] : [upTitle(axis.title, theme, 'left')],
      grid: sideways ? {...kGrid, top: 6} : kGrid,
      xAxis: sideways ? {...named(axis), axisLine: {show: false}, splitLine: {...(axis.option['splitLine'] as object), show: true}} : named(name),
      yAxis: sideways ? {...name.option, inverse: true} : axis.option,
      series: [
        {
          type: 'boxplot',
          name: middle.label,
          data: boxes.map((box) => box.five.map(place)),
          boxWidth: [7, 26],
          itemStyle: {color: theme.name === 'light' ? '#dfe8f1' : '#24405c', borderColor: colour, borderWidth: 1.4},
          emphasis: {disabled: true},
        },
        {
          type: 'scatter',
          name: 'Mean',
          data: mean.map((value, n) => (value === null ? null : sideways ? [value, n] : [n, value])).filter((point) => point !== null),
          symbol: 'diamond',
          symbolSize: 8,
          itemStyle: {color: theme.colours[1]},
          silent: true,
          z: 5,
        },
      ],
    }),
    height: height + name.deep,
    marks: boxes.length * 6,
    zoom: [],
    keys: [],
    left_out: mean.some((value) => value !== null) ? 'Boxes span the quartiles, the line is the median, the diamond the mean.' : 'Boxes span the quartiles, the line is the median.',
  };
}

/** The labels of the parts say what they are; only the unit matters. */
function columnOf(column: Column): Column {
  return {...column, type: 'number'};
}
