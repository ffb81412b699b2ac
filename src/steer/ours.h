// SPDX-License-Identifier: Apache-2.0

/// \file
/// What stands of all that Almanac did to a Slurm: what there is to undo, and by which it is seen
/// that somebody else turns the same screws.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "steer/journal.h"
#include "steer/mirror.h"

namespace almanac::steer {

/// Not thread-safe.
class Ours {
 public:
  /// Takes entries as Journal::Take does: in the order in which they were done. What may have been
  /// done counts as done, what may have been taken back does not.
  void take(const Entry& entry, const Failure& failed);
  /// A job that has ended needs no undoing. One that runs may yet be requeued.
  void forget_gone(const Mirror& mirror);
  /// Jobs that have a site factor or priority by now that we never gave them, and did not have
  /// before; each is told once, and is not ours from then on.
  std::vector<slurm::JobNumber> taken_over(const Mirror& mirror);

  /// What brings back what was: of jobs that still wait, and are as we left them; nodes that we
  /// have powered off are powered on, jobs that we have suspended resume, and those that we hold
  /// to fewer cores have all.
  std::vector<Entry> undoing(const Mirror& mirror) const;
  /// All of it, so that taking these entries makes the same.
  std::vector<Entry> standing(Time at) const;

  /// Nodes that we have powered off, and that are not on yet.
  std::vector<std::string> asleep(const Mirror& mirror) const;
  /// Since when a job is suspended by us; kNoTime = it is not.
  Time suspended_at(slurm::JobNumber job) const;
  /// Whether the nodes that a marked job asks for are those that we chose for it. Without a journal
  /// that tells they are, but for one that we hold: then it asks for none of ours.
  bool chose_nodes_of(const slurm::Job& job) const;
  /// What leaves a waiting job to Slurm as if it had never been marked; nothing where it is not.
  std::optional<slurm::JobChange> without_mark(const slurm::Job& job) const;
  /// The shards of each node that it asked before we changed that; what it asks now where we did
  /// not, or somebody else has since.
  int asked_shards(const slurm::Job& job) const;

  /// Whether an administrator has given a waiting job its priority: Slurm heeds no site factor
  /// then, and forgets that priority when the job is held.
  bool has_own_priority(const slurm::Job& job) const;

  /// Jobs that we hold to fewer cores than Slurm gave them.
  const std::map<slurm::JobNumber, std::map<std::string, double>>& cores() const { return cores_; }

  /// Jobs that are not as they would be without us.
  std::size_t jobs() const { return jobs_.size(); }
  std::size_t nodes_off() const { return nodes_off_.size(); }

 private:
  struct Standing {
    slurm::JobChange was{};
    slurm::JobChange becomes{};
    std::set<std::int64_t> numbers{};  // that it may rightly have
    std::set<std::string> nodes{};     // the same
  };

  std::map<slurm::JobNumber, Standing> jobs_;
  std::set<slurm::JobNumber> undone_;   // since there was news
  std::set<std::string> weighed_back_;  // the same, of nodes
  struct Sleep {
    Time off{};         // when that was asked
    Time on = kNoTime;  // the same, last
  };
  std::map<slurm::JobNumber, Time> suspended_;
  std::map<slurm::JobNumber, std::map<std::string, double>> cores_;
  std::map<std::string, Sleep> nodes_off_;
};

/// Those fields of the job that `change` would change.
slurm::JobChange as_it_is(const slurm::Job& job, const slurm::JobChange& change,
                          bool priority_is_basic);

}  // namespace almanac::steer
