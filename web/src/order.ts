// SPDX-License-Identifier: Apache-2.0
// Which rows of a table are shown, and in which order.
import {allRows} from './charts/rows';
import type {Figure, Value} from './document';

export interface Order {
  column: string;
  down: boolean;
}

/** Row numbers by a column's values. Missing values come last either way; equal ones keep their order. */
export function order(figure: Figure, by: Order | undefined): number[] {
  const rows = allRows(figure).at;
  if (!by) return rows;
  const values = figure.data[by.column] ?? [];
  const missing = (value: Value | undefined) => value === null || value === undefined || value === '';
  const sign = by.down ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [values[a], values[b]];
    if (missing(left) || missing(right)) return Number(missing(left)) - Number(missing(right)) || a - b;
    const less = typeof left === 'number' && typeof right === 'number'
      ? left - right : kNames.compare(String(left), String(right));
    return sign * less || a - b;
  });
}

/** Those of `rows` whose texts hold every word, in whatever letters. */
export function matching(figure: Figure, rows: number[], text: string): number[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return rows;
  const texts = figure.columns.filter((column) => column.type === 'text').map((column) => figure.data[column.name] ?? []);
  return rows.filter((row) => {
    const whole = texts.map((values) => String(values[row] ?? '')).join(' ').toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** "vc9" before "vc10". */
const kNames = new Intl.Collator('en', {numeric: true});
