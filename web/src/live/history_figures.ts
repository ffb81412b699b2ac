// SPDX-License-Identifier: Apache-2.0
// Jobs that have ended, as figures.
import {chartOf, type Column, type Figure} from '../document';
import {moved} from './clock';
import type {Job} from './service';
import {kEnded, stateWord} from './words';

const kDay = 86400;
const kPoints = 120;

/** The value that a share `q` of `rising` is at or below. */
export function quantile(rising: number[], q: number): number {
  return rising[Math.max(0, Math.ceil(q * rising.length) - 1)] ?? NaN;
}

const column = (name: string, label: string, unit: Column['unit'], type: Column['type'] = 'number'): Column => ({name, label, unit, type});

/** How many jobs ended each day, by how. */
export function perDay(jobs: Job[]): Figure {
  const days = jobs.map((job) => Math.floor(moved(job.end_s ?? job.submit_s) / kDay));
  const first = days.reduce((least, day) => Math.min(least, day), Infinity);
  const last = days.reduce((most, day) => Math.max(most, day), -Infinity);
  const every = first <= last ? Array.from({length: last - first + 1}, (_, n) => first + n) : [];
  const found = kEnded.filter((state) => jobs.some((job) => job.state === state));
  const counts = new Map(found.map((state) => [state, every.map(() => 0)]));
  jobs.forEach((job, n) => {
    const own = counts.get(job.state);
    const at = (days[n] as number) - first;
    if (own) own[at] = (own[at] ?? 0) + 1;
  });
  const name = (day: number) => new Date(day * kDay * 1000).toLocaleString('en-GB', {day: 'numeric', month: 'short', timeZone: 'UTC'});
  return {
    id: 'ended', title: 'Ended jobs per day', caption: '', source: '', n: jobs.length,
    columns: [column('day', 'Day', '', 'text'), ...found.map((state) => column(state, stateWord(state), 'jobs'))],
    data: {day: every.map(name), ...Object.fromEntries(counts)},
    charts: [chartOf({kind: 'bar', x: 'day', y: found, stacked: true})],
  };
}

const kSizes: [string, (gpus: number) => boolean][] = [
  ['CPUs only', (gpus) => gpus === 0], ['up to 1 GPU', (gpus) => gpus === 1], ['2 to 4 GPUs', (gpus) => gpus > 1 && gpus <= 4], ['5 or more GPUs', (gpus) => gpus > 4],
];

/** Which share of the jobs of a size had started so long after they came. */
export function waits(jobs: Job[]): Figure {
  const data: Record<string, (number | string)[]> = {wait: [], share: [], size: []};
  for (const [size, is] of kSizes) {
    const rising = jobs.filter((job) => is(job.gpus) && job.start_s !== undefined)
      .map((job) => Math.max(1, (job.start_s as number) - job.submit_s)).sort((a, b) => a - b);
    if (rising.length === 0) continue;
    const points = Math.min(kPoints, rising.length);
    for (let n = 1; n <= points; ++n) {
      data['wait']?.push(quantile(rising, n / points));
      data['share']?.push(n / points);
      data['size']?.push(size);
    }
  }
  return {
    id: 'waits', title: 'Waits', caption: 'Waits below 1 s are drawn at 1 s.', source: '', n: jobs.length,
    columns: [column('wait', 'Wait', 's'), column('share', 'Share of jobs', 'fraction'), column('size', 'Size', '', 'text')],
    data,
    charts: [chartOf({kind: 'step', x: 'wait', y: ['share'], by: 'size', x_scale: 'log'})],
  };
}
