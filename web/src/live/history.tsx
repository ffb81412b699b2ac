// SPDX-License-Identifier: Apache-2.0
// What has ended: how many, how long they waited, each of them; the whole as a job log to study.
import {useMemo} from 'preact/hooks';
import {duration, percent, plain, quantity} from '../format';
import {clock, exact} from './clock';
import {perDay, quantile, waits} from './history_figures';
import {JobTable, sorted, sortedBy, type JobColumn} from './job_table';
import {LiveFigure} from './live_figure';
import {useAnswer, useTicks} from './poll';
import {refine} from './route';
import type {Job, Jobs} from './service';
import type {ViewProps} from './shell';
import {ending, gpusOf, kEnded, stateOf, stateWord} from './words';

const kMost = 5000;
/** Days that a study may be of. */
const kLongest = 366;
const kRanges: [string, string, number][] = [['1', '24 hours', 1], ['', '7 days', 7], ['30', '30 days', 30], ['all', 'All', Infinity]];

export function HistoryView({now, route, theme}: ViewProps) {
  const range = kRanges.find(([name]) => name === (route.query.get('days') ?? '')) ?? kRanges[1] as (typeof kRanges)[0];
  const since = useMemo(() => (range[2] === Infinity ? 0 : Math.floor(now - range[2] * 86400)), [range]);
  const minute = useTicks(60);
  const {value} = useAnswer<Jobs>(`/v1/history?order=end&since=${since}&limit=${kMost}`, minute);
  const user = route.query.get('user') ?? '';
  const state = route.query.get('state') ?? '';
  const text = route.query.get('find') ?? '';
  const users = useMemo(() => [...new Set((value?.jobs ?? []).map((job) => job.user))].sort(), [value]);
  const chosen = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return (value?.jobs ?? []).filter((job) => (user === '' || job.user === user) && (state === '' || job.state === state)
      && words.every((word) => `${job.job_id} ${job.name} ${job.reason ?? ''}`.toLowerCase().includes(word)));
  }, [value, user, state, text]);
  const columns = columnsAt(now);
  const rows = useMemo(() => sorted(chosen, columns, sortedBy(route)), [chosen, route]);
  const figures = useMemo(() => [perDay(chosen), waits(chosen)], [chosen]);
  return (
    <>
      <h1>History</h1>
      <div class="filters">
        <div class="chips" role="group" aria-label="Ended within">
          {kRanges.map(([name, label]) => <button key={name} type="button" aria-pressed={name === range[0]} onClick={() => refine(route, {days: name})}>{label}</button>)}
        </div>
        <label>User <select value={user} onChange={(event) => refine(route, {user: event.currentTarget.value})}>
          <option value="">all</option>
          {user !== '' && !users.includes(user) && <option value={user}>{user}</option>}
          {users.map((name) => <option key={name} value={name}>{name}</option>)}
        </select></label>
        <label>State <select value={state} onChange={(event) => refine(route, {state: event.currentTarget.value})}>
          <option value="">any</option>
          {kEnded.map((each) => <option key={each} value={each}>{stateWord(each)}</option>)}
        </select></label>
        <label>Find <input type="search" value={text} placeholder="name, number or reason" onInput={(event) => refine(route, {find: event.currentTarget.value})} /></label>
        <span class="buttons">
          {value && value.jobs.length > 0 && <a class="button" href={`/v1/study?days=${Math.min(range[2], kLongest)}`} target="_blank" rel="noopener" title="Open the report of almanac study for all jobs of this period in a new tab">Study</a>}
          <a class="button" href={`/v1/history?format=csv${since > 0 ? `&since=${since}` : ''}`} download="history.csv">Job log (CSV)</a>
        </span>
      </div>
      {value && <Summary jobs={chosen} />}
      {value?.next !== undefined && <p class="hint">Only the latest {plain(value.jobs.length)} jobs are shown; the job log has all of them.</p>}
      {value && chosen.length > 0 && <div class="halves charts">{figures.map((figure) => <LiveFigure key={figure.id} figure={figure} theme={theme} />)}</div>}
      {value && <JobTable label="Ended jobs" jobs={rows} columns={columns} route={route} />}
      <p class="foot">The study covers all jobs of the period, whatever the filters. From a shell: <code>almanac history -o csv &gt; log.csv; almanac study log.csv</code></p>
    </>
  );
}

function Summary({jobs}: {jobs: Job[]}) {
  const ran = jobs.filter((job) => job.start_s !== undefined);
  const waited = ran.map((job) => (job.start_s as number) - job.submit_s).sort((a, b) => a - b);
  const share = (state: string) => percent(jobs.filter((job) => job.state === state).length / jobs.length);
  if (jobs.length === 0) return null;
  return (
    <dl class="figures">
      <div><dt>Ended</dt><dd>{plain(jobs.length)}</dd></div>
      <div><dt>Completed</dt><dd>{share('COMPLETED')}</dd></div>
      <div><dt>Failed</dt><dd>{share('FAILED')}</dd></div>
      {waited.length > 0 && <div><dt>Median wait</dt><dd>{duration(quantile(waited, 0.5))}</dd></div>}
      {waited.length > 0 && <div><dt>p90 wait</dt><dd>{duration(quantile(waited, 0.9))}</dd></div>}
      <div><dt>GPU time</dt><dd>{quantity(ran.reduce((sum, job) => sum + job.attained_s * job.gpus * job.gpu_share, 0), 'gpu_s')}</dd></div>
    </dl>
  );
}

function columnsAt(now: number): JobColumn[] {
  return [
    {name: 'id', label: 'Job', width: '5rem', cell: (job) => job.job_id, key: (job) => job.number},
    {name: 'called', label: 'Name', width: 'minmax(8rem, 1.2fr)', cell: (job) => <span title={job.name}>{job.name || '(no name)'}</span>, key: (job) => job.name},
    {name: 'user', label: 'User', width: '6rem', cell: (job) => job.user, key: (job) => job.user},
    {name: 'gpus', label: 'GPUs', width: '3.4rem', right: true, cell: (job) => gpusOf(job), key: (job) => job.gpus * job.gpu_share},
    {name: 'asked', label: 'Wait', width: '5.4rem', right: true, cell: (job) => (job.start_s === undefined ? '–' : duration(job.start_s - job.submit_s)), key: (job) => (job.start_s ?? NaN) - job.submit_s},
    {name: 'since', label: 'Run time', width: '5.4rem', right: true, cell: (job) => (job.start_s === undefined ? '–' : duration(job.attained_s)), key: (job) => (job.start_s === undefined ? NaN : job.attained_s)},
    {name: 'state', label: 'State', width: '5.4rem', cell: (job) => <span class={`state ${stateOf(job).replace(' ', '-')}`}>{stateOf(job)}</span>, key: stateOf},
    {name: 'why', label: 'Reason', width: 'minmax(8rem, 1.2fr)', cell: ending, key: ending},
    {name: 'when', label: 'Ended', width: '8rem', cell: (job) => <span title={exact(job.end_s)}>{clock(job.end_s, now)}</span>, key: (job) => job.end_s ?? NaN},
  ];
}
