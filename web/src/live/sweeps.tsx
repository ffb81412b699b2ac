// SPDX-License-Identifier: Apache-2.0
// Sweeps: which there are; of one its leaderboard, what its trials reported and how far they came.
import {useMemo} from 'preact/hooks';
import {plain} from '../format';
import {clock} from './clock';
import {JobTable, sorted, sortedBy, type JobColumn} from './job_table';
import {LiveFigure} from './live_figure';
import {useIsNarrow} from './narrow';
import {useAnswer, useTicks} from './poll';
import {sweepLink} from './route';
import type {Job, Sweep, SweepCount, Trial} from './service';
import type {ViewProps} from './shell';
import {gpuHours, parameterNames, parameterOf, sweepFigures, trialState} from './sweep_figures';

/** What trials report is looked at as often. */
const kEvery = 5;

export function SweepsView(props: ViewProps) {
  return props.route.part === '' ? <All {...props} /> : <One {...props} />;
}

function All({overview, now}: ViewProps) {
  const ticks = useTicks(kEvery);
  const {value} = useAnswer<{sweeps: SweepCount[]}>('/v1/sweeps', `${overview.revision} ${ticks}`);
  const sweeps = value?.sweeps ?? [];
  return (
    <>
      <h1>Sweeps</h1>
      <p class="brief-text">A sweep runs the trials of one parameter search and compares them by the metric that they report. Start one with <code>almanac tune run SPACE.toml</code>. The
        policy ({overview.policy}) decides which trials continue.</p>
      {value && sweeps.length === 0 && <p class="nothing">No sweeps yet.</p>}
      {sweeps.length > 0 && (
        <ul class="policies sweeps">
          {sweeps.map((each) => (
            <li key={each.name}>
              <h3><a href={sweepLink(each.name)}>{each.name}</a></h3>
              <p>{plain(each.trials)} {each.trials === 1 ? 'trial' : 'trials'} of {each.user}, started {clock(each.first_submit_s, now)}</p>
              <p>{each.running + each.waiting === 0 ? 'finished' : `${plain(each.running)} running, ${plain(each.waiting)} pending`}</p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function One({overview, now, route, theme}: ViewProps) {
  const ticks = useTicks(kEvery);
  const {value: sweep, error} = useAnswer<Sweep>(`/v1/sweeps/${encodeURIComponent(route.part)}`, `${overview.revision} ${ticks}`);
  const figures = useMemo(() => (sweep ? sweepFigures(sweep) : []), [sweep]);
  const narrow = useIsNarrow();
  const columns = useMemo(() => (sweep ? (narrow ? narrowColumns(sweep) : columnsOf(sweep, now)) : []), [sweep, narrow]);
  if (!sweep) return <><h1>Sweep {route.part}</h1>{error !== undefined && <p class="nothing">No sweep has this name.</p>}</>;
  const count = (...states: string[]) => sweep.trials.filter((trial) => states.includes(trialState(trial))).length;
  const best = sweep.trials[0];
  const jobs = sorted(sweep.trials.map(({job}) => job), columns, sortedBy(route));
  return (
    <>
      <h1>Sweep {sweep.name}</h1>
      <dl class="figures">
        {best?.best !== undefined && <div class="large"><dt>Best metric</dt><dd>{short(best.best)}</dd></div>}
        {best?.best !== undefined && <div><dt>By</dt><dd>{best.job.name}</dd></div>}
        <div><dt>Running</dt><dd>{plain(count('runs'))}</dd></div>
        <div><dt>Pending</dt><dd>{plain(count('waits', 'rests'))}</dd></div>
        <div><dt>Stopped by the policy</dt><dd>{plain(count('stopped'))} <small>of {plain(sweep.trials.length)}</small></dd></div>
        <div><dt>GPU-hours</dt><dd>{plain(Math.round(100 * sweep.trials.reduce((sum, trial) => sum + gpuHours(trial, now), 0)) / 100)}</dd></div>
      </dl>
      {best?.best !== undefined && best.job.parameters && <p class="verdict">The best so far has {best.job.parameters.join(', ')}.</p>}
      <JobTable label="Trials" jobs={jobs} columns={columns} route={route} />
      <div class="halves charts">{figures.map((figure) => <LiveFigure key={figure.id} figure={figure} theme={theme} />)}</div>
    </>
  );
}

const short = (value: number | undefined) => (value === undefined ? '' : String(Number(value.toPrecision(6))));

type Ranked = Trial & {rank: number};

function byNumber(sweep: Sweep): (number: number) => Ranked {
  const trials = new Map<number, Ranked>(sweep.trials.map((trial, n) => [trial.job.number, {...trial, rank: n + 1}]));
  return (number) => trials.get(number) as Ranked;
}

const stepOf = ({step, steps}: Job) => (step === undefined ? '' : `${plain(step)}${steps ? ` / ${plain(steps)}` : ''}`);

/** Where there is no room for a table: what live.css places in two lines. */
function narrowColumns(sweep: Sweep): JobColumn[] {
  const of = byNumber(sweep);
  return [
    {name: 'id', label: 'Trial', width: '', cell: (job) => job.name, key: (job) => job.name},
    {name: 'called', label: 'Best', width: '', cell: (job) => (of(job.number).best === undefined ? '' : `best ${short(of(job.number).best)}`), key: (job) => of(job.number).best ?? NaN},
    {name: 'state', label: 'State', width: '', cell: (job) => trialState(of(job.number)), key: (job) => trialState(of(job.number))},
    {name: 'why', label: 'Parameters', width: '', cell: (job) => job.parameters?.join(' ') ?? ''},
    {name: 'when', label: 'Step', width: '', cell: stepOf, key: (job) => job.step ?? NaN},
  ];
}

function columnsOf(sweep: Sweep, now: number): JobColumn[] {
  const of = byNumber(sweep);
  return [
    {name: 'id', label: 'Trial', width: 'minmax(6rem, 1fr)', cell: (job) => job.name, key: (job) => job.name},
    {name: 'rank', label: 'Rank', width: '3.6rem', right: true, cell: (job) => (of(job.number).best === undefined ? '' : of(job.number).rank), key: (job) => of(job.number).rank},
    {name: 'state', label: 'State', width: '5rem', cell: (job) => trialState(of(job.number)), key: (job) => trialState(of(job.number))},
    {name: 'step', label: 'Step', width: '6rem', right: true, cell: stepOf, key: (job) => job.step ?? NaN},
    {name: 'metric', label: 'Last metric', width: '5.5rem', right: true, cell: (job) => short(job.metric), key: (job) => job.metric ?? NaN},
    {name: 'best', label: 'Best metric', width: '6rem', right: true, cell: (job) => short(of(job.number).best), key: (job) => of(job.number).best ?? NaN},
    {name: 'hours', label: 'GPU-h', width: '4.5rem', right: true, cell: (job) => plain(Math.round(100 * gpuHours(of(job.number), now)) / 100), key: (job) => gpuHours(of(job.number), now)},
    ...parameterNames(sweep).map((name): JobColumn => ({
      name: `p-${name}`, label: name, width: 'minmax(4rem, .8fr)', right: true, cell: (job) => parameterOf(of(job.number), name), key: (job) => sortable(parameterOf(of(job.number), name)),
    })),
  ];
}

/** Numbers by size, words by letter. */
function sortable(value: string): number | string {
  return value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}
