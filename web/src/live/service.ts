// SPDX-License-Identifier: Apache-2.0
// Answers of the service, as its OpenAPI document (/openapi.json) describes them. Times are seconds since 1970.

export interface Overview {
  revision: number;
  now_s: number;
  started_s: number;
  policy: string;
  shadow?: string;
  /** Workload manager that is steered, "slurm" or "kubernetes"; absent = the service runs jobs itself. */
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
  /** Utilization, 0 to 1; this and the next two are absent if not measured. */
  use?: number;
  memory_gb?: number;
  power_w?: number;
}

export interface Node {
  name: string;
  vc: string;
  drained: boolean;
  /** Its box does not report. */
  silent: boolean;
  cpus: number;
  cpus_allocated: number;
  memory_gb: number;
  memory_allocated_gb: number;
  gpus: Gpu[];
}

export type State = 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMEOUT' | 'NODE_FAIL';

/** 90 % intervals; a time that may never come is absent. */
export interface Expected {
  at_s: number;
  start_from_s?: number;
  start_to_s?: number;
  start_by_s?: number;
  end_from_s?: number;
  end_to_s?: number;
  end_by_s?: number;
  deadline_probability?: number;
  /** Forecasts with other numbers of GPUs; always in GET /v1/jobs/{number}/forecast. */
  with_other_gpus?: WithGpus[];
}

export interface WithGpus {
  gpus: number;
  end_by_s?: number;
  deadline_probability?: number;
}

/** Modelled speed of a job with its allocation: the product of the factors is the rate. */
export interface Speed {
  /** Speed model used for the job. */
  model: string;
  /** 1 = with the requested resources, on the fewest nodes, alone, without a power limit. */
  rate: number;
  gpus: number;
  type: number;
  neighbours: number;
  cpus: number;
  memory: number;
  power: number;
  /** Not a factor: the fraction of the time in which the GPUs do not wait for data. */
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
  /** "17", or "12_3" for a task of an array. */
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
  /** Start of the current run or wait. */
  since_s: number;
  start_s?: number;
  end_s?: number;
  attained_s: number;
  attempts: number;
  preemptions: number;
  /** Energy of its GPUs over all runs: measured by the driver, and modelled for the rest. */
  energy_measured_j: number;
  energy_modelled_j: number;
  /** Bytes of output that the log lacks. */
  lost_output_bytes?: number;
  exit_status?: number;
  signal?: number;
  reason?: string;
  why?: string;
  why_word?: string;
  /** Place in the queue, from 1. */
  place?: number;
  predicted_run_time_s?: number;
  gpu_use?: number;
  steps?: number;
  /** Training progress that the job reported. */
  step?: number;
  metric?: number;
  metric_step?: number;
  cpu_use?: number;
  memory_used_gb?: number;
  limits_by?: string;
  /** Only in GET /v1/jobs/{number}, while the job runs and its model is known. */
  speed?: Speed;
  /** Socket of the job's terminal, to which its user can attach. */
  terminal?: string;
  expected?: Expected;
  array?: {number: number; index: number; at_once: number};
  holds: Hold[];
}

export interface Jobs {
  revision: number;
  jobs: Job[];
  /** There are more jobs: request those after (in the history: below) this number. */
  next?: number;
}

export interface SweepCount {
  name: string;
  user: string;
  trials: number;
  waiting: number;
  running: number;
  first_submit_s: number;
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
  /** Best trial first. */
  trials: Trial[];
}

export interface Note {
  at_s: number;
  what: string;
  detail?: string;
}

/** A forecast given for a job. */
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
  /** false = by a model; absent if not recorded. */
  power_is_measured?: boolean;
}

/** A tenant with its subtenants, or a user, over the period. */
export interface Tenant {
  /** '' = all jobs without a tenant. */
  name: string;
  parent?: string;
  /** GPUs; a user has none. */
  guarantee?: number;
  /** Limit on GPUs; missing = none. */
  limit?: number;
  running: number;
  waiting: number;
  gpus_allocated: number;
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
  /** Source of the usage figures; absent = the service. */
  usage_source?: string;
  share_error: number;
  jain_fair_share?: number;
  avg_finish_time_ratio?: number;
  unfair_jobs?: number;
  worst?: string;
  worst_fair_share: number;
  /** A tenant comes before its subtenants. */
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

/** What happened, and two simulations of the same jobs. */
export interface Comparison {
  at_s: number;
  since_s: number;
  policy: string;
  shadow: string;
  actual: Figures;
  active_simulated: Figures;
  shadow_simulated: Figures;
}

export interface Shadow {
  policy: string;
  comparison?: Comparison;
}

/** A kind of change that may be made to the steered workload manager. */
export interface Lever {
  name: string;
  /** Dry = only reports. */
  mode: 'on' | 'dry' | 'off';
  /** Why it is paused although it is on. */
  paused_reason?: string;
  changes_due: number;
  /** The first changes due, in words. */
  next_changes: string[];
  /** This and the next two since the service started. */
  changes_made: number;
  changes_failed: number;
  changes_refused: number;
}

/** The part of the cluster on which levers are tested: what is measured, and the largest expected values. */
export interface Canary {
  partitions: string[];
  /** Why there is nothing to compare with yet. */
  waiting_reason?: string;
  /** Why all changes were rolled back. */
  rollback_reason?: string;
  jobs_waited: number;
  jobs_ended: number;
  window_s: number;
  avg_wait_s: number;
  failed_fraction: number;
  max_avg_wait_s?: number;
  max_failed_fraction?: number;
}

/** The last report of a node's agent; pressures are fractions of the time. */
export interface Agent {
  node: string;
  load: number;
  cpu_pressure?: number;
  memory_pressure?: number;
  io_pressure?: number;
  bandwidth_gbs?: number;
  jobs: number;
  /** Jobs limited to fewer cores than Slurm allocated. */
  jobs_confined: number;
}

export interface Manager {
  name: string;
  cluster: string;
  version: string;
  connection: string;
  /** Why it does not answer. */
  error?: string;
  jobs_excluded: number;
  decision_s: number;
  response_s: number;
  changes_per_s: number;
  levers: Lever[];
  canary?: Canary;
  agents: Agent[];
}
