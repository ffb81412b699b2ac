// SPDX-License-Identifier: Apache-2.0
// What the service says, as its OpenAPI document (/openapi.json) has it. Times are epoch seconds.

export interface Overview {
  revision: number;
  now_s: number;
  started_s: number;
  policy: string;
  shadow?: string;
  /** Whose cluster is steered: "slurm"; absent = the service runs jobs itself. */
  manager?: string;
  waiting: number;
  held: number;
  running: number;
  gpus: number;
  gpus_busy: number;
  gpu_share_busy: number;
  power_w?: number;
  power_is_measured: boolean;
  warnings: string[];
}

export interface Gpu {
  number: number;
  name: string;
  in_service: boolean;
  trouble?: string;
  jobs: number[];
  /** Measured, 0 to 1; this and the next two are absent where nothing measures them. */
  use?: number;
  memory_gb?: number;
  power_w?: number;
}

export interface Node {
  name: string;
  vc: string;
  drained: boolean;
  cpus: number;
  cpus_held: number;
  memory_gb: number;
  memory_held_gb: number;
  gpus: Gpu[];
}

export type State = 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMEOUT' | 'NODE_FAIL';

/** Each stretch holds in 9 futures of 10; an end that no future has is absent. */
export interface Expected {
  at_s: number;
  start_from_s?: number;
  start_to_s?: number;
  start_by_s?: number;
  end_from_s?: number;
  end_to_s?: number;
  end_by_s?: number;
  deadline_probability?: number;
  /** If it asked so many instead; only of GET /v1/jobs/{number}/forecast for sure. */
  with_other_gpus?: WithGpus[];
}

export interface WithGpus {
  gpus: number;
  end_by_s?: number;
  deadline_probability?: number;
}

/** How fast a job runs with what it holds, by its model: the product of the factors is the rate. */
export interface Pace {
  /** That it is taken for. */
  model: string;
  /** 1 = with what it asked, on the fewest nodes, alone, without a power limit. */
  rate: number;
  gpus: number;
  type: number;
  neighbours: number;
  cpus: number;
  memory: number;
  power: number;
  /** No factor: the share of its time in which its GPUs are not kept waiting for data. */
  computing: number;
}

export interface Hold {
  node: string;
  gpus: number[];
  /** Of each of them. */
  gpu_share: number;
  cpus: number;
  memory_gb: number;
}

export interface Job {
  /** "17", or "12_3" of a task of an array. */
  job_id: string;
  number: number;
  state: State;
  user: string;
  uid: number;
  name: string;
  vc?: string;
  qos?: string;
  account?: string;
  partition?: string;
  model?: string;
  group?: string;
  /** Of a trial: "lr=0.01". */
  parameters?: string[];
  smaller_is_better?: boolean;
  gpus: number;
  max_gpus?: number;
  gpu_share: number;
  gpu_type?: string;
  gpu_profile?: string;
  cpus?: number;
  memory_gb?: number;
  io_mbs?: number;
  time_limit_s?: number;
  deadline_s?: number;
  value?: number;
  argv?: string[];
  directory?: string;
  out?: string;
  err?: string;
  not_before_s?: number;
  after?: number[];
  after_ok?: number[];
  after_not_ok?: number[];
  after_start?: number[];
  after_one?: boolean;
  singleton?: boolean;
  pty?: boolean;
  endless?: boolean;
  requeue?: boolean;
  submit_s: number;
  held: boolean;
  /** When the present run, or wait, began. */
  since_s: number;
  start_s?: number;
  end_s?: number;
  attained_s: number;
  attempts: number;
  preemptions: number;
  /** Of its GPUs in all its runs: as the driver told, and by the model where none did. */
  energy_measured_j: number;
  energy_modelled_j: number;
  exit_status?: number;
  signal?: number;
  reason?: string;
  why?: string;
  why_word?: string;
  /** Among the jobs that wait, from 1. */
  place?: number;
  believed_s?: number;
  gpu_use?: number;
  steps?: number;
  /** What it says of its training. */
  step?: number;
  metric?: number;
  metric_step?: number;
  cpu_use?: number;
  memory_used_gb?: number;
  limits_by?: string;
  /** Only of GET /v1/jobs/{number}, while it runs and its name is that of a model. */
  pace?: Pace;
  /** Where its user attaches to a job that runs on a terminal. */
  terminal?: string;
  expected?: Expected;
  array?: {number: number; index: number; at_once: number};
  holds: Hold[];
}

