// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which moves of running jobs would make room for jobs that wait, at an instant of a simulation or
/// of a live cluster, and what they would cost: advice, and nothing is done.
///
/// Room is not kept: what starts there is for the policy to say. Jobs are taken to ask what they
/// asked when they came, not what they would take instead.
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

/// A node, and how many of its GPUs; a part of one counts as such.
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
  std::string vc{};  ///< Its virtual cluster, where there are several.
  double gpus = 0;   ///< That it asks, and that become usable.
  std::vector<GpusAt> place{};
  std::vector<AdvisedMove> moves{};
  double lost_gpu_s = 0;   ///< Of all of them.
  bool is_proven = false;  ///< No cheaper moves make room for it.

  bool operator==(const AdvisedStep&) const = default;
};

struct Compactions {
  Time at{};
  double free_gpus = 0;         ///< On nodes that take jobs; parts count as such.
  std::int64_t running = 0;     ///< Jobs.
  std::int64_t staying = 0;     ///< Of those, that may not be moved.
  std::int64_t waiting = 0;     ///< Jobs that ask GPUs.
  std::int64_t left_out = 0;    ///< That run, and are not accounted for: what they hold counts as
                                ///< free.
  std::int64_t left_alone = 0;  ///< That run on instances of GPUs, or on parts that say what memory
                                ///< they need, and that wait for such: none of them is moved, none
                                ///< gets room.
  std::vector<AdvisedStep> steps{};     ///< To be done in this order, or as many as one likes.
  std::vector<std::string> fit{};       ///< Jobs that wait though they would fit: no move helps.
  std::vector<std::string> given_up{};  ///< For which the search was cut off with nothing found.

  bool operator==(const Compactions&) const = default;
};

/// Looks (defrag::Limits) of a search whose asker waits: some 10 ms.
inline constexpr std::int64_t kQuickLooks = 200'000;

/// How much work a running job loses where it is moved; nothing = it is not to be moved.
using Loses = std::function<std::optional<Duration>(const Present::Job&)>;

/// For the first 256 jobs that wait for GPUs. A job that holds a part of GPUs
/// that it asks whole, or several in parts, stays. Cost: a search (rules/defrag/plan.h) for each
/// demand that waits, at each step.
Compactions advise_moves(const trace::Trace& trace, const cluster::Cluster& cluster,
                         const Present& present, const Loses& loses,
                         const defrag::Limits& limits = {});

}  // namespace almanac::sim
