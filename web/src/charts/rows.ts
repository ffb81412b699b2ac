// SPDX-License-Identifier: Apache-2.0
// The rows of a figure that a chart draws, and how they fall into series.
import type {Chart, Column, Figure, Value} from '../document';

/** Some rows of a figure's columns. */
export class Rows {
  constructor(readonly figure: Figure, readonly at: number[]) {}

  column(name: string): Column | undefined {
    return name === '' ? undefined : this.figure.columns.find((column) => column.name === name);
  }

  value(name: string, row: number): Value {
    const value = this.figure.data[name]?.[row];
    return value === undefined || (typeof value === 'number' && !Number.isFinite(value)) ? null : value;
  }

  number(name: string, row: number): number | null {
    const value = this.value(name, row);
    return typeof value === 'number' ? value : null;
  }

  text(name: string, row: number): string {
    const value = this.value(name, row);
    return value === null ? '' : String(value);
  }

  /** Distinct values in order of appearance. */
  distinct(name: string): string[] {
    return [...new Set(this.at.map((row) => this.text(name, row)))];
  }

  where(name: string, text: string): Rows {
    return new Rows(this.figure, this.at.filter((row) => this.text(name, row) === text));
  }
}

export function allRows(figure: Figure): Rows {
  const length = Math.max(0, ...figure.columns.map((column) => figure.data[column.name]?.length ?? 0));
  return new Rows(figure, Array.from({length}, (_, row) => row));
}

/** One line, or the bars of one colour. */
export interface Series {
  name: string;
  /** The value of `by`, else the label of the column: what is compared. */
  of: string;
  column: Column;
  rows: Rows;
  right: boolean;
}

/**
 * Each y (and each column of the right axis) times each value of `by` in the whole figure, so that
 * what the reader chooses changes no colour. Those that the chosen rows lack have no rows.
 */
export function split(chart: Chart, rows: Rows): Series[] {
  const groups = rows.column(chart.by) ? allRows(rows.figure).distinct(chart.by) : [''];
  const columns = [...chart.y.map((name) => ({name, right: false})), ...chart.right.map((name) => ({name, right: true}))];
  const known = columns.filter(({name}) => rows.column(name));
  const series: Series[] = [];
  for (const group of groups) {
    const part = rows.column(chart.by) ? rows.where(chart.by, group) : rows;
    for (const {name, right} of known) {
      const column = rows.column(name) as Column;
      const label = !rows.column(chart.by) ? column.label : known.length > 1 ? `${group || '(none)'}, ${column.label}` : group || '(none)';
      series.push({name: label, of: rows.column(chart.by) ? group : column.label, column, rows: part, right});
    }
  }
  return series;
}
