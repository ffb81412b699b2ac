// SPDX-License-Identifier: Apache-2.0
// The parts of the dashboard that need no browser.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {ago, clock, moved, stretch, zone} from '../../web/src/live/clock';
import {perDay, quantile, waits} from '../../web/src/live/history_figures';
import {settled} from '../../web/src/live/log_text';
import {pieces} from '../../web/src/live/pieces';
import type {Gpu, Job, Moment, Sweep, Trial} from '../../web/src/live/service';
import {gpuHours, parameterNames, parameterOf, sweepFigures, trialState} from '../../web/src/live/sweep_figures';
import {binned, energy, figuresOf, powerSource} from '../../web/src/live/use_figures';
import {coloursOf, ending, expectation, gpusOf, memory, placesOf, ranges, spent, stateOf, withGpus} from '../../web/src/live/words';

process.env['TZ'] = 'Europe/Berlin';
const at = (text: string) => Date.parse(text) / 1000;
const said = (text: string) => text.replace(/\s/gu, ' ');

test('times are on the reader’s clock, with as much of a date as they need', () => {
  const now = at('2026-11-21T22:30:00Z');  // 23:30 in Berlin, a Saturday
  assert.equal(clock(now, now), '23:30');
  assert.equal(clock(now, now, true), '23:30:00');
  assert.equal(clock(at('2026-11-22T01:00:00Z'), now), '02:00', 'soon, though it is tomorrow');
  assert.equal(clock(at('2026-11-23T13:20:00Z'), now), 'Mon 14:20');
  assert.equal(clock(at('2026-12-03T13:20:00Z'), now), '3 Dec 14:20');
  assert.equal(clock(at('2025-12-03T13:20:00Z'), now), '3 Dec 2025 14:20');
  assert.equal(clock(undefined, now), '–');
  assert.equal(stretch(now, now + 2700, now), '23:30–00:15');
  assert.equal(stretch(at('2026-11-23T13:20:00Z'), at('2026-11-23T14:05:00Z'), now), 'Mon 14:20–15:05');
  assert.equal(stretch(at('2026-11-23T22:20:00Z'), at('2026-11-24T00:05:00Z'), now), 'Mon 23:20 – Tue 01:05');
  assert.equal(stretch(now, undefined, now), 'after 23:30');
  assert.equal(stretch(now, now + 20, now), '23:30');
  assert.equal(ago(now - 0.4, now), 'just now');
  assert.equal(ago(now - 7.2, now), '7s ago');
  assert.equal(said(ago(now - 90, now)), '1m 30s ago');
});

test('charts show the reader’s clock as if it were UTC, and name it, summer and winter', () => {
  assert.equal(moved(at('2026-11-21T22:30:00Z')), at('2026-11-21T23:30:00Z'));
  assert.equal(moved(at('2026-07-21T22:30:00Z')), at('2026-07-22T00:30:00Z'));
  assert.match(zone(), /^(CE(S)?T|GMT\+[12])$/);
});

const job = (rest: Partial<Job>): Job => ({
  job_id: '7', number: 7, state: 'PENDING', user: 'ada', uid: 1, name: 'x', gpus: 1, gpu_share: 1, submit_s: 0, held: false, since_s: 0, attained_s: 0,
  attempts: 0, preemptions: 0, energy_measured_j: 0, energy_modelled_j: 0, holds: [], ...rest,
});

test('a job is said in a few words', () => {
  assert.equal(ranges([0, 1, 2, 3, 5]), '0–3, 5');
  assert.equal(ranges([]), '');
  assert.equal(placesOf(job({holds: [{node: 'a', gpus: [0, 1], gpu_share: 2, cpus: 8, memory_gb: 1}, {node: 'b', gpus: [], gpu_share: 0, cpus: 8, memory_gb: 1}]})), 'a 0–1; b');
  assert.deepEqual([job({gpus: 0}), job({gpu_share: 0.5}), job({gpus: 2, max_gpus: 8}), job({gpus: 4})].map(gpusOf), ['–', '0.5', '2–8', '4']);
  assert.deepEqual([job({}), job({held: true}), job({state: 'TIMEOUT'}), job({state: 'NODE_FAIL'})].map(stateOf), ['pending', 'held', 'timed out', 'node failure']);
  assert.equal(ending(job({state: 'FAILED', exit_status: 137, reason: 'over its memory'})), 'over its memory');
  assert.deepEqual([ending(job({state: 'FAILED', exit_status: 1})), ending(job({state: 'FAILED', signal: 9}))], ['exit status 1', 'signal 9']);
  assert.deepEqual([21.4, 0.00447, 0.512].map(memory).map(said), ['21.4 GB', '4.5 MB', '512 MB']);
  assert.equal(ending(job({state: 'COMPLETED', exit_status: 0})), '');
  assert.equal(spent(job({state: 'RUNNING', since_s: 100, attained_s: 40}), 110), '50s', 'earlier runs count');
  assert.equal(spent(job({state: 'CANCELLED'}), 110), '–', 'it never ran');
  assert.equal(expectation(job({}), 0), '');
  const [from, to] = [at('2026-11-21T13:20:00Z'), at('2026-11-21T14:05:00Z')];
  const next = job({expected: {at_s: 0, start_from_s: from, start_to_s: to}});
  assert.equal(expectation(next, from - 60), 'starts 14:20–15:05');
  assert.equal(expectation(next, from + 60), 'starts by 15:05', 'what is past is not expected');
  assert.equal(expectation(next, to + 60), 'starts any time now');
  assert.equal(expectation(job({state: 'RUNNING', expected: {at_s: 0, start_from_s: 1, start_to_s: 2}}), 0), '', 'what runs has started');
  const now = at('2026-11-21T22:30:00Z');
  assert.equal(said(withGpus({gpus: 2, end_by_s: now, deadline_probability: 0.8}, now)), 'With 2 GPUs, the job ends by 23:30 (90 %) and meets its deadline in 80 % of the forecasts.');
  assert.equal(withGpus({gpus: 1}, now), 'With 1 GPU, the end of the job is unknown.');
});

