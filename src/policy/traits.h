// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a choice says of itself: what it needs of a log and of its host, what it does to jobs, and
/// what it cannot stand beside. Conflicts between choices, and what is said of a policy, are
/// derived from this alone.
#pragma once

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace almanac::policy {

enum class Trait : std::uint8_t {
  // What it reads.
  reads_run_times,    ///< Believes how long jobs run: the estimate is asked.
  told_truth,         ///< Is told true run times, which only a simulation of the past can.
  reads_predictions,  ///< Reads the log's column predicted_s.
  reads_model,        ///< Can begin with a model of `almanac predict train`.
  reads_deadlines,    ///< Does something else only where jobs have deadlines.
  reads_tenants,      ///< Does something else only where the cluster has tenants.
  reads_speeds,       ///< Does something else only where it is known how fast jobs run with what.
  reads_training,     ///< Does something else only where jobs tell of their training.
  reads_groups,       ///< Does something else only where jobs are trials of sweeps.
  reads_signals,      ///< Does something else only where a price or another signal is told.
  // What it does to jobs.
  stops_jobs,     ///< Preempts: stops running jobs, which go on later.
  stops_marked,   ///< Stops running jobs of which user or operator says that they may be stopped.
  moves_jobs,     ///< Moves running jobs to other GPUs.
  resizes_jobs,   ///< Gives running jobs another number of GPUs.
  chooses_gpus,   ///< Chooses how many GPUs a job has, where the job leaves that open.
  chooses_cores,  ///< Chooses cores and memory of jobs as they start.
  gives_cores,    ///< Gives running jobs more cores, or takes some.
  shares_gpus,    ///< Runs two jobs that ask whole GPUs on the same ones.
  yields_gpus,    ///< Lets jobs run only in what others leave of their GPUs.
  sleeps_nodes,   ///< Turns nodes off.
  ends_trials,    ///< Ends trials of a sweep before they are done.
  limits_power,   ///< Sets the power limit of a job's GPUs.
  paces_traffic,  ///< Says when jobs send over links, or what they read through which cache.
  // How it goes through a queue.
  leases,            ///< Decides at fixed intervals: rounds.
  deals_out,         ///< Deals out all GPU jobs of a lease together.
  reserves,          ///< Keeps reservations: a blocked job is not delayed by those that pass it.
  remembers,         ///< Sets GPUs of coming leases aside for deadlines that it has promised.
  keeps_line,        ///< Lets no job pass one that cannot be placed.
  splits_queue,      ///< Keeps a queue for each user, model or kind of job.
  parts_cluster,     ///< Keeps parts of the cluster for kinds of jobs.
  splits_nodes,      ///< Has a policy for each part of the nodes, and keeps each job in its part.
  lets_join,         ///< Lets a job that finds no place join another, if the packing does.
  revises_waiting,   ///< May give a waiting job another number of GPUs at any time.
  ranks_late_apart,  ///< Ranks jobs that can no longer be in time behind all others.
  count              // how many there are
};

/// "stops running jobs": what a choice with this trait does, for a sentence.
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
  TraitSet needs{};  ///< Of the choices of other slots one at least has each of these.
  TraitSet bars{};   ///< None of the choices of other slots has any of these.
};

}  // namespace almanac::policy
