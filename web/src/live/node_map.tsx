// SPDX-License-Identifier: Apache-2.0
// A node as a map: its GPUs side by side, what a job holds in one piece.
import {duration, percent, plain} from '../format';
import {style, type Theme} from '../theme';
import {Actions} from './action';
import {Meter} from './meter';
import {useIsNarrow} from './narrow';
import {pieces, type Piece} from './pieces';
import {jobLink} from './route';
import type {Gpu, Job, Node} from './service';
import {coloursOf, ranges, spent} from './words';

export function NodeMap({node, jobs, now, theme, ofVc = false}: {node: Node; jobs: Job[]; now: number; theme: Theme; ofVc?: boolean}) {
  const narrow = useIsNarrow();
  const across = Math.min(narrow ? 4 : 8, Math.max(1, node.gpus.length));
  const colours = coloursOf(jobs.map((job) => job.user), theme.colours.length);
  const byNumber = new Map(jobs.map((job) => [job.number, job]));
  const others = jobs.filter((job) => job.holds.some((hold) => hold.node === node.name && hold.gpus.length === 0));
  // GPUs that no driver knows are called by their number.
  const kinds = [...new Set(node.gpus.filter((gpu) => gpu.name !== String(gpu.number)).map((gpu) => gpu.name))].filter((name) => name !== '').join(', ');
  const free = node.gpus.filter((gpu) => gpu.in_service && gpu.jobs.length === 0).length;
  return (
    <article class={node.drained ? 'node drained' : 'node'} aria-label={`Node ${node.name}`}>
      <header>
        <h2>{node.name}</h2>
        <span class="hint">{[node.gpus.length > 0 ? `${node.gpus.length} × ${kinds || 'GPU'}` : 'no GPUs', ofVc ? node.vc : ''].filter((part) => part !== '').join(' · ')}</span>
        <span class="free">{node.silent ? 'silent: its box does not report' : node.drained ? 'drained: no new jobs' : node.gpus.length > 0 ? `${free} free` : ''}</span>
        <span class="taken">
          {node.cpus > 0 && <><span>CPUs {plain(node.cpus_allocated)} of {plain(node.cpus)}</span><Meter share={node.cpus_allocated / node.cpus} /></>}
          {node.memory_gb > 0 && <><span>memory {plain(node.memory_allocated_gb)} of {plain(node.memory_gb)} GB</span><Meter share={node.memory_allocated_gb / node.memory_gb} /></>}
        </span>
        <Actions note={false} actions={[{
          label: node.drained ? 'Resume' : 'Drain', method: 'PUT', path: `/v1/nodes/${encodeURIComponent(node.name)}`, body: {drained: !node.drained},
          ...(node.drained ? {} : {sure: 'Start no new jobs on this node?'}),
        }]} />
      </header>
      {pieces(node.gpus, across).map((row, n) => (
        <ul key={n} class="gpus" style={{gridTemplateColumns: `repeat(${across}, minmax(0, 1fr))`}}>
          {row.map((piece) => <PieceView key={piece.gpus[0]?.number} piece={piece} byNumber={byNumber} colours={colours} now={now} theme={theme} />)}
        </ul>
      ))}
      {others.length > 0 && (
        <p class="others">On CPUs only: {others.slice(0, 12).map((job, n) => (
          <>{n > 0 && ', '}<a key={job.number} href={jobLink(job.job_id)}>{job.job_id} {job.name}</a> ({job.user})</>
        ))}{others.length > 12 && ` and ${others.length - 12} more`}</p>
      )}
    </article>
  );
}

interface PieceProps {
  piece: Piece;
  byNumber: Map<number, Job>;
  colours: Map<string, number>;
  now: number;
  theme: Theme;
}

function PieceView({piece, byNumber, colours, now, theme}: PieceProps) {
  const [first] = piece.gpus as [Gpu];
  const held = first.jobs.map((number) => ({number, job: byNumber.get(number)}));
  const owner = held[0]?.job;
  const colour = owner ? style(theme, colours.get(owner.user) ?? 0).colour : theme.grey;
  const kind = !first.in_service ? 'broken' : held.length > 0 ? 'busy' : 'idle';
  const numbers = ranges(piece.gpus.map((gpu) => gpu.number));
  return (
    <li class={`gpu ${kind}`} style={{gridColumn: `span ${piece.gpus.length}`, ...(kind === 'idle' ? {} : {borderTopColor: colour})}}>
      <span class="number">{numbers}</span>
      {kind === 'broken' && <span class="trouble" title={first.trouble}>out of service{first.trouble && `: ${first.trouble}`}</span>}
      {kind === 'idle' && <span class="hint">free</span>}
      {held.map(({number, job}) => (
        <span key={number} class="holder">
          <a href={jobLink(job?.job_id ?? String(number))} title={job?.name}><b>{job?.job_id ?? number}</b> {job?.name}</a>
          {job && <span class="who">{job.user}{job.gpu_share < 1 && ` · ${percent(job.gpu_share)} of the GPU`}</span>}
          {job && held.length === 1 && <span class="who">{spent(job, now)}{job.time_limit_s !== undefined && <span class="limit"> of {duration(job.time_limit_s)}</span>}</span>}
        </span>
      ))}
      {piece.gpus.some((gpu) => gpu.use !== undefined) && (
        <span class="uses">
          {piece.gpus.map((gpu) => <Meter key={gpu.number} share={gpu.use ?? 0} colour={colour} label={`GPU ${gpu.number}: ${gpu.use === undefined ? 'not measured' : percent(gpu.use)} utilization`} />)}
        </span>
      )}
    </li>
  );
}
