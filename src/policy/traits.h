// SPDX-License-Identifier: Apache-2.0

/// \file
/// Properties of a choice: what it needs of a log and of its host, what it does to jobs, and what
/// it is incompatible with. Conflicts between choices and descriptions of policies are derived only
/// from this.
#pragma once

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace almanac::policy {

enum class Trait : std::uint8_t {
  // What it reads.
  reads_run_times,    ///< Reads the estimate of run times.
  told_truth,         ///< Knows true run times, which only a simulation of the past can.
  reads_predictions,  ///< Reads the log's column predicted_s.
  reads_model,        ///< Can start with a model of `almanac predict train`.
  reads_deadlines,    ///< Only has an effect if jobs have deadlines.
  reads_tenants,      ///< Only has an effect if the cluster has tenants.
  reads_speeds,       ///< Only has an effect if speeds of jobs are known.
  reads_training,     ///< Only has an effect if jobs report their training.
  reads_groups,       ///< Only has an effect if jobs are trials of sweeps.
  reads_signals,      ///< Only has an effect if there is a price or another signal.
  reads_site,         ///< Takes its settings from the Slurm site that the cluster is made from.
  reads_queues,       ///< Takes its queues and quotas from the objects of a Kueue cluster.
  // What it does to jobs.
  stops_jobs,     ///< Preempts: stops running jobs, which continue later.
  stops_marked,   ///< Stops running jobs of which user or operator says that they may be stopped.
  moves_jobs,     ///< Moves running jobs to other GPUs.
  resizes_jobs,   ///< Changes the number of GPUs of running jobs.
  chooses_gpus,   ///< Chooses how many GPUs an elastic job has.
  chooses_cores,  ///< Chooses cores and memory of jobs as they start.
  gives_cores,    ///< Gives running jobs more cores, or takes some.
  shares_gpus,    ///< Runs two jobs that request whole GPUs on the same ones.
  yields_gpus,    ///< Lets jobs use only what others leave of their GPUs.
  sleeps_nodes,   ///< Powers nodes down.
  ends_trials,    ///< Ends trials of a sweep early.
  limits_power,   ///< Sets the power limit of a job's GPUs.
  paces_traffic,  ///< Decides when jobs send over links, or what they read through which cache.
  // How it goes through a queue.
  leases,            ///< Decides at fixed intervals: rounds.
  deals_out,         ///< Chooses for all GPU jobs of a lease together.
  reserves,          ///< Keeps reservations: jobs that pass a blocked job do not delay it.
  remembers,         ///< Reserves GPUs of coming leases for accepted deadlines.
  keeps_line,        ///< Lets no job pass one that cannot be placed.
  splits_queue,      ///< Keeps a queue per user, model or kind of job.
  parts_cluster,     ///< Keeps parts of the cluster for kinds of jobs.
  splits_nodes,      ///< Has a policy per part of the nodes, and keeps each job in its part.
  lets_join,         ///< Lets a job that finds no place join another, if the packing does.
  revises_waiting,   ///< May change the number of GPUs of a waiting job at any time.
  ranks_late_apart,  ///< Ranks jobs that can no longer be in time behind all others.
  count              // how many there are
};

/// Returns what a choice with this trait does, as in "stops running jobs", for a sentence.
std::string_view clause(Trait trait);

class TraitSet {
 public:
  TraitSet() = default;
  TraitSet(std::initializer_list<Trait> traits) {
    for (const Trait trait : traits) bits_.set(static_cast<std::size_t>(trait));
  }
  bool has(Trait trait) const { return bits_[static_cast<std::size_t>(trait)]; }
  bool any_of(const TraitSet& other) const { return (bits_ & other.bits_).any(); }
  bool empty() const { return bits_.none(); }
  void add(const TraitSet& other) { bits_ |= other.bits_; }
  void remove(const TraitSet& other) { bits_ &= ~other.bits_; }
  template <typename Do>
  void each(Do&& act) const {
    for (std::size_t at = 0; at < bits_.size(); ++at) {
      if (bits_[at]) act(static_cast<Trait>(at));
    }
  }

 private:
  std::bitset<static_cast<std::size_t>(Trait::count)> bits_;
};

struct Traits {
  TraitSet has{};
  TraitSet needs{};  ///< For each of these, a choice of another slot must have it.
  TraitSet bars{};   ///< No choice of another slot may have any of these.
};

}  // namespace almanac::policy
