// SPDX-License-Identifier: Apache-2.0
// The order of the rows of a table.
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

/** Those of `rows` of which some text has each word of `find`, and before them the pinned one. */
export function arranged(figure: Figure, rows: number[], find: string, pinned: number | undefined): number[] {
  const words = find.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const texts = figure.columns.filter((column) => column.type === 'text').map((column) => figure.data[column.name] ?? []);
  const found = rows.filter((row) => {
    const all = texts.map((values) => String(values[row] ?? '').toLowerCase()).join(' ');
    return row !== pinned && words.every((word) => all.includes(word));
  });
  return pinned === undefined ? found : [pinned, ...found];
}

/** "vc9" before "vc10". */
const kNames = new Intl.Collator('en', {numeric: true});
