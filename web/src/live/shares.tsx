// SPDX-License-Identifier: Apache-2.0
// Which users hold the GPUs, as one bar: a part a user, what is free at its end.
import {plain} from '../format';
import {style, type Theme} from '../theme';
import type {Job} from './service';
import {coloursOf} from './words';

export function Shares({jobs, gpus, busy, theme}: {jobs: Job[]; gpus: number; busy: number; theme: Theme}) {
  const held = new Map<string, {gpus: number; jobs: number}>();
  for (const job of jobs) {
    const own = job.holds.reduce((sum, hold) => sum + hold.gpus.length * hold.gpu_share, 0);
    const before = held.get(job.user) ?? {gpus: 0, jobs: 0};
    held.set(job.user, {gpus: before.gpus + own, jobs: before.jobs + 1});
  }
  const users = [...held].filter(([, own]) => own.gpus > 0).sort(([, a], [, b]) => b.gpus - a.gpus);
  if (gpus === 0 || users.length === 0) return null;
  const free = Math.max(0, gpus - busy);
  const given = coloursOf(jobs.map((job) => job.user), theme.colours.length);
  const colour = (user: string) => style(theme, given.get(user) ?? 0).colour;
  let at = 0;
  return (
    <div class="shares">
      <svg viewBox={`0 0 ${gpus} 1`} preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width={gpus} height="1" />
        {users.map(([user, own]) => {
          const from = at;
          at += own.gpus;
          return <rect key={user} x={from} width={own.gpus} height="1" fill={colour(user)} stroke={theme.paper} stroke-width="2" vector-effect="non-scaling-stroke" />;
        })}
      </svg>
      <ul aria-label="GPUs by user">
        {users.map(([user, own]) => (
          <li key={user}>
            <svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" fill={colour(user)} /></svg>
            <a href={`#/queue?user=${encodeURIComponent(user)}`}>{user}</a> {plain(own.gpus)} <span class="hint">in {own.jobs} {own.jobs === 1 ? 'job' : 'jobs'}</span>
          </li>
        ))}
        {free > 0 && <li><svg width="10" height="10" aria-hidden="true"><rect class="track" width="10" height="10" /></svg>free {plain(free)}</li>}
      </ul>
    </div>
  );
}