export interface Jobs {
  revision: number;
  jobs: Job[];
  /** More are there: ask for those after (of history: below) this number. */
  next?: number;
}

export interface SweepCount {
  name: string;
  user: string;
  trials: number;
  waiting: number;
  running: number;
  begun_s: number;
}

export interface Trial {
  job: Job;
  /** Metric, and the step of it; absent: none was reported. */
  best?: number;
  best_step?: number;
  /** Step and metric, in order of the step. */
  reports: [number, number][];
}

export interface Sweep {
  name: string;
  smaller_is_better: boolean;
  /** The best first. */
  trials: Trial[];
}

export interface Note {
  at_s: number;
  what: string;
  detail?: string;
}

/** What a job was told when it came. */
export interface Told {
  at_s: number;
  policy: string;
  start_from_s?: number;
  start_to_s?: number;
  end_from_s?: number;
  end_to_s?: number;
  share: number;
  deadline_probability?: number;
}

export interface Moment {
  at_s: number;
  gpus: number;
  gpus_busy: number;
  jobs_running: number;
  jobs_waiting: number;
  gpu_use?: number;
  power_w?: number;
  /** Else by the model; absent where that was not kept. */
  power_is_measured?: boolean;
}

/** A tenant with all below it, or a user, over the time of the dues. */
export interface Tenant {
  /** '' = all jobs of no tenant. */
  name: string;
  parent?: string;
  /** GPUs; a user has none. */
  guarantee?: number;
  /** GPUs that it may hold at most; missing = it has none. */
  limit?: number;
  running: number;
  waiting: number;
  gpus_held: number;
  gpus_waiting: number;
  used_gpu_s: number;
  fair_share_gpu_s: number;
  lent_gpu_s: number;
  borrowed_gpu_s: number;
  finish_time_ratio?: number;
  use_gpu_s: number;
}

export interface Tenancy {
  by_tenant: boolean;
  from_s: number;
  to_s: number;
  half_life_s: number;
  /** Whose word the use is. */
  use_by?: string;
  share_error: number;
  jain_fair_share?: number;
  avg_finish_time_ratio?: number;
  unfair_jobs?: number;
  worst?: string;
  worst_fair_share: number;
  /** A tenant before those below it. */
  tenants: Tenant[];
  loans: {from: string; to: string; gpu_s: number}[];
}

export interface Policy {
  name: string;
  summary: string;
  source: string;
}

export interface Figures {
  jobs: number;
  avg_wait_s: number;
  p99_wait_s: number;
  avg_jct_s: number;
  p99_jct_s: number;
  preemptions: number;
  guarantee?: number;
}

/** The last days as they were, as played under the same policy, and as played under the other. */
export interface Comparison {
  at_s: number;
  since_s: number;
  policy: string;
  shadow: string;
  real: Figures;
  played: Figures;
  other: Figures;
}

export interface Shadow {
  policy: string;
  comparison?: Comparison;
}

/** One kind of thing that may be done to the manager whose cluster is steered. */
export interface Lever {
  name: string;
  /** Dry = only said. */
  how: 'on' | 'dry' | 'off';
  /** Why it does nothing although it is on. */
  rests?: string;
  wanted: number;
  /** The first of what is wanted, in words. */
  next: string[];
  /** This and the next two since the service started. */
  done: number;
  failed: number;
  refused: number;
}

/** The part that levers are tried on: what is seen there, and the most that is expected. */
export interface Canary {
  partitions: string[];
  /** Why nothing is known yet to compare with. */
  rests?: string;
  /** Why all was taken back. */
  retreat?: string;
  waits: number;
  ended: number;
  window_s: number;
  wait_s: number;
  failed: number;
  most_wait_s?: number;
  most_failed?: number;
}

/** What the agent of a node says; pressures are shares of the time. */
export interface Agent {
  node: string;
  load: number;
  cpu_pressure?: number;
  memory_pressure?: number;
  io_pressure?: number;
  bandwidth_gbs?: number;
  jobs: number;
  /** Of them, to fewer cores than they were given. */
  held: number;
}

export interface Manager {
  name: string;
  cluster: string;
  version: string;
  way: string;
  /** Why it does not answer. */
  trouble?: string;
  excluded: number;
  round_s: number;
  news_s: number;
  changes_per_s: number;
  levers: Lever[];
  canary?: Canary;
  agents: Agent[];
}
