// SPDX-License-Identifier: Apache-2.0
// The other manager whose cluster is steered: how it does, what is done to it, whether that does it good.
import {duration, percent, plain} from '../format';
import {Meter} from './meter';
import {useAnswer, useTicks} from './poll';
import type {Agent, Canary, Lever, Manager} from './service';
import type {ViewProps} from './shell';

export function ManagerView({overview}: ViewProps) {
  const often = useTicks(5);
  const {value: manager} = useAnswer<Manager>('/v1/manager', `${overview.revision} ${often}`);
  const isSlurm = overview.manager === 'slurm';
  const name = isSlurm ? 'Slurm' : 'Kubernetes';
  if (!manager) return <><h1>{name}</h1><p class="nothing">Asking the service…</p></>;
  return (
    <>
      <h1>{name}</h1>
      <dl class="figures">
        <div class="large"><dt>{isSlurm ? 'Controller' : 'API server'}</dt><dd class={manager.error ? 'worse' : ''}>{manager.error ? 'does not answer' : 'answers'}</dd></div>
        <div><dt>Last response time</dt><dd>{duration(manager.response_s)}</dd></div>
        <div><dt>Last decision time</dt><dd>{duration(manager.decision_s)}</dd></div>
        <div><dt>Rate limit</dt><dd>{plain(Math.round(manager.changes_per_s))} <small>changes/s</small></dd></div>
        <div><dt>Cluster</dt><dd>{manager.cluster} <small>{manager.version}, via {manager.connection}</small></dd></div>
        <div><dt>Pending jobs outside the policy</dt><dd>{plain(manager.jobs_excluded)}</dd></div>
      </dl>
      {manager.error && <p class="alarm">All levers are paused: {manager.error}</p>}
      <Levers levers={manager.levers} policy={overview.policy} isSlurm={isSlurm} />
      {manager.canary ? <CanaryPart of={manager.canary} /> : isSlurm && (
        <section aria-labelledby="canary-title">
          <h2 id="canary-title">Canary</h2>
          <p class="brief-text">No canary partition. Levers act on all jobs that are not exempt.{overview.shadow
            ? <> The <a href="#/policy">policy page</a> shows how jobs would have fared under another policy.</> : ''}</p>
        </section>
      )}
      {manager.agents.length > 0 && <Agents agents={manager.agents} />}
    </>
  );
}

function Levers({levers, policy, isSlurm}: {levers: Lever[]; policy: string; isSlurm: boolean}) {
  return (
    <section aria-labelledby="levers-title">
      <h2 id="levers-title">Levers</h2>
      <p class="brief-text">Changes that Almanac may make to this {isSlurm ? 'Slurm' : 'Kubernetes'} cluster so that it follows {policy}. A lever in dry mode only logs what it would do.</p>
      <ul class="levers">
        {levers.map((lever) => (
          <li key={lever.name}>
            <h3>{lever.name} <span class={`tag ${lever.mode}`}>{lever.mode}</span></h3>
            <div>
              <p>{sentence(lever)}</p>
              {lever.next_changes.length > 0 && (
                <details><summary>{lever.mode === 'on' ? 'Next changes' : 'Changes if it were on'}</summary><ol>{lever.next_changes.map((each, n) => <li key={n}>{each}</li>)}</ol></details>
              )}
            </div>
          </li>
        ))}
      </ul>
      <p class="foot">{isSlurm
        ? <>The user of the service switches levers on with <code>almanac slurm levers order on</code> and undoes all changes with <code>almanac slurm undo</code>.</>
        : <>Lever order is on if the service was started with <code>--order on</code>. <code>--order off</code> undoes all changes, as does <code>almanac kube undo</code>.</>}</p>
    </section>
  );
}

