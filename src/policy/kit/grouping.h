// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of packings in which jobs that request whole GPUs share them in groups, and a job that
/// would have to wait looks for a group to join. A subclass rates a join; this class does the rest.
///
/// Jobs that state their GPU memory share a GPU only if it holds all of them; jobs that do not
/// state it count as 0. A guest requests as many GPUs as its hosts hold, and gets exactly those,
/// with cores and memory of its own. Each of n jobs of a group holds 1/n of its GPUs. When one ends
/// or stops, the others divide its part; the last one has the GPUs to itself again.
///
/// Cost     If a job finds no place: merit() for each group with the same number of GPUs and room.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/contract/host.h"
#include "policy/kit/desk.h"

namespace almanac::policy {

/// A guest, and the hosts that it might join.
struct Join {
  std::span<const JobId> hosts{};  ///< The first has held the GPUs longest.
  JobId guest{};
  std::span<const cluster::Grant> grants{};  ///< What the guest would hold.
};

class Grouping : public Packing {
 public:
  /// An empty `may_share` lets all jobs share. At most `most` jobs share a GPU, 2 or more.
  Grouping(Desk& desk, MayShare may_share, int most)
      : desk_(desk), may_share_(std::move(may_share)), most_(static_cast<std::size_t>(most)) {}

  std::span<const cluster::Grant> join(VcId vc, JobId guest) final;
  bool is_paired(JobId job) const final { return groups_.contains(job); }
  void started(JobId job) final;
  void ended(JobId job) final;

 protected:
  /// Returns how good a join is, larger is better, or nothing to forbid it. Among equals, the group
  /// whose host came first is taken.
  virtual std::optional<double> merit(const Join& join) const = 0;
  /// Whether enough is known to let jobs share.
  virtual bool is_informed() const { return desk_.view().speeds != nullptr; }
  /// Called after a guest has joined.
  virtual void joined(const Join& join) { static_cast<void>(join); }
  /// Called before one of the jobs of a group leaves.
  virtual void parting(std::span<const JobId> jobs) { static_cast<void>(jobs); }

  /// Returns the jobs that share GPUs with a job, including itself; empty if it has them to itself.
  std::span<const JobId> group(JobId job) const;
  /// Stops a guest; its hosts divide what it held.
  void split_off(VcState& vc, JobId guest);
  /// Returns the predicted speed of a job that holds `held`, next to others, relative to alone.
  /// Requires View::speeds.
  double relative_speed(JobId job, std::span<const cluster::Grant> held,
                        std::span<const JobId> beside) const;
  /// Returns that speed of each job of a group with the guest, which is last.
  std::vector<double> relative_speeds(const Join& join) const;

  Desk& desk_;

 private:
  using Key = std::pair<VcId, int>;  // virtual cluster, GPUs held
  using Group = std::vector<JobId>;
  struct Match {
    JobId host{};
    double merit = 0;
    std::vector<cluster::Grant> grants{};
  };

  Key key(JobId job, std::span<const cluster::Grant> held) const;
  std::optional<Match> best_match(VcId vc, JobId guest, const cluster::Demand& demand) const;
  std::optional<Match> match(JobId host, JobId guest, const cluster::Demand& demand) const;
  /// Returns grants like those of the host with the cores and memory of `demand`; empty without
  /// room.
  std::vector<cluster::Grant> beside(std::span<const cluster::Grant> host, std::int32_t gpu_milli,
                                     const cluster::Demand& demand) const;
  /// Whether jobs may join: the host is not a guest itself, and its group is not full.
  bool is_open(JobId host) const;
  /// Whether a job runs after the plan so far.
  bool will_run(JobId job) const;
  /// Divides the GPUs among the remaining jobs.
  void divide(const Group& left);

  MayShare may_share_;
  std::size_t most_;
  std::map<Key, std::set<JobId>> hosts_;  // hosts that are open, and run before this plan
  std::unordered_map<JobId, std::shared_ptr<Group>> groups_;  // of two jobs or more
  std::vector<cluster::Grant> taken_;
};

}  // namespace almanac::policy
