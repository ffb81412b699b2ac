// SPDX-License-Identifier: Apache-2.0
// Names and states of jobs in words.
import {duration, percent, plain} from '../format';
import {clock, stretch} from './clock';
import type {Job, State, WithGpus} from './service';

const kStates: Record<State, string> = {
  PENDING: 'pending', RUNNING: 'running', COMPLETED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled',
  TIMEOUT: 'timed out', NODE_FAIL: 'node failure',
};
export const kEnded: State[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL'];

export function stateWord(state: State): string {
  return kStates[state] ?? state.toLowerCase();
}

export function stateOf(job: Job): string {
  return job.state === 'PENDING' && job.held ? 'held' : stateWord(job.state);
}

export function isOver(job: Job): boolean {
  return job.state !== 'PENDING' && job.state !== 'RUNNING';
}

/** "4", "0.5" of one GPU, "2 × 1g.10gb" of instances, "–" of none. */
export function gpusOf(job: Job): string {
  if (job.gpus === 0) return '–';
  if (job.gpu_profile) return job.gpus === 1 ? job.gpu_profile : `${job.gpus} × ${job.gpu_profile}`;
  if (job.gpu_share < 1) return plain(job.gpu_share);
  return job.max_gpus && job.max_gpus > job.gpus ? `${job.gpus}–${job.max_gpus}` : String(job.gpus);
}

/** "box 0–3, 5", of what a job holds. */
export function placesOf(job: Job): string {
  return job.holds.map((hold) => (hold.gpus.length > 0 ? `${hold.node} ${ranges(hold.gpus)}` : hold.node)).join('; ');
}

/** "0–3, 5" of 0, 1, 2, 3 and 5. */
export function ranges(numbers: number[]): string {
  const parts: string[] = [];
  for (let n = 0; n < numbers.length; ++n) {
    const first = numbers[n] as number;
    let last = first;
    while (numbers[n + 1] === last + 1) last = numbers[++n] as number;
    parts.push(first === last ? String(first) : `${first}–${last}`);
  }
  return parts.join(', ');
}

/** "starts 14:20–15:05", "ends by 17:10" once that interval has begun, "starts any time now" once it is over; "" without a forecast. */
export function expectation(job: Job, now: number): string {
  const {expected} = job;
  if (job.state === 'PENDING') {
    if (job.not_before_s !== undefined && job.not_before_s > now && !expected) return `not before ${clock(job.not_before_s, now)}`;
    return yetToCome('starts', expected?.start_from_s, expected?.start_to_s, now);
  }
  return job.state === 'RUNNING' ? yetToCome('ends', expected?.end_from_s, expected?.end_to_s, now) : '';
}

function yetToCome(what: string, from: number | undefined, to: number | undefined, now: number): string {
  if (from === undefined && to === undefined) return '';
  if (to !== undefined && to <= now) return `${what} any time now`;
  return `${what} ${stretch(to !== undefined && from !== undefined && from <= now ? undefined : from, to, now)}`;
}

/** "With 2 GPUs the job ends by 13:40 (90 % interval) and meets its deadline in 80 % of the forecasts." */
export function withGpus(other: WithGpus, now: number): string {
  const kept = other.deadline_probability === undefined ? '' : ` and meets its deadline in ${percent(other.deadline_probability)} of the forecasts`;
  const end = other.end_by_s === undefined ? 'the end of the job is unknown' : `the job ends by ${clock(other.end_by_s, now)} (90 %)`;
  return `With ${other.gpus} GPU${other.gpus === 1 ? '' : 's'}, ${end}${kept}.`;
}

/** How long a job has been pending or running, or how long it ran. */
export function spent(job: Job, now: number): string {
  if (job.state === 'PENDING') return duration(Math.max(0, now - job.since_s));
  if (job.state === 'RUNNING') return duration(Math.max(0, now - job.since_s) + job.attained_s);
  return job.start_s === undefined ? '–' : duration(job.attained_s);
}

/** Why a job ended, beyond its state: "exit status 1", "signal 9", "cancelled by ann". */
export function ending(job: Job): string {
  if (job.reason) return job.reason;
  return job.signal ? `signal ${job.signal}` : job.exit_status ? `exit status ${job.exit_status}` : '';
}

/** "9,994 bytes of output lost"; "" if the log lacks none. */
export function lostOutput(job: Job): string {
  return job.lost_output_bytes === undefined ? '' : `${plain(job.lost_output_bytes)} bytes of output lost`;
}

/** "21.4 GB", "4.5 MB". */
export function memory(gb: number): string {
  return gb < 1 ? `${plain(gb * 1000, 2)}\u00a0MB` : `${plain(gb)}\u00a0GB`;
}

/** Which of `colours` each user has: mostly the same whichever other users are there, and no two the same while there are enough. */
export function coloursOf(users: Iterable<string>, colours: number): Map<string, number> {
  const given = new Map<string, number>();
  for (const user of [...new Set(users)].sort()) {
    let at = 0;
    for (const letter of user) at = (at * 31 + (letter.codePointAt(0) as number)) >>> 0;
    at %= colours;
    const taken = new Set(given.values());
    while (taken.has(at) && taken.size < colours) at = (at + 1) % colours;
    given.set(user, at);
  }
  return given;
}
