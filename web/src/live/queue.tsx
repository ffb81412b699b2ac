// SPDX-License-Identifier: Apache-2.0
// Pending jobs with their reasons and expected starts; running jobs with their expected ends.
import {useMemo} from 'preact/hooks';
import {duration, percent, plain} from '../format';
import {clock, exact} from './clock';
import {JobTable, sorted, sortedBy, type JobColumn} from './job_table';
import {useAnswer} from './poll';
import {refine} from './route';
import type {Job, Jobs} from './service';
import type {ViewProps} from './shell';
import {expectation, gpusOf, lostOutput, placesOf, spent, stateOf} from './words';

const kStates: {name: string; label: string; is(job: Job): boolean}[] = [
  {name: '', label: 'All', is: () => true},
  {name: 'waiting', label: 'Pending', is: (job) => job.state === 'PENDING' && !job.held},
  {name: 'running', label: 'Running', is: (job) => job.state === 'RUNNING'},
  {name: 'held', label: 'Held', is: (job) => job.state === 'PENDING' && job.held},
];

/** Running jobs, then pending jobs in the order of the policy, then held jobs. */
function inOrder(jobs: Job[]): Job[] {
  const group = (job: Job) => (job.state === 'RUNNING' ? 0 : job.held ? 2 : 1);
  return [...jobs].sort((a, b) => group(a) - group(b) || (a.place || 1e9) - (b.place || 1e9) || a.number - b.number);
}

function matches(job: Job, words: string[]): boolean {
  if (words.length === 0) return true;
  const text = `${job.job_id} ${job.name} ${job.user} ${job.vc ?? ''} ${job.model ?? ''} ${job.why ?? ''} ${job.why_word ?? ''} ${placesOf(job)}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export function QueueView({overview, now, route}: ViewProps) {
  const {value, error} = useAnswer<Jobs>('/v1/jobs', overview.revision);
  const state = kStates.find((each) => each.name === (route.query.get('state') ?? '')) ?? kStates[0] as (typeof kStates)[0];
  const user = route.query.get('user') ?? '';
  const text = route.query.get('find') ?? '';
  const why = route.query.get('why') ?? '';

  const all = useMemo(() => inOrder(value?.jobs ?? []), [value]);
  const users = useMemo(() => {
    const count = new Map<string, number>();
    for (const job of all) count.set(job.user, (count.get(job.user) ?? 0) + 1);
    return [...count].sort(([a], [b]) => a.localeCompare(b));
  }, [all]);
  const counts = useMemo(() => new Map(kStates.map((each) => [each.name, all.filter((job) => each.is(job)).length])), [all]);
  const reasons = useMemo(() => {
    const count = new Map<string, number>();
    for (const job of all) if (job.state === 'PENDING' && job.why_word) count.set(job.why_word, (count.get(job.why_word) ?? 0) + 1);
    return [...count].sort(([, a], [, b]) => b - a);
  }, [all]);
  const chosen = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return all.filter((job) => state.is(job) && (user === '' || job.user === user) && (why === '' || job.why_word === why) && matches(job, words));
  }, [all, state, user, why, text]);
  const columns = columnsAt(now);
  const rows = useMemo(() => sorted(chosen, columns, sortedBy(route)), [chosen, route]);
  return (
    <>
      <h1>Queue</h1>
      <div class="filters">
        <div class="chips" role="group" aria-label="State">
          {kStates.map((each) => (
            <button key={each.name} type="button" aria-pressed={each === state} onClick={() => refine(route, {state: each.name})}>
              {each.label} <span class="count">{plain(counts.get(each.name) ?? 0)}</span>
            </button>
          ))}
        </div>
        <label>User <select value={user} onChange={(event) => refine(route, {user: event.currentTarget.value})}>
          <option value="">all</option>
          {user !== '' && !users.some(([name]) => name === user) && <option value={user}>{user} (0)</option>}
          {users.map(([name, count]) => <option key={name} value={name}>{name} ({plain(count)})</option>)}
        </select></label>
        <label>Find <input type="search" value={text} placeholder="name, number or node" onInput={(event) => refine(route, {find: event.currentTarget.value})} /></label>
      </div>
      {reasons.length > 0 && (
        <div class="chips reasons" role="group" aria-label="Reason">
          <span class="hint">Reason</span>
          {reasons.map(([word, count]) => (
            <button key={word} type="button" aria-pressed={word === why} onClick={() => refine(route, {why: word === why ? '' : word})}>
              {word} <span class="count">{plain(count)}</span>
            </button>
          ))}
        </div>
      )}
      {error !== undefined && !value && <p class="nothing">The service did not return the jobs.</p>}
      {value && <JobTable label="Pending and running jobs" jobs={rows} columns={columns} route={route} />}
      {value?.next !== undefined && <p class="hint">Only the first {plain(value.jobs.length)} jobs are shown.</p>}
      <p class="foot">Expected times are 90 % intervals of the current forecast.</p>
    </>
  );
}

const lacking = (value: number | undefined) => value ?? NaN;

function columnsAt(now: number): JobColumn[] {
  return [
    {name: 'id', label: 'Job', width: '5rem', cell: (job) => job.job_id, key: (job) => job.number},
    {name: 'called', label: 'Name', width: 'minmax(8rem, 1.1fr)', cell: (job) => <span title={job.name}>{job.name || '(no name)'}</span>, key: (job) => job.name},
    {name: 'user', label: 'User', width: '6rem', cell: (job) => job.user, key: (job) => job.user},
    {name: 'gpus', label: 'GPUs', width: '3.4rem', right: true, cell: (job) => gpusOf(job), key: (job) => job.gpus * job.gpu_share},
    {name: 'asked', label: 'Limit', width: '5rem', right: true, cell: (job) => (job.time_limit_s === undefined ? '–' : duration(job.time_limit_s)), key: (job) => lacking(job.time_limit_s)},
    {name: 'state', label: 'State', width: '4.2rem', cell: (job) => <span class={`state ${stateOf(job).replace(' ', '-')}`}>{stateOf(job)}</span>, key: stateOf},
    {name: 'since', label: 'Elapsed', width: '5rem', right: true, cell: (job) => <span title={exact(job.since_s)}>{spent(job, now)}</span>, key: (job) => -job.since_s},
    {name: 'why', label: 'Reason or nodes', width: 'minmax(9rem, 1.6fr)', cell: (job) => (job.state === 'RUNNING'
      ? <>{placesOf(job) || 'CPUs only'}{job.gpu_use !== undefined && <span class="hint"> · {percent(job.gpu_use)} GPU utilization</span>}{lostOutput(job) && <span class="hint"> · {lostOutput(job)}</span>}</>
      : <span title={job.why_word}>{job.why ?? ''}</span>)},
    {name: 'when', label: 'Expected', width: '13rem', cell: (job) => <When job={job} now={now} />,
      key: (job) => lacking(job.state === 'RUNNING' ? job.expected?.end_to_s : job.expected?.start_to_s)},
  ];
}

function When({job, now}: {job: Job; now: number}) {
  const {expected} = job;
  const title = expected ? `forecast of ${clock(expected.at_s, now, true)}${expected.start_by_s !== undefined && job.state === 'PENDING' ? `; starts by ${clock(expected.start_by_s, now)} (90 %)` : ''}` : '';
  const late = job.deadline_s !== undefined && expected?.deadline_probability !== undefined && expected.deadline_probability < 0.5;
  return (
    <span title={title} class={late ? 'late' : ''}>
      {expectation(job, now) || '–'}{late && ', likely late'}
    </span>
  );
}
