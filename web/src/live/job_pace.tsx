// SPDX-License-Identifier: Apache-2.0
// Why a job runs as fast as it does: the factors of its model; where none is known, what is measured.
import {percent, plain} from '../format';
import {Meter} from './meter';
import type {Job, Pace} from './service';
import {memory} from './words';

const kParts: {name: Exclude<keyof Pace, 'model'>; label: string; of: string}[] = [
  {name: 'gpus', label: 'GPUs and network', of: 'their number, and how they are spread over nodes'},
  {name: 'type', label: 'GPU type', of: 'beside the one that it asked'},
  {name: 'neighbours', label: 'Neighbours', of: 'jobs on the same GPUs'},
  {name: 'cpus', label: 'Cores', of: 'that feed its GPUs'},
  {name: 'memory', label: 'Memory', of: 'that keeps its data near'},
  {name: 'power', label: 'Power limit', of: 'of its GPUs'},
];

export function PaceView({job}: {job: Job}) {
  if (job.state !== 'RUNNING' || job.gpus === 0) return null;
  return (
    <section class="pace" aria-labelledby="pace-title">
      <h2 id="pace-title">How fast it runs</h2>
      {job.pace ? <Parts pace={job.pace} /> : <p class="hint">No model of its name is known here, so only what is measured can be said (<code>almanac serve --speed</code> gives models, <code>--model</code> names one).</p>}
      <Measured job={job} />
    </section>
  );
}

function Parts({pace}: {pace: Pace}) {
  return (
    <>
      <p class="finding">{finding(pace)}</p>
      <dl class="parts">
        {kParts.map((part) => {
          const factor = pace[part.name];
          return (
            <div key={part.name} class={counts(factor) ? '' : 'same'}>
              <dt>{part.label} <span class="hint">{part.of}</span></dt>
              <dd><span>× {factor.toFixed(2)}</span><Meter share={factor} /></dd>
            </div>
          );
        })}
      </dl>
      <p class="hint">By the model {pace.model}; 1 is its speed with what it asked, on the fewest nodes, alone and without a power limit.</p>
    </>
  );
}

/** A factor that would be shown as another than 1. */
function counts(factor: number): boolean {
  return Math.abs(factor - 1) >= 0.005;
}

function finding(pace: Pace): string {
  const [worst] = kParts.filter((part) => counts(pace[part.name]) && pace[part.name] < 1).sort((a, b) => pace[a.name] - pace[b.name]);
  const rate = counts(pace.rate) ? `It runs at ${percent(pace.rate)} of the speed that it asked for` : 'It runs as fast as with what it asked';
  const why = worst ? `, most of all for its ${worst.name === 'gpus' ? worst.label : worst.label.toLowerCase()}` : '';
  const waits = 1 - pace.computing;
  return `${rate}${why}${waits >= 0.005 ? `; its GPUs wait for data ${percent(waits)} of the time` : ''}.`;
}

function Measured({job}: {job: Job}) {
  const held = {
    cpus: job.holds.reduce((sum, hold) => sum + hold.cpus, 0),
    memory_gb: job.holds.reduce((sum, hold) => sum + hold.memory_gb, 0),
  };
  const cores = job.cpu_use === undefined ? '' : plain(Math.round(job.cpu_use * 100) / 100);
  const rows: {label: string; said: string; share: number}[] = [
    ...(job.gpu_use === undefined ? [] : [{label: 'GPU use', said: percent(job.gpu_use), share: job.gpu_use}]),
    ...(job.cpu_use === undefined ? [] : [{label: 'Cores busy', said: held.cpus > 0 ? `${cores} of ${plain(held.cpus)}` : cores, share: job.cpu_use / (held.cpus || Infinity)}]),
    ...(job.memory_used_gb === undefined ? [] : [{
      label: 'Memory', said: held.memory_gb > 0 ? `${memory(job.memory_used_gb)} of ${memory(held.memory_gb)}` : memory(job.memory_used_gb), share: job.memory_used_gb / (held.memory_gb || Infinity),
    }]),
  ];
  return (
    <>
      {rows.length > 0 && (
        <dl class="parts">
          {rows.map((row) => <div key={row.label}><dt>{row.label} <span class="hint">measured</span></dt><dd><span>{row.said}</span><Meter share={row.share} /></dd></div>)}
        </dl>
      )}
      {job.gpu_use === undefined && <p class="hint">How busy its GPUs are nothing measures: no driver tells it, and the job does not (<code>ALMANAC_PROGRESS</code>).</p>}
    </>
  );
}
