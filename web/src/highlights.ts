// SPDX-License-Identifier: Apache-2.0
// Which policies of a run are drawn first where there are many: what the others are compared with, the best of all, and the best that a cluster can run.
import type {Document} from './document';

/** The figure that has a row for each policy; its columns policy, caution ("" = a choice) and avg_jct_s. */
export const kCompared = 'run_comparison';

export function highlights(content: Document): string[] {
  const figure = content.sections.flatMap((section) => section.figures).find((each) => each.id === kCompared);
  const [policies, cautions, jcts] = ['policy', 'caution', 'avg_jct_s'].map((name) => figure?.data[name] ?? []);
  if (!policies || !cautions || !jcts) return [];
  const best = (fits: (row: number) => boolean): number | undefined => policies
    .map((_, row) => row)
    .filter((row) => typeof jcts[row] === 'number' && fits(row))
    .sort((a, b) => Number(jcts[a]) - Number(jcts[b]))[0];
  const told = (row: number) => String(cautions[row] ?? '');
  const rows = [0, best((row) => told(row) === ''), best((row) => !told(row).includes('interrupted') && !told(row).includes('recorded'))];
  return [...new Set(rows.filter((row): row is number => row !== undefined).map((row) => String(policies[row] ?? '')))].filter((name) => name !== '');
}
