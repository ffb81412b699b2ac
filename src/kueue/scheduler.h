// SPDX-License-Identifier: Apache-2.0

/// \file
/// Kueue's scheduler: workloads come and go, and cycles admit and preempt them.
///
/// Source   Kueue v0.19 (ff69552e79ad), pkg/scheduler: scheduler.go, fair_sharing_iterator.go.
/// Differs  Preempted workloads give their quota back at once and wait again with their creation
///          time. Topologies, admission checks, usage-based sharing of LocalQueues, elastic slices
///          and the pause between fruitless cycles are not modelled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kueue/assign.h"
#include "kueue/line.h"
#include "kueue/setup.h"
#include "kueue/victims.h"
#include "kueue/world.h"

namespace almanac::kueue {

/// The pods of a set that were admitted, and the flavor of each resource.
struct AdmittedPods {
  std::string name{};
  int count = 0;
  std::vector<std::pair<std::string, std::string>> flavors{};  ///< Resource and flavor.
};

struct Admitted {
  std::string workload{};
  std::vector<AdmittedPods> pod_sets{};
};

struct Preempted {
  std::string workload{};
  Reason reason{};
};

/// What a cycle did, in its order.
struct Cycle {
  std::vector<Admitted> admitted{};
  std::vector<Preempted> preempted{};
};

class Scheduler {
 public:
  /// Error: see check_setup().
  static Result<Scheduler> make(Setup setup);
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  /// The workload waits. Error: its queue is unknown, or its name is taken.
  Result<void> submit(Submission submission);
  /// The workload holds quota from the start, on `flavors` by resource. Error as submit(), or a
  /// flavor is unknown.
  Result<void> submit_admitted(Submission submission,
                               const std::map<std::string, std::string>& flavors,
                               std::int64_t reserved);
  /// The workload has ended or was deleted. Call retry() when Kueue has heard of it. Does nothing
  /// if there is none of that name.
  void remove(const std::string& workload);
  /// Changes spec.priority, or the boost, which counts if the setup has boosts. Do nothing if there
  /// is no workload of that name.
  void set_priority(const std::string& workload, std::int64_t priority);
  void set_boost(const std::string& workload, std::int64_t boost);
  /// What was set aside in the queue and its whole tree is looked at again: quota may have become
  /// free, or a queue, cohort or flavor has changed. Requires that the queue is known.
  void retry(const std::string& queue);

  /// One cycle at `now`: each queue's first workload is tried.
  /// Cost: O(q log n) apart from searches for victims, for q queues and n that wait.
  Cycle cycle(std::int64_t now);

  /// The workloads that the next cycle would look at, in the order of queues.
  std::vector<std::string_view> heads() const;
  /// Those that hold quota, by name.
  std::vector<std::string_view> holding() const;
  /// Those of a queue that wait, in order; those of them that are set aside, by name. Require that
  /// the queue is known.
  std::vector<std::string_view> waiting(const std::string& queue) const;
  std::vector<std::string_view> aside(const std::string& queue) const;
  /// Whether a workload waits and is set aside.
  bool is_aside(const std::string& workload) const;
  /// The first of a queue's heap; "" = it is empty. Requires that the queue is known.
  std::string_view first(const std::string& queue) const;

 private:
  struct State;
  explicit Scheduler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace almanac::kueue
