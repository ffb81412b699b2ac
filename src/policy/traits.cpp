// SPDX-License-Identifier: Apache-2.0
#include "policy/traits.h"

namespace almanac::policy {

std::string_view clause(Trait trait) {
  switch (trait) {
    case Trait::reads_run_times:
      return "believes how long jobs run";
    case Trait::told_truth:
      return "uses true run times";
    case Trait::reads_predictions:
      return "reads the column predicted_s";
    case Trait::reads_model:
      return "can begin with a trained model";
    case Trait::reads_deadlines:
      return "reads deadlines";
    case Trait::reads_tenants:
      return "reads the guarantees of tenants";
    case Trait::reads_speeds:
      return "reads how fast jobs run with what";
    case Trait::reads_training:
      return "reads what jobs tell of their training";
    case Trait::reads_groups:
      return "compares the trials of a sweep";
    case Trait::reads_signals:
      return "reads a signal, such as the price of power";
    case Trait::stops_jobs:
      return "stops running jobs";
    case Trait::moves_jobs:
      return "moves running jobs";
    case Trait::resizes_jobs:
      return "gives running jobs another number of GPUs";
    case Trait::chooses_gpus:
      return "chooses how many GPUs a job has";
    case Trait::chooses_cores:
      return "chooses the cores and memory that a job starts with";
    case Trait::gives_cores:
      return "gives running jobs more cores";
    case Trait::shares_gpus:
      return "runs two jobs on the same GPUs";
    case Trait::yields_gpus:
      return "holds jobs to what others leave of their GPUs";
    case Trait::sleeps_nodes:
      return "turns nodes off";
    case Trait::ends_trials:
      return "ends trials of a sweep before they are done";
    case Trait::limits_power:
      return "sets the power limit of a job's GPUs";
    case Trait::paces_traffic:
      return "says when jobs send, or how fast they read";
    case Trait::leases:
      return "decides in leases";
    case Trait::deals_out:
      return "deals out all jobs of a lease together";
    case Trait::reserves:
      return "keeps reservations";
    case Trait::remembers:
      return "sets GPUs of coming leases aside";
    case Trait::keeps_line:
      return "lets no job pass one that cannot be placed";
    case Trait::splits_queue:
      return "keeps several queues";
    case Trait::parts_cluster:
      return "keeps parts of the cluster for kinds of jobs";
    case Trait::splits_nodes:
      return "keeps each job in a part of the nodes";
    case Trait::lets_join:
      return "lets a job that finds no place join another";
    case Trait::revises_waiting:
      return "revises how many GPUs a waiting job is to have";
    case Trait::ranks_late_apart:
      return "ranks jobs that are late behind all others";
    case Trait::count:
      break;
  }
  return "";
}

}  // namespace almanac::policy