function sentence(lever: Lever): string {
  if (lever.mode === 'off' && lever.changes_made === 0) return 'Off.';
  const counts = [`${plain(lever.changes_due)} planned`, `${plain(lever.changes_made)} done`, ...(lever.changes_failed > 0 ? [`${plain(lever.changes_failed)} failed`] : []),
    ...(lever.changes_refused > 0 ? [`${plain(lever.changes_refused)} blocked by guards`] : [])].join(', ');
  return lever.paused_reason ? `Paused: ${lever.paused_reason} (${counts}).` : `${counts.charAt(0).toUpperCase()}${counts.slice(1)}.`;
}

function CanaryPart({of}: {of: Canary}) {
  const rows = [
    {label: 'Mean wait', seen: of.avg_wait_s, most: of.max_avg_wait_s, show: duration, jobs: of.jobs_waited},
    {label: 'Failed', seen: of.failed_fraction, most: of.max_failed_fraction, show: percent, jobs: of.jobs_ended},
  ];
  return (
    <section aria-labelledby="canary-title">
      <h2 id="canary-title">Canary: {of.partitions.join(', ')}</h2>
      <p class="finding">{verdict(of)}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Canary">
        <table class="comparison">
          <thead><tr>
            <th scope="col">Last {duration(of.window_s)}</th>
            <th scope="col" class="number">measured</th><th scope="col" class="number">limit</th><th scope="col" class="number">jobs</th><th scope="col"><span class="unseen">share</span></th>
          </tr></thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.label}>
                <th scope="row">{row.label}</th>
                <td class={`number ${row.most !== undefined && row.seen > row.most ? 'worse' : ''}`}>{row.jobs > 0 ? row.show(row.seen) : '–'}</td>
                <td class="number">{row.most === undefined ? '–' : row.show(row.most)}</td>
                <td class="number">{plain(row.jobs)}</td>
                <td class="bar-cell">{row.most !== undefined && row.most > 0 && <Meter share={row.seen / row.most} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">The limit is the p99 of such periods in the last weeks, simulated under the policy. If the measurement stays above it, Almanac undoes all changes.</p>
    </section>
  );
}

function verdict(of: Canary): string {
  if (of.rollback_reason) return `All changes have been undone. ${of.rollback_reason.charAt(0).toUpperCase()}${of.rollback_reason.slice(1)}.`;
  if (of.max_avg_wait_s === undefined || of.max_failed_fraction === undefined) return `No lever is active yet: ${of.waiting_reason ?? 'there is nothing to compare with'}.`;
  const out = [...(of.avg_wait_s > of.max_avg_wait_s ? ['wait longer'] : []), ...(of.failed_fraction > of.max_failed_fraction ? ['fail more often'] : [])];
  return out.length === 0 ? 'Waits and failures of its jobs are within the limits.' : `Its jobs ${out.join(' and ')} than expected.`;
}

const kAgentColumns: {label: string; show(agent: Agent): string}[] = [
  {label: 'Jobs', show: (agent) => plain(agent.jobs)},
  {label: 'Limited jobs', show: (agent) => plain(agent.jobs_confined)},
  {label: 'Load', show: (agent) => plain(Math.round(agent.load * 10) / 10)},
  {label: 'CPU pressure', show: (agent) => share(agent.cpu_pressure)},
  {label: 'Memory pressure', show: (agent) => share(agent.memory_pressure)},
  {label: 'I/O pressure', show: (agent) => share(agent.io_pressure)},
  {label: 'Memory bandwidth, GB/s', show: (agent) => (agent.bandwidth_gbs === undefined ? '–' : plain(agent.bandwidth_gbs))},
];

function share(of: number | undefined): string {
  return of === undefined ? '–' : percent(of);
}

function Agents({agents}: {agents: Agent[]}) {
  return (
    <section aria-labelledby="agents-title">
      <h2 id="agents-title">Nodes with an agent</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Nodes with an agent">
        <table class="comparison">
          <thead><tr><th scope="col">Node</th>{kAgentColumns.map((column) => <th key={column.label} scope="col" class="number">{column.label}</th>)}</tr></thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent.node}><th scope="row">{agent.node}</th>{kAgentColumns.map((column) => <td key={column.label} class="number">{column.show(agent)}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
