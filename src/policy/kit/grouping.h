// SPDX-License-Identifier: Apache-2.0

/// \file
/// The frame of a packing: jobs that ask whole GPUs share the same ones in groups, and a job that
/// would have to wait looks for one to join. A packing says what a join is worth; the rest follows.
///
/// What follows: jobs that say what memory they need of a GPU share one only where it has as much
/// as all of them need; those that do not are taken to need none. A guest asks as many GPUs as its
/// hosts hold, and lies on just those, with cores and memory of its own. Of n jobs of a group each
/// holds an nth of its GPUs. When one ends or is stopped, the others divide its part; one that is
/// left has the GPUs to itself again.
///
/// Cost     Where a job finds no place: merit() for each group of as many GPUs that has room.
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
  std::span<const JobId> hosts{};  ///< The first has held the GPUs for longest.
  JobId guest{};
  std::span<const cluster::Grant> grants{};  ///< What the guest would hold.
};

class Grouping : public Packing {
 public:
  /// `may_share` empty = all jobs may; at most `most` jobs share a GPU, 2 or more.
  Grouping(Desk& desk, MayShare may_share, int most)
      : desk_(desk), may_share_(std::move(may_share)), most_(static_cast<std::size_t>(most)) {}

  std::span<const cluster::Grant> join(VcId vc, JobId guest) final;
  bool is_paired(JobId job) const final { return groups_.contains(job); }
  void started(JobId job) final;
  void ended(JobId job) final;

 protected:
  /// How good it is, the more the better; nothing = the guest may not join. Of equals the group is
  /// taken whose host came first.
  virtual std::optional<double> merit(const Join& join) const = 0;
  /// Whether enough is known to let any job join another.
  virtual bool is_informed() const { return desk_.view().speeds != nullptr; }
  /// Told when a guest has joined.
  virtual void joined(const Join& join) { static_cast<void>(join); }
  /// Told of a group that one of its jobs is about to leave.
  virtual void parting(std::span<const JobId> jobs) { static_cast<void>(jobs); }

  /// The jobs that a job shares its GPUs with, itself among them; empty = it has them to itself.
  std::span<const JobId> group(JobId job) const;
  /// Stops a guest; its hosts divide what it held.
  void split_off(VcState& vc, JobId guest);
  /// The predicted speed of a job that holds `held` beside others, relative to that without them.
  /// View::speeds must be there.
  double relative_speed(JobId job, std::span<const cluster::Grant> held,
                        std::span<const JobId> beside) const;
  /// That of each job of a group with the guest, which is the last.
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
  /// What is like what the host holds, with the cores and memory of `demand`; none = no room.
  std::vector<cluster::Grant> beside(std::span<const cluster::Grant> host, std::int32_t gpu_milli,
                                     const cluster::Demand& demand) const;
  /// Whether others may join: a job that is no guest itself, of a group that is not full.
  bool is_open(JobId host) const;
  /// Whether a job runs once the plan so far is carried out.
  bool will_run(JobId job) const;
  /// Lets the jobs that are left divide the GPUs.
  void divide(const Group& left);

  MayShare may_share_;
  std::size_t most_;
  std::map<Key, std::set<JobId>> hosts_;  // that are open, and run before this plan
  std::unordered_map<JobId, std::shared_ptr<Group>> groups_;  // of two jobs or more
  std::vector<cluster::Grant> taken_;
};

}  // namespace almanac::policy
