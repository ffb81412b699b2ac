// SPDX-License-Identifier: Apache-2.0
// A machine to look at: 16 GPUs, what runs on them, what waits, what has ended, as the API says it.
import type {Comparison, Figures, Gpu, Job, Manager, Moment, Node, Note, Overview, Policy, State, Sweep, Tenancy, Tenant, Told} from '../../web/src/live/service';

export interface World {
  overview: Overview;
  nodes: Node[];
  /** That wait or run, in order of number. */
  jobs: Job[];
  ended: Job[];
  notes: Map<number, Note[]>;
  told: Map<number, Told[]>;
  logs: Map<number, string>;
  moments: Moment[];
  tenancy: Tenancy;
  policies: Policy[];
  sweep: Sweep;
  comparison: Comparison | undefined;
  /** Where a Slurm is steered. */
  manager?: Manager;
}

const kUsers = ['ada', 'grace', 'katherine', 'ren', 'tomas', 'wei'];
const kNames = ['bert-large', 'resnet50-sweep', 'llm-7b-sft', 'diffusion', 'eval-nightly', 'tokenise', 'rl-agent', 'ablation-3'];

/** `waiting` jobs wait; all else is the same each time, but for `now`. */
export function makeWorld(waiting: number, now = Math.floor(Date.now() / 1000)): World {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const pick = <T>(of: T[]) => of[Math.floor(random() * of.length)] as T;
  let number = 3800;

  const job = (state: State, rest: Partial<Job>): Job => {
    const own = ++number;
    return {
      job_id: String(own), number: own, state, user: pick(kUsers), uid: 1000, name: pick(kNames), gpus: 1, gpu_share: 1, cpus: 8, memory_gb: 32,
      time_limit_s: 7200, argv: ['python', 'train.py', '--seed', String(own)], directory: '/home/ada/work', submit_s: now - 7200, held: false, since_s: now - 3600,
      attained_s: 0, attempts: 0, preemptions: 0, energy_measured_j: 0, energy_modelled_j: 0, holds: [], ...rest,
    };
  };

  const ended = Array.from({length: 420}, (_, n) => {
    const state = n % 11 === 3 ? 'FAILED' : n % 17 === 5 ? 'CANCELLED' : n % 29 === 7 ? 'TIMEOUT' : 'COMPLETED';
    const ran = Math.round(60 * Math.exp(random() * 5));
    const wait = Math.round(Math.exp(random() * 8) - 1);
    const end = now - 90 - (420 - n) * 1370;
    return job(state, {
      gpus: [0, 1, 1, 1, 2, 4, 8][n % 7] as number, submit_s: end - ran - wait, start_s: end - ran, since_s: end - ran, end_s: end, attained_s: ran, attempts: 1,
      ...(state === 'FAILED' ? {exit_status: 1} : state === 'TIMEOUT' ? {reason: 'over its time limit'} : state === 'CANCELLED' ? {reason: 'cancelled by user 1000'} : {exit_status: 0}),
    });
  }).reverse();

  const running = (gpus: [string, number[]][], rest: Partial<Job>) => job('RUNNING', {
    gpus: gpus.reduce((sum, [, list]) => sum + list.length, 0), attempts: 1, gpu_use: 0.87, cpu_use: 7.2, memory_used_gb: 21.4,
    holds: gpus.map(([node, list]) => ({node, gpus: list, gpu_share: rest.gpu_share ?? 1, cpus: 8, memory_gb: 32})),
    expected: {at_s: now - 30, end_from_s: now + 1800, end_to_s: now + 4200, end_by_s: now + 3900}, start_s: now - 3600, ...rest,
  });
  const runs = [
    running([['gpu-a', [0, 1, 2, 3]]], {name: 'llm-7b-sft', user: 'ada', time_limit_s: 28800, since_s: now - 9720, start_s: now - 9720, submit_s: now - 12000}),
    running([['gpu-a', [4]]], {name: 'bert-large', user: 'grace', speed: {model: 'bert', rate: 0.614, gpus: 1, type: 1, neighbours: 1, cpus: 0.66, memory: 1, power: 0.93, computing: 0.7}}),
    running([['gpu-a', [5]]], {name: 'notebook', user: 'ren', gpu_share: 0.5}),
    running([['gpu-a', [5]]], {name: 'eval <img src=x onerror=alert(1)>', user: 'wei', gpu_share: 0.25}),
    running([['gpu-b', [0, 1]]], {name: 'diffusion', user: 'tomas', deadline_s: now + 3600, expected: {at_s: now, end_from_s: now + 3000, end_to_s: now + 5200, end_by_s: now + 5000, deadline_probability: 0.31}}),
    running([['gpu-b', [2, 3]]], {name: 'rl-agent', user: 'grace'}),
    running([['gpu-b', [4, 5, 6]]], {name: 'ablation-with-a-name-that-goes-on-and-on', user: 'katherine'}),
    running([], {name: 'tokenise', user: 'wei', holds: [{node: 'gpu-b', gpus: [], gpu_share: 0, cpus: 12, memory_gb: 64}]}),
  ];
  const whys: [string, string][] = [['Resources', 'needs 4 GPUs on one node and 2 are free'], ['Priority', 'is behind job 4231'], ['Priority', 'is behind job 4240'], ['Dependency', 'comes after a job that has not ended']];
  const waits = Array.from({length: waiting}, (_, n) => {
    const [why_word, why] = whys[n === 0 ? 0 : 1 + (n % 3)] as [string, string];
    const from = now + 300 + n * 240;
    return job('PENDING', {
      gpus: [1, 2, 4, 1, 0, 8][n % 6] as number, submit_s: now - 4000 + Math.min(3900, n), since_s: now - 4000 + Math.min(3900, n), place: n + 1, why_word, why,
      expected: {at_s: now - 20, start_from_s: from, start_to_s: from + 1500 + n * 60, start_by_s: from + 1400 + n * 60, end_from_s: from + 3600, end_to_s: from + 9000, end_by_s: from + 8600,
        ...(n === 0 ? {with_other_gpus: [{gpus: 2, end_by_s: from + 3000}]} : {})},
      ...(n % 9 === 4 ? {array: {number, index: n, at_once: 4}, job_id: `${number}_${n}`} : {}),
    });
  });
  const held = job('PENDING', {held: true, why_word: 'JobHeldUser', why: 'is held by a user', user: 'ren', name: 'maybe-later'});
  const jobs = [...runs, ...waits, held];

  const gpus = (node: string): Gpu[] => Array.from({length: 8}, (_, n) => {
    const own = runs.filter((each) => each.holds.some((hold) => hold.node === node && hold.gpus.includes(n))).map((each) => each.number);
    const broken = node === 'gpu-b' && n === 7;
    return {
      number: n, name: 'A100-80GB', in_service: !broken, ...(broken ? {trouble: 'Xid 79: fallen off the bus'} : {}), jobs: own,
      ...(broken ? {} : {use: own.length > 0 ? 0.45 + ((n * 37) % 50) / 100 : 0, memory_gb: own.length * 31, power_w: own.length > 0 ? 310 : 58}),
    };
  });
  const nodes: Node[] = ['gpu-a', 'gpu-b'].map((name) => ({
    name, vc: 'lab', drained: false, silent: false, cpus: 64, cpus_allocated: name === 'gpu-a' ? 34 : 44, memory_gb: 512, memory_allocated_gb: name === 'gpu-a' ? 210 : 340, gpus: gpus(name),
  }));

  const told = new Map<number, Told[]>();
  const notes = new Map<number, Note[]>();
  for (const each of [...jobs, ...ended]) {
    const begin = each.start_s ?? each.submit_s + 2400;
    told.set(each.number, [{
      at_s: each.submit_s, policy: 'qssf', start_from_s: begin - 600, start_to_s: begin + 900, end_from_s: begin + 900, end_to_s: begin + 7200, share: 0.9,
      ...(each.deadline_s === undefined ? {} : {deadline_probability: 0.8}),
    }]);
    notes.set(each.number, [
      {at_s: each.submit_s, what: 'submitted'},
      ...(each.start_s === undefined ? [] : [{at_s: each.start_s, what: 'started', detail: 'on gpu-a, GPUs 0-3'}]),
      ...(each.end_s === undefined ? [] : [{at_s: each.end_s, what: 'ended', detail: each.reason ?? 'exit 0'}]),
    ]);
  }
  const log = `${Array.from({length: 60}, (_, n) => `step ${n * 50}  loss ${(3.2 * Math.exp(-n / 30)).toFixed(4)}  \u001b[32m${312 + (n % 9)} samples/s\u001b[0m`).join('\n')}\n` +
    'epoch 3:  10%\repoch 3:  55%\repoch 3: 100%\n<script>alert(1)</script>\n';
  const logs = new Map(jobs.filter((each) => each.start_s !== undefined).map((each) => [each.number, log]));

  const moments = Array.from({length: 1440}, (_, n): Moment => {
    const busy = Math.round(9 + 5 * Math.sin(n / 160) + 2 * Math.sin(n / 23));
    return {at_s: now - (1440 - n) * 60, gpus: 16, gpus_busy: Math.max(0, Math.min(16, busy)), jobs_running: Math.max(1, busy - 3), jobs_waiting: Math.max(0, Math.round(20 + 18 * Math.sin(n / 300))), gpu_use: Math.max(0, busy / 16 - 0.12), power_w: 900 + busy * 240, power_is_measured: true};
  });
  const figures = (wait: number): Figures => ({jobs: 412, avg_wait_s: wait, p99_wait_s: wait * 31, avg_jct_s: wait + 4100, p99_jct_s: wait * 31 + 60000, preemptions: 0, guarantee: 0.94});
  // Rungs at 10, 40 and 160 steps: at each the better part goes on.
  const sweep: Sweep = {name: 'mnist', smaller_is_better: false, trials: Array.from({length: 16}, (_, n) => {
    const reach = n === 0 ? 480 : n < 3 ? 640 : n < 6 ? 160 : n < 11 ? 40 : n < 14 ? 10 : 0;
    const top = 0.97 - 0.028 * n;
    const reports = [10, 20, 40, 80, 160, 320, 480, 640].filter((step) => step <= reach)
      .map((step): [number, number] => [step, Math.round(1e4 * top * (1 - 0.6 / Math.sqrt(step))) / 1e4]);
    const state = n === 0 ? 'RUNNING' : n < 3 ? 'COMPLETED' : n >= 14 ? 'PENDING' : 'CANCELLED';
    const last = reports[reports.length - 1];
    return {
      job: job(state, {
        name: `mnist-${n + 1}`, user: 'ada', group: 'mnist', steps: 640, parameters: [`lr=${(0.1 * 0.7 ** n).toPrecision(3)}`, `batch=${n % 2 ? 64 : 128}`, `optimizer=${n % 3 ? 'adam' : 'sgd'}`],
        attained_s: 6 * reach, ...(state === 'CANCELLED' ? {reason: 'ended by the policy'} : {}), ...(last ? {step: last[0], metric: last[1], metric_step: last[0]} : {}),
      }),
      reports, ...(last ? {best: last[1], best_step: last[0]} : {}),
    };
  })};
  return {
    overview: {
      revision: 100, now_s: now, started_s: now - 86400 * 3 - 4000, policy: 'qssf', shadow: 'fifo', waiting, held: 1, running: runs.length, gpus: 16, gpus_busy: 13, gpu_share_busy: 12.75,
      power_w: 4120, power_is_measured: true, warnings: ['memory is watched each second and not limited: the cgroup memory controller is not delegated'],
    },
    nodes, jobs, ended, notes, told, logs, moments, tenancy: makeTenancy(now), sweep,
    policies: [
      {name: 'fifo', summary: 'In order of submission.', source: ''},
      {name: 'qssf', summary: 'The job that is expected to take the least GPU time first.', source: 'Helios (SC 2021), section 4.2'},
      {name: 'sjf', summary: 'The shortest job first, if run times were known.', source: ''},
      {name: 'tiresias', summary: 'Least attained service in two queues, with preemption.', source: 'Tiresias (NSDI 2019), section 4'},
      {name: 'coda', summary: 'CPUs by what each job can use; slows those that disturb others.', source: 'CODA (ICDCS 2020), section V'},
    ],
    comparison: {at_s: now - 240, since_s: now - 7 * 86400, policy: 'qssf', shadow: 'fifo', actual: figures(431), active_simulated: figures(402), shadow_simulated: figures(1310)},
  };
}

/** A lab of two groups, and guests, who had what one of them did not ask. */
function makeTenancy(now: number): Tenancy {
  const day = 86400;
  const tenant = (name: string, guarantee: number, had: number, due: number, own: Partial<Tenant> = {}): Tenant => ({
    name, guarantee, running: 2, waiting: 5, gpus_allocated: 4, gpus_waiting: 11, used_gpu_s: had * 3600, fair_share_gpu_s: due * 3600, lent_gpu_s: 0, borrowed_gpu_s: 0,
    finish_time_ratio: 1.2, use_gpu_s: had * 2900, ...own,
  });
  return {
    by_tenant: true, from_s: now - 7 * day, to_s: now, half_life_s: 7 * day, share_error: 0.083, jain_fair_share: 0.94, avg_finish_time_ratio: 1.31, unfair_jobs: 0.22, worst: 'speech', worst_fair_share: 0.71,
    tenants: [
      tenant('lab', 12, 1240, 1391, {gpus_allocated: 9}),
      tenant('vision', 8, 880, 884, {parent: 'lab', lent_gpu_s: 310 * 3600}),
      tenant('speech', 4, 360, 507, {parent: 'lab', gpus_waiting: 16}),
      tenant('guests', 4, 760.4, 609, {borrowed_gpu_s: 310 * 3600, limit: 8}),
      tenant('', 0, 3.2, 0),
    ],
    loans: [{from: 'vision', to: 'guests', gpu_s: 310 * 3600}],
  };
}

/** The same machine as a Slurm that is steered: levers of all kinds, a canary that does well. */
export function makeSlurm(waiting: number): World {
  const world = makeWorld(waiting);
  world.overview.manager = 'slurm';
  world.manager = {
    name: 'slurm', cluster: 'helios', version: '22.05.8', connection: 'gateway', jobs_excluded: 3, decision_s: 0.0021, response_s: 0.034, changes_per_s: 400,
    levers: [
      {name: 'order', mode: 'on', changes_due: 12, next_changes: ['job 4231: site_factor 0 -> 500, place 1 of 24 in v100 under qssf'], changes_made: 1840, changes_failed: 2, changes_refused: 31},
      {name: 'placement', mode: 'dry', changes_due: 4, next_changes: ['job 4240: on gpu-a, place 2 of 24 in v100 under qssf'], changes_made: 0, changes_failed: 0, changes_refused: 0},
      {name: 'power', mode: 'on', paused_reason: 'Slurm has no SuspendProgram', changes_due: 0, next_changes: [], changes_made: 0, changes_failed: 0, changes_refused: 0},
      {name: 'preemption', mode: 'off', changes_due: 0, next_changes: [], changes_made: 0, changes_failed: 0, changes_refused: 0},
    ],
    canary: {partitions: ['v100'], jobs_waited: 210, jobs_ended: 180, window_s: 21600, avg_wait_s: 340, failed_fraction: 0.05, max_avg_wait_s: 900, max_failed_fraction: 0.14},
    agents: [{node: 'gpu-a', load: 31.4, cpu_pressure: 0.04, memory_pressure: 0, jobs: 4, jobs_confined: 1}],
  };
  return world;
}

/** Forty nodes of eight GPUs in two virtual clusters, one of them drained, one GPU broken. */
export function makeWide(waiting: number): World {
  const world = makeWorld(waiting);
  const [first] = world.nodes as [Node];
  world.nodes = Array.from({length: 40}, (_, n): Node => ({
    ...first, name: n === 0 ? first.name : `gpu-${n}`, vc: n < 24 ? 'vision' : 'speech', drained: n === 7, silent: false,
    gpus: n === 0 ? first.gpus : first.gpus.map((gpu, m) => ({number: gpu.number, name: gpu.name, in_service: n !== 9 || m !== 2, jobs: []})),
  }));
  world.overview.gpus = 319;
  return world;
}
