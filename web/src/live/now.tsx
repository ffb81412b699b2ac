// SPDX-License-Identifier: Apache-2.0
// What there is and which jobs have it, now.
import {useEffect, useRef} from 'preact/hooks';
import {duration, percent, plain, quantity} from '../format';
import {ago, clock} from './clock';
import {NodeGrid} from './node_grid';
import {NodeMap} from './node_map';
import {useAnswer, useTicks} from './poll';
import {jobLink} from './route';
import type {Job, Jobs, Node} from './service';
import {Shares} from './shares';
import type {ViewProps} from './shell';
import {kModelledPower} from './use_figures';
import {ending, expectation, gpusOf, stateOf} from './words';

const kListed = 6;
/** More nodes than this are shown as tiles, and one of them whole. */
const kWhole = 8;

export function NowView({overview, now, route, theme}: ViewProps) {
  // What is measured changes without a revision.
  const measured = useTicks(5);
  const {value: nodes} = useAnswer<{nodes: Node[]}>('/v1/nodes', `${overview.revision} ${measured}`);
  const {value: running} = useAnswer<Jobs>('/v1/jobs?state=RUNNING', overview.revision);
  const {value: waiting} = useAnswer<Jobs>(overview.waiting > 0 ? `/v1/jobs?state=PENDING&place=${kListed + 1}` : '', overview.revision);
  const {value: ended} = useAnswer<Jobs>(`/v1/history?order=end&limit=${kListed}`, overview.revision);
  const all = nodes?.nodes ?? [];
  const chosen = route.query.get('node') ?? '';
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    if (chosen !== '') shown.current?.scrollIntoView({block: 'nearest'});
  }, [chosen, all.length > 0]);
  const used = all.flatMap((node) => node.gpus).map((gpu) => gpu.use).filter((use): use is number => use !== undefined);
  const use = used.length > 0 ? used.reduce((sum, each) => sum + each, 0) / used.length : undefined;
  const out = all.flatMap((node) => node.gpus).filter((gpu) => !gpu.in_service).length;
  const next = (waiting?.jobs ?? []).filter((job) => !job.held).sort((a, b) => (a.place || 1e9) - (b.place || 1e9) || a.number - b.number);
  return (
    <>
      <h1 class="unseen">Now</h1>
      <dl class="figures">
        {overview.gpus > 0 && (
          <div class="large">
            <dt>Allocated GPUs</dt>
            <dd>{plain(overview.gpus_busy)} <small>of {plain(overview.gpus)}</small></dd>
            {out > 0 && <dd class="also">{out} out of service</dd>}
          </div>
        )}
        {use !== undefined && <div><dt>GPU utilization</dt><dd>{percent(use)}</dd></div>}
        <div><dt>Running</dt><dd>{plain(overview.running)}</dd></div>
        <div><dt>Pending</dt><dd>{plain(overview.waiting)}</dd></div>
        {overview.held > 0 && <div><dt>Held</dt><dd>{plain(overview.held)}</dd></div>}
        {(overview.power_w ?? 0) > 0 && (
          <div title={overview.power_is_measured ? undefined : kModelledPower}><dt>Power, {overview.power_is_measured ? 'measured' : 'modeled'}</dt><dd>{quantity(overview.power_w, 'W')}</dd></div>
        )}
        <div><dt>Policy</dt><dd><a href="#/policy">{overview.policy}</a></dd></div>
        <div><dt>Uptime</dt><dd>{duration(Math.max(0, now - overview.started_s))}</dd></div>
      </dl>
      {overview.warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">{overview.warnings.map((warning) => <li key={warning}>{warning}</li>)}</ul>
      )}
      <Shares jobs={running?.jobs ?? []} gpus={overview.gpus} busy={overview.gpu_share_busy} theme={theme} />
      {all.length > kWhole && <NodeGrid nodes={all} jobs={running?.jobs ?? []} chosen={chosen} theme={theme} />}
      <section class="nodes" ref={shown} aria-label={all.length > kWhole ? 'Selected node' : 'Nodes'}>
        {all.filter((node) => all.length <= kWhole || node.name === chosen)
          .map((node) => <NodeMap key={node.name} node={node} jobs={running?.jobs ?? []} now={now} theme={theme} ofVc={new Set(all.map((each) => each.vc)).size > 1} />)}
        {all.length > kWhole && !all.some((node) => node.name === chosen) && <p class="hint">Select a node to see its jobs, cores and memory, and to drain it.</p>}
      </section>
      <div class="halves">
        <section aria-labelledby="next-title">
          <h2 id="next-title">Next</h2>
          {overview.waiting === 0 ? <p class="nothing">No pending jobs.</p> : (
            <ol class="brief">{next.slice(0, kListed).map((job) => (
              <Line key={job.number} job={job} right={expectation(job, now) || `pending for ${duration(Math.max(0, now - job.since_s))}`} below={job.why ?? ''} />
            ))}</ol>
          )}
          {waiting && next.length === 0 && overview.waiting > 0 && <p class="nothing">The policy has not ranked the pending jobs yet.</p>}
          {overview.waiting > Math.min(next.length, kListed) && <p class="more"><a href="#/queue?state=waiting">All {plain(overview.waiting)} pending jobs</a></p>}
        </section>
        <section aria-labelledby="ended-title">
          <h2 id="ended-title">Recently ended</h2>
          {ended && ended.jobs.length === 0 ? <p class="nothing">No job has ended yet.</p> : (
            <ol class="brief">{(ended?.jobs ?? []).map((job) => (
              <Line key={job.number} job={job} right={job.end_s === undefined ? '' : <span title={clock(job.end_s, now)}>{ago(job.end_s, now)}</span>}
                below={[stateOf(job), ending(job), job.start_s === undefined ? 'never ran' : `ran ${duration(job.attained_s)}`].filter((part) => part !== '').join(' · ')} />
            ))}</ol>
          )}
        </section>
      </div>
    </>
  );
}

function Line({job, right, below}: {job: Job; right: preact.ComponentChildren; below: string}) {
  return (
    <li>
      <a href={jobLink(job.job_id)}><b>{job.job_id}</b> {job.name || '(no name)'}</a>
      <span class="right">{right}</span>
      <span class="below">{job.user} · {gpusOf(job) === '–' ? 'CPUs only' : `${gpusOf(job)} GPU${gpusOf(job) === '1' ? '' : 's'}`}{below && ` · ${below}`}</span>
    </li>
  );
}
