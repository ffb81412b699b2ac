// SPDX-License-Identifier: Apache-2.0
#include "policy/traits.h"

namespace almanac::policy {

std::string_view clause(Trait trait) {
  switch (trait) {
    case Trait::reads_run_times:
      return "uses predicted run times";
    case Trait::told_truth:
      return "uses true run times";
    case Trait::reads_predictions:
      return "uses the column predicted_s";
    case Trait::reads_model:
      return "can start with a trained model";
    case Trait::reads_deadlines:
      return "uses deadlines";
    case Trait::reads_tenants:
      return "uses tenants' guarantees";
    case Trait::reads_speeds:
      return "uses speed profiles";
    case Trait::reads_training:
      return "uses what jobs report about their training";
    case Trait::reads_groups:
      return "compares the trials of a sweep";
    case Trait::reads_signals:
      return "uses a signal, such as the price of power";
    case Trait::reads_site:
      return "uses the settings of the Slurm site";
    case Trait::reads_queues:
      return "uses the queues of a Kueue cluster";
    case Trait::stops_jobs:
      return "preempts running jobs";
    case Trait::stops_marked:
      return "preempts running jobs that may be stopped";
    case Trait::moves_jobs:
      return "moves running jobs";
    case Trait::resizes_jobs:
      return "resizes running jobs";
    case Trait::chooses_gpus:
      return "chooses the number of GPUs of jobs that leave it open";
    case Trait::chooses_cores:
      return "chooses the cores and memory that a job starts with";
    case Trait::gives_cores:
      return "gives running jobs more cores";
    case Trait::shares_gpus:
      return "runs several jobs on the same GPUs";
    case Trait::yields_gpus:
      return "limits jobs to the GPU time that others leave";
    case Trait::sleeps_nodes:
      return "powers nodes down";
    case Trait::ends_trials:
      return "ends trials of a sweep early";
    case Trait::limits_power:
      return "sets the power limit of a job's GPUs";
    case Trait::paces_traffic:
      return "controls when jobs send, or how fast they read";
    case Trait::leases:
      return "decides in leases";
    case Trait::deals_out:
      return "reallocates all GPUs at every lease";
    case Trait::reserves:
      return "keeps reservations";
    case Trait::remembers:
      return "reserves GPUs in future leases";
    case Trait::keeps_line:
      return "lets the first job that does not fit block all others";
    case Trait::splits_queue:
      return "keeps several queues";
    case Trait::parts_cluster:
      return "reserves parts of the cluster for kinds of jobs";
    case Trait::splits_nodes:
      return "keeps each job within one part of the nodes";
    case Trait::lets_join:
      return "lets blocked jobs join others where the packing shares GPUs";
    case Trait::revises_waiting:
      return "changes how many GPUs a waiting job will get";
    case Trait::ranks_late_apart:
      return "ranks late jobs behind all others";
    case Trait::count:
      break;
  }
  return "";
}

}  // namespace almanac::policy
