// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes to a pending job: its place in the queue, when it may start, and where. Jobs are only
/// held or released by our leases (manager/mark.h), and only our own choices of nodes are changed.
/// Undo restores what the job had before the first change, unless somebody else has changed it
/// since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "manager/link.h"
#include "steer/action/done.h"
#include "steer/action/job_claims.h"
#include "steer/scene.h"

namespace almanac::steer {

class QueueClaims;

struct QueueChange {
  using Claims = QueueClaims;
  manager::JobChange becomes{};
  manager::JobChange was{};  ///< The same fields before the change.
  Meant meant{};
  /// Left to the manager from then on, whatever levers want.
  bool leaves = false;
  int in_vain = 0;  ///< Number of releases without a start so far; 0 if unknown.
  /// Somebody else controls its order from then on. Such a change may have no other effect.
  bool is_taken_over = false;

  QueueChange() = default;
  QueueChange(manager::JobChange change) : becomes(std::move(change)) {}
  QueueChange(manager::JobChange before, manager::JobChange after, const Meant& of = {})
      : becomes(std::move(after)), was(std::move(before)), meant(of) {}

  static constexpr std::size_t kAtOnce = 50;
  /// Records the job and its previous state.
  void begin(const Scene& scene);
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const QueueChange* const> changes,
                                           manager::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<QueueChange> read(const nlohmann::json& line);
};

/// What is in effect of the changes to each job.
class QueueClaims {
 public:
  /// How one run of a job was held and released.
  struct Tries {
    int restarts = 0;               ///< Identifies the run.
    Time released = kNoTime;        ///< Time of its release; kNoTime if it is held, or was never
                                    ///< released.
    int in_vain = 0;                ///< How often it was undone.
    Time taken_back = kNoTime;      ///< The last time.
    bool is_nodes_refused = false;  ///< The manager does not let it run on those that were chosen.
  };

  void take(const QueueChange& change, const Done& done);
  /// The manager has refused the change.
  void refused(const QueueChange& change, Time at);
  /// A job that has ended needs no undo. A running one may yet be requeued.
  void forget_gone(const Mirror& mirror);
  std::vector<QueueChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, QueueChange>> standing(Time at) const;

  /// Returns, once for each job, that it is taken over: it has a site factor or priority that we
  /// did not set, and that it did not have before.
  std::vector<QueueChange> take_over(const Mirror& mirror);
  bool is_taken_over(const manager::Job& job) const;
  /// Whether we chose the nodes that a marked job requests. Without a journal entry they count as
  /// ours, except for a held job, which requests none of ours.
  bool chose_nodes_of(const manager::Job& job, Time at) const;
  /// Returns the change that leaves a pending job to the manager as if it had never been marked;
  /// nothing if it is not marked.
  std::optional<manager::JobChange> without_mark(const manager::Job& job, Time at) const;
  /// Returns when it may start by its user's and the manager's settings; a past time means at once.
  Time may_begin(const manager::Job& job) const;
  /// Returns the shards per node that it requested before we changed that; its current request if
  /// we did not, or if somebody else has changed it since.
  int asked_shards(const manager::Job& job) const;
  /// Whether an administrator has set the priority of a pending job. Slurm then ignores its site
  /// factor.
  bool has_own_priority(const manager::Job& job) const;
  /// Whether it was given back for good.
  bool is_left(const manager::Job& job) const;
  /// Of its current run.
  Tries tries(const manager::Job& job) const;

 private:
  struct Standing {
    manager::JobChange was{};
    manager::JobChange becomes{};
    std::set<std::int64_t> numbers{};  // that it may rightly have
    std::set<std::string> nodes{};     // the same
    bool is_left = false;              // to the manager, for good
    bool is_taken_over = false;        // its order is somebody else's
    Tries tries{};

    /// Other changes to it remain in effect.
    void lose_order();
  };
  /// Of the run that a change was made to.
  Tries& tries_of(const QueueChange& change);

  JobClaims<Standing> jobs_;
  std::set<manager::JobNumber> undone_;  // since there was news
};

/// Combines two changes; for each field, the later value counts.
manager::JobChange with(manager::JobChange change, const manager::JobChange& other);
/// Returns the current values of the fields that `change` would change.
manager::JobChange as_it_is(const manager::Job& job, const manager::JobChange& change,
                            bool keeps_priorities, Time at);

}  // namespace almanac::steer
