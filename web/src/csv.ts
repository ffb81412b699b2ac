// SPDX-License-Identifier: Apache-2.0
// The rows of a figure as CSV (RFC 4180): names and units of the document, nothing rounded.
import type {Figure, Value} from './document';

export function csv(figure: Figure, order: number[]): string {
  const line = (cells: Value[]) => cells.map(quoted).join(',');
  const lines = [line(figure.columns.map((column) => column.name))];
  for (const row of order) lines.push(line(figure.columns.map((column) => figure.data[column.name]?.[row] ?? null)));
  return `${lines.join('\r\n')}\r\n`;
}

function quoted(value: Value): string {
  if (value === null) return '';
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