test('each user has a colour of their own while there are enough', () => {
  const users = ['ada', 'grace', 'katherine', 'ren', 'tomas', 'wei', 'x', 'y'];
  assert.equal(new Set(coloursOf(users, 8).values()).size, 8);
  assert.deepEqual([...coloursOf([...users].reverse(), 8)], [...coloursOf(users, 8)]);
  assert.ok([...coloursOf([...users, 'z'], 8).values()].every((colour) => colour >= 0 && colour < 8));
});

test('GPUs of one job side by side are one piece, within a row, and broken ones stand alone', () => {
  const gpu = (number: number, jobs: number[], in_service = true): Gpu => ({number, name: '', in_service, jobs});
  const rows = pieces([gpu(0, [1]), gpu(1, [1]), gpu(2, []), gpu(3, []), gpu(4, [2]), gpu(5, [2, 3]), gpu(6, [3]), gpu(7, [3], false)], 4);
  assert.deepEqual(rows.map((row) => row.map((piece) => piece.gpus.map(({number}) => number))), [[[0, 1], [2], [3]], [[4], [5], [6], [7]]]);
  assert.deepEqual(pieces([gpu(0, [1]), gpu(1, [1]), gpu(2, [1])], 2).map((row) => row.length), [1, 1], 'a piece ends with its row');
});

test('a log reads as on a terminal', () => {
  assert.equal(settled('a\r\nb\n'), 'a\nb\n');
  assert.equal(settled('10%\r55%\r100%\nnext'), '100%\nnext');
  assert.equal(settled('10%\r55%\r'), '55%', 'a bar that waits is seen');
  assert.equal(settled('\u001b[1;32mgreen\u001b[0m \u001b]0;title\u0007\u001b[2Kx'), 'green x');
  assert.equal(settled('a\u0000b\tc'), 'a\ufffdb\tc');
});

test('quantiles, days and waits are those of the jobs', () => {
  assert.deepEqual([0, 0.5, 0.9, 1].map((q) => quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], q)), [1, 5, 9, 10]);
  const day = at('2026-11-20T12:00:00Z');
  const jobs = [
    job({state: 'COMPLETED', start_s: day - 50, submit_s: day - 60, end_s: day}), job({state: 'FAILED', start_s: day, submit_s: day, end_s: day + 2 * 86400}),
    job({state: 'COMPLETED', gpus: 8, start_s: day, submit_s: day - 3600, end_s: day + 2 * 86400}), job({state: 'CANCELLED', end_s: day}),
  ];
  const ended = perDay(jobs);
  assert.deepEqual(ended.data, {day: ['20 Nov', '21 Nov', '22 Nov'], COMPLETED: [1, 0, 1], FAILED: [0, 0, 1], CANCELLED: [1, 0, 0]});
  assert.deepEqual(waits(jobs).data, {wait: [1, 10, 3600], share: [0.5, 1, 1], size: ['up to 1 GPU', 'up to 1 GPU', '5 or more GPUs']});
  assert.deepEqual(perDay([]).data, {day: []});
});

