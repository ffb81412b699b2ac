// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the parts of a cycle share: queues, workloads, and who runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kueue/quota_tree.h"
#include "kueue/setup.h"

namespace almanac::kueue {

/// How well a want fits a flavor. The order is Kueue's.
enum class Fit : std::uint8_t {
  none,           ///< Not even in an empty cluster, or it may preempt no workload.
  no_candidates,  ///< It would have to preempt, and finds no candidate.
  preempt,        ///< It preempts workloads of its own queue.
  reclaim,        ///< It preempts workloads of other queues only.
  now,
};

/// The flavor of a resource of one pod set.
struct Choice {
  ResourceAt resource{};
  FlavorAt flavor{};
  Fit fit = Fit::none;
  int level = 0;  ///< Height of the cohort that lends; 0 = it does not borrow.
  int tried = 0;  ///< Last flavor of the group that was tried; -1 = all were.
};

struct PodSetChoice {
  std::vector<Choice> choices{};  ///< Empty if a resource fits nowhere.
  bool fits = true;
};

/// Pod specs, counts and requests that are equal, as a number; and the priority.
struct Shape {
  std::uint32_t pods = 0;
  std::int64_t rank = 0;
  auto operator<=>(const Shape&) const = default;
};

/// Flavors for a workload.
struct Assignment {
  std::vector<PodSetChoice> pod_sets{};  ///< Ends with the first that fits nowhere.
  std::vector<int> counts{};             ///< Pods of each set.
  Wants usage{};
  int level = 0;  ///< The highest of its choices.
  std::uint64_t generation = 0;
  std::uint64_t cycle = 0;
  Shape shape{};
  bool waits_for_victims = false;  ///< It fits once workloads that others preempt are gone.

  /// none, preempt or now: the worst of its choices.
  Fit fit() const;
  /// Whether flavors are left to try.
  bool has_untried() const;
};

/// A pod set, with its names resolved.
struct Pods {
  int count = 0;
  int spare = 0;                                      ///< Pods that it can do without.
  std::vector<std::pair<ResourceAt, Amount>> each{};  ///< Requests of one pod, by resource.
  bool asks_unknown = false;                          ///< Some of a resource without any quota.
  std::vector<bool> suits{};                          ///< By flavor: labels and taints allow it.
};

/// The quota that a workload holds.
struct Admission {
  std::vector<std::vector<std::pair<ResourceAt, FlavorAt>>> flavors{};  ///< Of each pod set.
  std::vector<int> counts{};
  std::int64_t reserved = 0;
  Wants usage{};
};

struct Workload {
  Submission asked{};
  QueueAt queue{};
  std::int64_t rank = 0;  ///< Effective priority.
  std::uint32_t pods_shape = 0;
  std::vector<Pods> pod_sets{};
  std::optional<Admission> admission{};
  std::optional<Assignment> last{};  ///< Where its search for flavors goes on.
  bool is_away = false;              ///< A trial has removed it.

  Shape shape() const { return {pods_shape, rank}; }
  std::string_view name() const { return asked.name; }
};

/// Whether to preempt `a` before `b`: lower priority, then who got quota later, then by name.
bool is_preempted_before(const Workload& a, const Workload& b);

/// Workloads that hold quota, in the order of preemption.
struct PreemptedFirst {
  bool operator()(const Workload* a, const Workload* b) const {
    return is_preempted_before(*a, *b);
  }
};
using Running = std::set<Workload*, PreemptedFirst>;

/// A queue, with its names resolved.
struct Queue {
  struct Group {
    std::vector<bool> covers{};  ///< By resource.
    std::vector<FlavorAt> flavors{};
  };
  const ClusterQueue* declared = nullptr;
  std::vector<Group> groups{};
  Running running{};
  std::uint64_t generation = 0;  ///< Grows when quota may have become free.

  /// Null = the queue has no quota of it.
  const Group* group_of(ResourceAt resource) const;
};

/// Whether `policy` lets `preemptor` preempt `other`.
bool may_preempt(Preempts policy, const Workload& preemptor, const Workload& other);

struct World {
  /// Requires that `setup` outlives it and satisfies check_setup().
  explicit World(const Setup& setup);

  /// Resolves the names of a workload. Error: its queue is unknown.
  Result<Workload> resolve(Submission submission);
  /// Returns the requests of `count` pods.
  static std::vector<std::pair<ResourceAt, Amount>> wants_of(const Pods& pods, int count);

  /// Takes a running workload out for a trial, its quota included, and back.
  void remove(Workload& workload) {
    workload.is_away = true;
    tree.give_back(workload.queue, workload.admission->usage);
  }
  void put_back(Workload& workload) {
    workload.is_away = false;
    tree.take(workload.queue, workload.admission->usage);
  }

  const Setup& setup;
  QuotaTree tree;
  std::vector<Queue> queues{};

 private:
  bool suits(const Flavor& flavor, const PodSet& pods) const;

  std::map<std::string, QueueAt, std::less<>> queue_names_{};
  std::map<std::string, std::uint32_t> shapes_{};
};

/// Returns an error if names are used twice, a flavor is unknown, listed twice or in two groups,
/// quotas add up to more than kMostAmount, or cohorts form a circle or are nested too deep.
Result<void> check_setup(const Setup& setup);

}  // namespace almanac::kueue
