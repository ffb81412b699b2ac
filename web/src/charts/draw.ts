// SPDX-License-Identifier: Apache-2.0
// The kinds of charts by name.
import type {Kind} from '../document';
import {drawBar} from './bar';
import {drawBox} from './box';
import type {Drawing, Input, Nothing} from './drawing';
import {drawGantt} from './gantt';
import {drawHeatmap} from './heatmap';
import {drawInterval} from './interval';
import {drawLine} from './line';
import {drawPoints} from './points';
import {drawStep} from './step';

const kKinds: Record<Kind, (input: Input) => Drawing | Nothing> = {
  line: (input) => drawLine(input),
  step: drawStep,
  bar: drawBar,
  points: drawPoints,
  interval: drawInterval,
  box: drawBox,
  heatmap: drawHeatmap,
  gantt: drawGantt,
};

export function draw(input: Input): Drawing | Nothing {
  const kind = kKinds[input.chart.kind];
  if (!kind) return {nothing: `This page cannot draw a chart of kind "${input.chart.kind}".`};
  if (input.rows.at.length === 0) return {nothing: 'No rows were left to draw.'};
  return kind(input);
}