test('watts say whether they were measured', () => {
  const moment = (at_s: number, power_is_measured?: boolean): Moment =>
    ({at_s, gpus: 4, gpus_busy: 1, jobs_running: 1, jobs_waiting: 0, power_w: 900, ...(power_is_measured === undefined ? {} : {power_is_measured})});
  assert.equal(powerSource([moment(0), moment(60)]), '');
  assert.equal(powerSource([moment(0, true), moment(60, true)]), ', measured');
  assert.equal(powerSource([moment(0, false), moment(60, false)]), ', modeled');
  assert.equal(powerSource([moment(0), moment(60, true)]), ', partly measured');
  assert.equal(figuresOf([moment(0, false), moment(60, false)]).at(-1)?.title, 'Power, modeled');
  assert.match(figuresOf([moment(0, false), moment(60, false)]).at(-1)?.caption ?? '', /default: a DGX-1/);
  assert.equal(figuresOf([moment(0, true), moment(60, true)]).at(-1)?.caption, '');
  const many = Array.from({length: 43200}, (_, n) => moment(n * 60, n > 300 ? true : false));
  const few = binned(many);
  assert.equal(few[0]?.power_is_measured, false);
  assert.equal(few.at(-1)?.power_is_measured, true);
  assert.equal(powerSource(few), ', partly measured');
});

test('energy is power by time, and a silence adds nothing', () => {
  const moment = (at_s: number, gpus_busy: number, power_w: number, gpu_use?: number): Moment =>
    ({at_s, gpus: 4, gpus_busy, jobs_running: 1, jobs_waiting: 0, power_w, ...(gpu_use === undefined ? {} : {gpu_use})});
  const sums = energy([moment(0, 4, 1000, 0.5), moment(600, 2, 500, 0.25), moment(1200, 0, 0, 0), moment(90000, 4, 1000, 1)]);
  assert.equal(sums.kwh, (1000 * 600 + 500 * 600) / 3.6e6);
  assert.equal(sums.gpu_hours, (4 * 600 + 2 * 600) / 3600);
  assert.equal(sums.held, 0.75);
  assert.equal(sums.used, 0.375);
  assert.equal(sums.idle, 0.375);
  assert.equal(sums.mean_w, 750);
  assert.ok(Number.isNaN(energy([]).held));
  const many = Array.from({length: 43200}, (_, n) => moment(n * 60, n % 5, 100 * (n % 3), 0.5));
  const few = binned(many);
  assert.ok(few.length <= 480 && few.every((each, n) => n === 0 || each.at_s > (few[n - 1] as Moment).at_s));
  assert.ok(Math.abs(few.reduce((sum, each) => sum + each.gpus_busy, 0) / few.length - 2) < 0.05);
  assert.deepEqual(figuresOf(few).map((figure) => figure.id), ['gpus', 'gpu_use', 'jobs', 'power']);
  assert.deepEqual(figuresOf([moment(0, 0, 0)]).map((figure) => figure.id), ['gpus', 'jobs'], 'what is not measured is not shown');
});

function trial(number: number, job: Partial<Job>, reports: [number, number][]): Trial {
  const whole = {number, name: `s-${number}`, gpus: 2, gpu_share: 1, attained_s: 0, attempts: 1, since_s: 0, state: 'COMPLETED', ...job};
  const last = reports[reports.length - 1];
  return {job: whole as Job, reports, ...(last ? {best: last[1], best_step: last[0]} : {})};
}

test('a sweep shows its best trials by step, and how far all of them came', () => {
  const stopped = {state: 'CANCELLED', reason: 'ended by the policy'} as const;
  const sweep: Sweep = {name: 's', smaller_is_better: true, trials: [
    ...Array.from({length: 9}, (_, n) => trial(n + 1, n < 2 ? {} : stopped, [[10, 1 + n], ...(n < 5 ? [[40, 0.5 + n] as [number, number]] : [])])),
    trial(10, {state: 'PENDING', attempts: 0}, []),
  ]};
  const [metric, rungs, reach] = sweepFigures(sweep);
  assert.equal(new Set(metric?.data['trial']).size, 8);
  assert.match(metric?.caption ?? '', /Smaller is better.*best 8 of 9/);
  assert.deepEqual(rungs?.data['state']?.slice(0, 3), ['done', 'done', 'stopped']);
  assert.equal(rungs?.data['trial']?.length, 9);
  assert.deepEqual(reach?.data, {step: [10, 40], trials: [9, 5]});
  assert.deepEqual(sweepFigures({...sweep, trials: sweep.trials.slice(9)}), []);
});

test('a trial has a state, parameters and GPU-hours', () => {
  assert.equal(trialState(trial(1, {state: 'PENDING', attempts: 1}, [])), 'paused');
  assert.equal(trialState(trial(1, {state: 'CANCELLED', reason: 'cancelled by ann'}, [])), 'cancelled');
  const one = trial(1, {state: 'RUNNING', attained_s: 1800, since_s: 1000, parameters: ['lr=0.1', 'kernel=a=b']}, []);
  assert.equal(gpuHours(one, 2800), 2);
  assert.equal(parameterOf(one, 'kernel'), 'a=b');
  assert.deepEqual(parameterNames({name: 's', smaller_is_better: false, trials: [one, trial(2, {parameters: ['x=1']}, [])]}), ['lr', 'kernel', 'x']);
});
