// SPDX-License-Identifier: Apache-2.0

/// \file
/// What changes of a job that waits: its place in the queue, when it may begin, and where. No
/// job is held or released but by a lease of ours (slurm/mark.h), and no choice of nodes changed
/// but ours. What is undone has all that it had before the first change, unless somebody else has
/// changed that since.
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

#include "slurm/link.h"
#include "steer/action/done.h"
#include "steer/action/job_claims.h"
#include "steer/scene.h"

namespace almanac::steer {

class QueueClaims;

struct QueueChange {
  using Claims = QueueClaims;
  slurm::JobChange becomes{};
  slurm::JobChange was{};  ///< The same fields before.
  Meant meant{};
  bool leaves = false;  ///< It is Slurm's from then on, whatever levers want.
  int in_vain = 0;      ///< It was released so often by now without being started; 0 = not told.
  bool is_taken_over = false;  ///< Its order is somebody else's from then on. It may change
                               ///< nothing.

  QueueChange() = default;
  QueueChange(slurm::JobChange change) : becomes(std::move(change)) {}
  QueueChange(slurm::JobChange before, slurm::JobChange after, const Meant& of = {})
      : becomes(std::move(after)), was(std::move(before)), meant(of) {}

  static constexpr std::size_t kAtOnce = 50;
  /// Notes what it was, and of which job.
  void begin(const Scene& scene);
  std::string describe() const;
  std::optional<std::string> forbidden(const Scene& scene) const;
  bool is_in_scope(const Scene& scene) const;
  static std::vector<Result<void>> execute(std::span<const QueueChange* const> changes,
                                           slurm::Link& link);
  void record(nlohmann::json& into) const;
  static std::optional<QueueChange> read(const nlohmann::json& line);
};

/// What stands of what was done to each job.
class QueueClaims {
 public:
  /// How one run of a job was held and released.
  struct Tries {
    int restarts = 0;               ///< Which run.
    Time released = kNoTime;        ///< Since when; kNoTime = it is held, or was never.
    int in_vain = 0;                ///< So often it was taken back.
    Time taken_back = kNoTime;      ///< The last time.
    bool is_nodes_refused = false;  ///< Slurm does not let it run on those that were chosen.
  };

  void take(const QueueChange& change, const Done& done);
  /// Slurm has said no.
  void refused(const QueueChange& change, Time at);
  /// A job that has ended needs no undoing. One that runs may yet be requeued.
  void forget_gone(const Mirror& mirror);
  std::vector<QueueChange> invert(const Mirror& mirror) const;
  std::vector<std::pair<Time, QueueChange>> standing(Time at) const;

  /// Of jobs that have a site factor or priority by now that we never gave them, and did not have
  /// before: that they are taken over. Each is told once.
  std::vector<QueueChange> take_over(const Mirror& mirror);
  bool is_taken_over(const slurm::Job& job) const;
  /// Whether the nodes that a marked job asks for are those that we chose for it. Without a journal
  /// that tells they are, but for one that we hold: then it asks for none of ours.
  bool chose_nodes_of(const slurm::Job& job, Time at) const;
  /// What leaves a waiting job to Slurm as if it had never been marked; nothing where it is not.
  std::optional<slurm::JobChange> without_mark(const slurm::Job& job, Time at) const;
  /// When it may begin by its user's word and Slurm's; a time that is past = at once.
  Time may_begin(const slurm::Job& job) const;
  /// The shards of each node that it asked before we changed that; what it asks now where we did
  /// not, or somebody else has since.
  int asked_shards(const slurm::Job& job) const;
  /// Whether an administrator has given a waiting job its priority: Slurm heeds no site factor
  /// then.
  bool has_own_priority(const slurm::Job& job) const;
  /// Whether it was given back for good.
  bool is_left(const slurm::Job& job) const;
  /// Of its present run.
  Tries tries(const slurm::Job& job) const;

 private:
  struct Standing {
    slurm::JobChange was{};
    slurm::JobChange becomes{};
    std::set<std::int64_t> numbers{};  // that it may rightly have
    std::set<std::string> nodes{};     // the same
    bool is_left = false;              // to Slurm, for good
    bool is_taken_over = false;        // its order is somebody else's
    Tries tries{};

    /// What else was done to it stands.
    void lose_order();
  };
  /// Of the run that a change was made to.
  Tries& tries_of(const QueueChange& change);

  JobClaims<Standing> jobs_;
  std::set<slurm::JobNumber> undone_;  // since there was news
};

/// One change after the other: of both the last word counts.
slurm::JobChange with(slurm::JobChange change, const slurm::JobChange& other);
/// Those fields of the job that `change` would change.
slurm::JobChange as_it_is(const slurm::Job& job, const slurm::JobChange& change,
                          bool priority_is_basic, Time at);

}  // namespace almanac::steer
