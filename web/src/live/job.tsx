// SPDX-License-Identifier: Apache-2.0
// One job: its request, state, forecasts, events and log.
import type {ComponentChildren} from 'preact';
import {duration, percent, plain} from '../format';
import {Actions, type Action} from './action';
import {words} from './ask';
import {ago, clock, exact} from './clock';
import {LogView} from './job_log';
import {Course} from './job_course';
import {SpeedView} from './job_pace';
import {useAnswer, useTicks} from './poll';
import {sweepLink} from './route';
import type {Expected, Job, Note, Told} from './service';
import type {ViewProps} from './shell';
import {ending, expectation, gpusOf, isOver, lostOutput, memory, placesOf, spent, stateOf, withGpus} from './words';

export function JobView({overview, now, route}: ViewProps) {
  const path = `/v1/jobs/${encodeURIComponent(route.part)}`;
  const measured = useTicks(5);
  const {value: job, error} = useAnswer<Job>(path, `${overview.revision} ${measured}`);
  const version = `${overview.revision} ${job?.state ?? ''}`;
  const {value: events} = useAnswer<{events: Note[]; forecasts: Told[]}>(job ? `${path}/events` : '', version);
  const {value: explained} = useAnswer<{lines: string[]}>(job && !isOver(job) ? `${path}/explain` : '', version);
  const {value: forecast} = useAnswer<Expected>(job?.state === 'PENDING' && !job.held ? `${path}/forecast` : '', `${version} ${measured}`);
  if (!job) {
    return (
      <>
        <h1>Job {route.part}</h1>
        <p class="nothing">{error === undefined ? 'Loading…' : `${capital(words(error))}.`}</p>
      </>
    );
  }
  const told = events?.forecasts ?? [];
  return (
    <>
      <header class="job-head">
        <h1><span class="number">{job.job_id}</span> {job.name || '(no name)'}</h1>
        <p class="state-line">
          <span class={`state ${stateOf(job).replace(' ', '-')}`}>{stateOf(job)}</span>
          <span>{sentence(job, now)}</span>
        </p>
        <Actions key={job.state + String(job.held)} actions={actionsOf(job)} />
      </header>
      {explained && job.state === 'PENDING' && (
        <section class="why" aria-labelledby="why-title">
          <h2 id="why-title">Reason</h2>
          {explained.lines.map((line, n) => <p key={n}>{capital(line)}.</p>)}
        </section>
      )}
      {forecast?.with_other_gpus && (
        <section class="why" aria-labelledby="other-title">
          <h2 id="other-title">With other GPUs</h2>
          {forecast.with_other_gpus.map((other) => <p key={other.gpus}>{withGpus(other, now)}</p>)}
        </section>
      )}
      <Course job={job} told={told} now={now} />
      <SpeedView job={job} />
      <div class="halves">
        <section aria-labelledby="asked-title">
          <h2 id="asked-title">Request</h2>
          <dl class="pairs">{asked(job, now).map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>
        </section>
        <section aria-labelledby="events-title">
          <h2 id="events-title">Events</h2>
          <ol class="events">
            {happened(job, events?.events ?? []).map((note, n) => (
              <li key={n}><time title={exact(note.at_s)}>{clock(note.at_s, now, true)}</time><span><b>{note.what}</b> {note.detail}</span></li>
            ))}
          </ol>
        </section>
      </div>
      {overview.manager ? (
        <section aria-labelledby="log-title">
          <h2 id="log-title">Log</h2>
          <p class="nothing">{overview.manager === 'slurm'
            ? <>Slurm writes the log. To find its path, run <code>scontrol show job {job.job_id}</code>.</>
            : <>The pods write the log. To see it, run <code>kubectl logs</code>.</>}</p>
        </section>
      ) : <LogView job={job} />}
    </>
  );
}

/** The times of a job stand in for events that another manager does not report. */
function happened(job: Job, notes: Note[]): Note[] {
  if (notes.length > 0) return notes;
  return [
    {at_s: job.submit_s, what: 'submitted'},
    ...(job.start_s === undefined ? [] : [{at_s: job.start_s, what: 'started', detail: placesOf(job)}]),
    ...(job.end_s === undefined ? [] : [{at_s: job.end_s, what: 'ended', detail: job.state}]),
  ];
}

function capital(text: string): string {
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(/\.$/, '');
}

function training(job: Job): string | undefined {
  if (job.step === undefined) return undefined;
  const steps = `step ${plain(job.step)}${job.steps ? ` of ${plain(job.steps)}` : ''}`;
  return job.metric === undefined ? steps : `${steps}, metric ${job.metric} at step ${plain(job.metric_step ?? 0)}`;
}

function sentence(job: Job, now: number): string {
  const expected = expectation(job, now);
  if (job.state === 'PENDING') {
    return [`for ${spent(job, now)}`, job.place ? `place ${plain(job.place)} in the queue` : '', expected && `${expected} (90 %)`].filter((part) => part !== '').join(' · ');
  }
  if (job.state === 'RUNNING') {
    return [`for ${spent(job, now)}`, placesOf(job) && `on ${placesOf(job)}`, expected && `${expected} (90 %)`,
      job.gpu_use === undefined ? '' : `GPU utilization ${percent(job.gpu_use)}`, job.cpu_use === undefined ? '' : `${plain(Math.round(job.cpu_use * 100) / 100)} busy CPUs`,
      job.memory_used_gb === undefined ? '' : memory(job.memory_used_gb), lostOutput(job)].filter((part) => part !== '').join(' · ');
  }
  return [job.end_s === undefined ? '' : ago(job.end_s, now), ending(job), lostOutput(job), job.start_s === undefined ? 'never ran' : `ran ${spent(job, now)} in total`].filter((part) => part !== '').join(' · ');
}

function actionsOf(job: Job): Action[] {
  const act = (label: string, verb: string, sure?: string): Action =>
    ({label, method: 'POST', path: `/v1/jobs/${encodeURIComponent(job.job_id)}/${verb}`, ...(sure ? {sure} : {})});
  const requeue = act('Requeue', 'requeue', job.state === 'RUNNING' ? 'Stop this run and start again?' : 'Run this job again?');
  if (job.state === 'PENDING') return [act('Cancel job', 'cancel', 'Cancel this job?'), job.held ? act('Release', 'release') : act('Hold', 'hold')];
  return job.state === 'RUNNING' ? [act('Cancel job', 'cancel', 'Cancel this job and lose unsaved work?'), requeue] : [requeue];
}

function listed(jobs: number[] | undefined): string | undefined {
  return jobs && jobs.length > 0 ? jobs.join(', ') : undefined;
}

function asked(job: Job, now: number): [string, ComponentChildren][] {
  const all: [string, ComponentChildren][] = [
    ['Trial of', job.group ? <a href={sweepLink(job.group)}>{job.group}</a> : undefined],
    ['User', `${job.user}${job.vc ? `, ${job.vc}` : ''}`],
    ['GPUs', job.gpus === 0 ? 'none' : `${gpusOf(job)}${job.gpu_type ? ` × ${job.gpu_type}` : ''}${job.gpu_share < 1 ? ' of one' : ''}`],
    ['CPUs', job.cpus === undefined ? undefined : plain(job.cpus)],
    ['Memory', job.memory_gb === undefined ? undefined : memory(job.memory_gb)],
    ['Disks', job.io_mbs === undefined ? undefined : `${plain(job.io_mbs)} MB/s read and write`],
    ['Limits enforced by', job.limits_by],
    ['Time limit', job.time_limit_s === undefined ? 'none' : duration(job.time_limit_s)],
    ['Predicted', job.predicted_run_time_s === undefined ? undefined : `${duration(job.predicted_run_time_s)} run time, by the policy`],
    ['QOS', job.qos],
    ['Account', job.account],
    ['Partition', job.partition],
    ['Deadline', job.deadline_s === undefined ? undefined : `${clock(job.deadline_s, now)}${promise(job, now)}`],
    ['Not before', job.not_before_s === undefined ? undefined : clock(job.not_before_s, now)],
    ['After', listed(job.after)],
    ['After success of', listed(job.after_ok)],
    ['After failure of', listed(job.after_not_ok)],
    ['Array', job.array ? `task ${job.array.index} of ${job.array.number}${job.array.at_once ? `, ${job.array.at_once} at once` : ''}` : undefined],
    ['Model', job.model],
    ['Parameters', job.parameters?.join('  ')],
    ['Training', training(job)],
    ['Attempts', job.attempts > 1 || job.preemptions > 0 ? `${job.attempts}, ${job.preemptions} preempted` : undefined],
    ['Energy', drawn(job)],
    ['Command', job.argv && job.argv.length > 0 ? job.argv.join(' ') : undefined],
    ['Directory', job.directory],
    ['Output', job.out],
  ];
  return all.filter(([, value]) => value !== undefined && value !== '');
}

function drawn(job: Job): string | undefined {
  const all = job.energy_measured_j + job.energy_modelled_j;
  if (all <= 0) return undefined;
  const amount = all < 3.6e6 ? `${plain(Math.round(all / 36) / 100)} Wh` : `${plain(Math.round(all / 3.6e4) / 100)} kWh`;
  const share = job.energy_measured_j / all;
  return `${amount}, ${share === 1 ? 'measured' : share === 0 ? 'modeled' : `${percent(share)} measured, the rest modeled`}`;
}

function promise(job: Job, now: number): string {
  if (job.deadline_s === undefined) return '';
  if (job.end_s !== undefined) return job.end_s <= job.deadline_s ? `, met with ${duration(job.deadline_s - job.end_s)} to spare` : `, missed by ${duration(job.end_s - job.deadline_s)}`;
  const kept = job.expected?.deadline_probability;
  return kept === undefined ? (now > job.deadline_s ? ', passed' : '') : `, met in ${percent(kept)} of the forecasts`;
}
