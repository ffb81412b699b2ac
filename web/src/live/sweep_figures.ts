// SPDX-License-Identifier: Apache-2.0
// The trials of a sweep as figures: what they reported, and how far they came.
import {chartOf, type Column, type Figure} from '../document';
import type {Sweep, Trial} from './service';

/** More lines are hard to tell apart. */
const kLines = 8;

/** "running", "done", "stopped" by its policy, ... */
export function trialState({job}: Trial): string {
  switch (job.state) {
    case 'PENDING': return job.attempts > 0 ? 'paused' : 'pending';
    case 'RUNNING': return 'running';
    case 'COMPLETED': return 'done';
    case 'CANCELLED': return job.reason?.endsWith('by the policy') ? 'stopped' : 'cancelled';
    case 'TIMEOUT': return 'timed out';
    default: return 'failed';
  }
}

/** The names of the parameters, as they come up. */
export function parameterNames(sweep: Sweep): string[] {
  const names = new Set<string>();
  for (const {job} of sweep.trials) for (const each of job.parameters ?? []) names.add(each.slice(0, each.indexOf('=')));
  return [...names];
}

export function parameterOf({job}: Trial, name: string): string {
  return job.parameters?.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}

export function gpuHours({job}: Trial, now: number): number {
  const ran = job.attained_s + (job.state === 'RUNNING' ? Math.max(0, now - job.since_s) : 0);
  return job.gpus * job.gpu_share * ran / 3600;
}

const number = (name: string, label: string, unit: Column['unit'] = ''): Column => ({name, label, unit, type: 'number'});
const text = (name: string, label: string): Column => ({name, label, unit: '', type: 'text'});

export function sweepFigures(sweep: Sweep): Figure[] {
  const reported = sweep.trials.filter((trial) => trial.reports.length > 0);
  if (reported.length === 0) return [];
  const best = reported.slice(0, kLines);
  const rows = best.flatMap((trial) => trial.reports.map(([step, metric]) => ({trial: trial.job.name, step, metric})));
  const last = reported.map((trial) => {
    const [step, metric] = trial.reports[trial.reports.length - 1] as [number, number];
    return {trial: trial.job.name, state: trialState(trial), step, metric};
  });
  const steps = [...new Set(last.map(({step}) => step))].filter((step) => step > 0).sort((a, b) => a - b);
  const reach = steps.map((step) => ({step, trials: last.filter((trial) => trial.step >= step).length}));
  const better = sweep.smaller_is_better ? 'Smaller is better.' : 'Larger is better.';
  return [
    {
      id: 'sweep_metric', title: 'Metric by step', source: '', n: best.length,
      caption: `${better}${best.length < reported.length ? ` The best ${best.length} of ${reported.length} trials with reports.` : ''}`,
      columns: [text('trial', 'Trial'), number('step', 'Step'), number('metric', 'Metric')],
      data: {trial: rows.map((row) => row.trial), step: rows.map((row) => row.step), metric: rows.map((row) => row.metric)},
      charts: [chartOf({kind: 'line', x: 'step', y: ['metric'], by: 'trial', x_scale: 'log'})],
    },
    {
      id: 'sweep_rungs', title: 'Progress of the trials', source: '', n: last.length,
      caption: 'One point for each trial, at its last report. Trials that the policy stopped are at its rungs.',
      columns: [text('trial', 'Trial'), text('state', 'State'), number('step', 'Step'), number('metric', 'Metric')],
      data: {trial: last.map((row) => row.trial), state: last.map((row) => row.state), step: last.map((row) => row.step), metric: last.map((row) => row.metric)},
      charts: [chartOf({kind: 'points', x: 'step', y: ['metric'], by: 'state', labels: 'trial', x_scale: 'log'})],
    },
    {
      id: 'sweep_reach', title: 'Trials by last step', source: '', n: last.length,
      caption: 'Number of trials that reached at least this step.',
      columns: [number('step', 'Step'), number('trials', 'Trials', 'jobs')],
      data: {step: reach.map((row) => row.step), trials: reach.map((row) => row.trials)},
      charts: [chartOf({kind: 'bar', x: 'step', y: ['trials']})],
    },
  ];
}
