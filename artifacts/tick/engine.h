// SPDX-License-Identifier: Apache-2.0

/// \file
/// The simulator published with Pollux: jobs in ticks on nodes that are alike, GPUs dealt out anew
/// after each tick.
///
/// Its peculiarities are kept, for its published figures rest on them: a job waits for the first
/// tick at or after its submission, GPUs of a job that ended idle until the next tick, an epoch
/// ends at a whole second and drops the progress beyond it, and a job that is given GPUs pays for a
/// restart, also for its first start.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 5.3, and the program published with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/elastic/application.h"
#include "rules/elastic/goodput.h"
#include "rules/elastic/split.h"
#include "rules/elastic/step_fit.h"

namespace almanac::elastic {

struct TickOptions {
  int nodes = 16;
  int gpus_per_node = 4;
  int tick_s = 60;
  int restart_s = 30;
  double interference = 0;  ///< The part of its speed that a job on several nodes loses where
                            ///< another such job runs on one of them.

  int gpus() const { return nodes * gpus_per_node; }
};

struct TickJob {
  std::string name{};
  const Application* application = nullptr;
  std::int64_t submit_s = 0;
  int asked_gpus = 0;
  int asked_batch = 0;
};

/// GPUs of a node. A job holds a list of them, at most one a node, in the order of its ring.
struct NodeShare {
  int node = 0;
  int gpus = 0;

  bool operator==(const NodeShare&) const = default;
};
using Shares = std::vector<NodeShare>;

int count_gpus(const Shares& shares);

/// A job on its way.
struct TickState {
  const TickJob* job = nullptr;
  std::optional<int> fixed_batch{};  ///< Nothing = the batch with the best goodput.
  Shares shares{};
  Split split{};
  double progress = 0;
  int epochs = 0;  ///< Finished.
  std::int64_t clock_s = 0;
  std::int64_t restart_left_s = 0;
  std::int64_t attained_gpu_s = 0;
  int starts = 0;  ///< How often it was given GPUs, or others.
  std::optional<std::int64_t> completed_s{};

  // What the job has reported; kept where the policy learns.
  std::vector<Observation> seen{};
  std::optional<StepModel> model{};
  Gradient gradient{};

  int restarts() const { return starts > 0 ? starts - 1 : 0; }
  int most_gpus_seen() const;
};

/// Deals out GPUs after each tick.
class TickPolicy {
 public:
  virtual ~TickPolicy() = default;
  /// The batch that a job keeps; nothing = the one with the best goodput.
  virtual std::optional<int> fixed_batch(const TickJob& job) const = 0;
  /// Whether it reads TickState::model.
  virtual bool learns() const = 0;
  /// What each of `candidates` holds from now on, in their order: jobs submitted and not completed,
  /// in the order of the workload; there is at least one. `jobs` are all of the workload.
  virtual std::vector<Shares> allocate(std::int64_t now_s, std::span<const std::size_t> candidates,
                                       std::span<const TickState> jobs,
                                       const TickOptions& options) = 0;
};

/// Seconds from submission to completion of each job. Fails with unsupported when a job leaves what
/// was measured of its application, or never ends.
Result<std::vector<std::int64_t>> run_ticks(std::span<const TickJob> workload,
                                            const TickOptions& options, TickPolicy& policy);

}  // namespace almanac::elastic
