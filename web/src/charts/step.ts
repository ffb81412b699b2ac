// SPDX-License-Identifier: Apache-2.0
// Steps: a value holds until the next point.
import type {Drawing, Input, Nothing} from './drawing';
import {drawLine} from './line';

export function drawStep(input: Input): Drawing | Nothing {
  return drawLine(input, true);
}
