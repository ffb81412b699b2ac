// SPDX-License-Identifier: Apache-2.0
// The trials of a sweep as figures: what they reported, and how far they came.
import {chartOf, type Column, type Figure} from '../document';
import type {Sweep, Trial} from './service';

/** More lines than that nobody tells apart. */
const kLines = 8;

/** "runs", "done", "stopped" by its policy, ... */
export function trialState({job}: Trial): string {
  switch (job.state) {
    case 'PENDING': return job.attempts > 0 ? 'rests' : 'waits';
    case 'RUNNING': return 'runs';
    case 'COMPLETED': return 'done';
    case 'CANCELLED': return job.reason?.endsWith('by the policy') ? 'stopped' : 'cancelled';
    case 'TIMEOUT': return 'out of time';
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
  const better = sweep.smaller_is_better ? 'The smaller the better.' : 'The larger the better.';
  return [
    {
      id: 'sweep_metric', title: 'Metric by step', source: '', n: best.length,
      caption: `${better}${best.length < reported.length ? ` Of the best ${best.length} of ${reported.length} trials that have reported.` : ''}`,
      columns: [text('trial', 'Trial'), number('step', 'Step'), number('metric', 'Metric')],
      data: {trial: rows.map((row) => row.trial), step: rows.map((row) => row.step), metric: rows.map((row) => row.metric)},
      charts: [chartOf({kind: 'line', x: 'step', y: ['metric'], by: 'trial', x_scale: 'log'})],
    },
    {
      id: 'sweep_rungs', title: 'How far trials came', source: '', n: last.length,
      caption: 'A point for each trial, at its last report: where a policy compares them, those that it stops stand above its rungs.',
      columns: [text('trial', 'Trial'), text('state', 'State'), number('step', 'Step'), number('metric', 'Metric')],
      data: {trial: last.map((row) => row.trial), state: last.map((row) => row.state), step: last.map((row) => row.step), metric: last.map((row) => row.metric)},
      charts: [chartOf({kind: 'points', x: 'step', y: ['metric'], by: 'state', labels: 'trial', x_scale: 'log'})],
    },
    {
      id: 'sweep_reach', title: 'Trials that came as far', source: '', n: last.length,
      caption: 'Of the trials that have reported, at each step at which some ended or stand now.',
      columns: [number('step', 'Step'), number('trials', 'Trials', 'jobs')],
      data: {step: reach.map((row) => row.step), trials: reach.map((row) => row.trials)},
      charts: [chartOf({kind: 'bar', x: 'step', y: ['trials']})],
    },
  ];
}
