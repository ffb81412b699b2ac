// SPDX-License-Identifier: Apache-2.0

/// \file
/// Moves of running jobs that would make room for waiting jobs, at an instant of a simulation or of
/// a live cluster, and what they would cost. This is advice; nothing is moved.
///
/// The room is not reserved: the policy decides what starts there. Each job is assumed to need what
/// it requested, without alternatives.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/cluster.h"
#include "rules/defrag/compaction.h"
#include "sim/present.h"
#include "trace/trace.h"

namespace almanac::sim {

/// A node and a number of its GPUs; parts of a GPU count as fractions.
struct GpusAt {
  std::string node{};
  double gpus = 0;

  bool operator==(const GpusAt&) const = default;
};

struct AdvisedMove {
  std::string job{};
  std::vector<GpusAt> from{};
  std::vector<GpusAt> to{};
  double lost_gpu_s = 0;

  bool operator==(const AdvisedMove&) const = default;
};

/// Moves that make room for one job.
struct AdvisedStep {
  std::string job{};
  std::string vc{};  ///< Virtual cluster of the job, if there are several.
  double gpus = 0;   ///< GPUs that the job requests and that become usable.
  std::vector<GpusAt> place{};
  std::vector<AdvisedMove> moves{};
  double lost_gpu_s = 0;   ///< Work lost by all moves together.
  bool is_proven = false;  ///< Whether no cheaper moves make room for the job.

  bool operator==(const AdvisedStep&) const = default;
};

struct Compactions {
  Time at{};
  double free_gpus = 0;      ///< On nodes that accept jobs; parts count as fractions.
  std::int64_t running = 0;  ///< Jobs.
  std::int64_t staying = 0;  ///< Running jobs that may not be moved.
  std::int64_t waiting = 0;  ///< Waiting jobs that request GPUs.
  /// Running jobs that are unknown to the accounting; their GPUs count as free.
  std::int64_t left_out = 0;
  /// Running or waiting jobs on instances, or on parts with a GPU memory request. None of them is
  /// moved or gets room.
  std::int64_t left_alone = 0;
  std::vector<AdvisedStep> steps{};     ///< Apply in this order; stop after any step.
  std::vector<std::string> fit{};       ///< Jobs that fit and still wait; no move helps them.
  std::vector<std::string> given_up{};  ///< Jobs whose search hit the limit without a result.

  bool operator==(const Compactions&) const = default;
};

/// Search limit (defrag::Limits) for an interactive caller; about 10 ms.
inline constexpr std::int64_t kQuickLooks = 200'000;

/// Returns the work that a running job loses if it is moved; nothing if it may not be moved.
using Loses = std::function<std::optional<Duration>(const Present::Job&)>;

/// Plans for the first 256 jobs that wait for GPUs. A job stays if it holds parts of GPUs that it
/// requested whole, or several parts. Cost: a search (rules/defrag/plan.h) for each waiting demand,
/// at each step.
Compactions advise_moves(const trace::Trace& trace, const cluster::Cluster& cluster,
                         const Present& present, const Loses& loses,
                         const defrag::Limits& limits = {});

}  // namespace almanac::sim
