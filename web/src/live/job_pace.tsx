// SPDX-License-Identifier: Apache-2.0
// Why a job runs as fast as it does: the factors of its model; where none is known, what is measured.
import {percent, plain} from '../format';
import {Meter} from './meter';
import type {Job, Speed} from './service';
import {memory} from './words';

const kParts: {name: Exclude<keyof Speed, 'model'>; label: string; of: string}[] = [
  {name: 'gpus', label: 'GPUs and network', of: 'number of GPUs and nodes'},
  {name: 'type', label: 'GPU type', of: 'compared with the requested type'},
  {name: 'neighbours', label: 'Neighbours', of: 'jobs on the same GPUs'},
  {name: 'cpus', label: 'Cores', of: 'per GPU'},
  {name: 'memory', label: 'Memory', of: 'for cached data'},
  {name: 'power', label: 'Power limit', of: 'of the GPUs'},
];

export function SpeedView({job}: {job: Job}) {
  if (job.state !== 'RUNNING' || job.gpus === 0) return null;
  return (
    <section class="pace" aria-labelledby="pace-title">
      <h2 id="pace-title">Speed</h2>
      {job.speed ? <Parts pace={job.speed} /> : <p class="hint">No speed model for this job, so only measurements are shown (add models with <code>almanac serve --speed</code>, name one with <code>--model</code>).</p>}
      <Measured job={job} />
    </section>
  );
}

function Parts({pace}: {pace: Speed}) {
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
      <p class="hint">Model: {pace.model}. A factor of 1 is the speed with the requested resources, on the fewest nodes, without neighbours or a power limit.</p>
    </>
  );
}

/** A factor that would be shown as another than 1. */
function counts(factor: number): boolean {
  return Math.abs(factor - 1) >= 0.005;
}

function finding(pace: Speed): string {
  const [worst] = kParts.filter((part) => counts(pace[part.name]) && pace[part.name] < 1).sort((a, b) => pace[a.name] - pace[b.name]);
  const rate = counts(pace.rate) ? `The job runs at ${percent(pace.rate)} of its requested speed` : 'The job runs at its requested speed';
  const why = worst ? `, mainly because of its ${worst.name === 'gpus' ? worst.label : worst.label.toLowerCase()}` : '';
  const waits = 1 - pace.computing;
  return `${rate}${why}${waits >= 0.005 ? `. Its GPUs wait for data ${percent(waits)} of the time` : ''}.`;
}

function Measured({job}: {job: Job}) {
  const held = {
    cpus: job.holds.reduce((sum, hold) => sum + hold.cpus, 0),
    memory_gb: job.holds.reduce((sum, hold) => sum + hold.memory_gb, 0),
  };
  const cores = job.cpu_use === undefined ? '' : plain(Math.round(job.cpu_use * 100) / 100);
  const rows: {label: string; said: string; share: number}[] = [
    ...(job.gpu_use === undefined ? [] : [{label: 'GPU utilization', said: percent(job.gpu_use), share: job.gpu_use}]),
    ...(job.cpu_use === undefined ? [] : [{label: 'Busy cores', said: held.cpus > 0 ? `${cores} of ${plain(held.cpus)}` : cores, share: job.cpu_use / (held.cpus || Infinity)}]),
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
      {job.gpu_use === undefined && <p class="hint">GPU utilization is not measured: neither the driver nor the job (<code>ALMANAC_PROGRESS</code>) reports it.</p>}
    </>
  );
}
