// SPDX-License-Identifier: Apache-2.0

/// \file
/// How often parts of a cluster fail, how long repairs take, and what a stopped job loses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace almanac::faults {

inline constexpr double kDay_ms = 86'400'000;
/// Later than the end of any simulation, with room to add to it.
inline constexpr double kEndless_ms = 1e15;

/// What fails, which determines what stops.
enum class Unit : std::uint8_t {
  node,      ///< A node: all its jobs stop.
  gpu,       ///< One GPU of a node, which leaves for repair as a whole: its jobs with GPUs stop.
  link,      ///< The network of a node: its jobs that span several nodes stop.
  software,  ///< A job, in proportion to its GPUs and run time: drivers, libraries, hangs.
  user,      ///< A job, in proportion to its run time only.
};

/// A reason why jobs stop.
struct Cause {
  std::string name{};
  Unit unit = Unit::node;
  /// Failures per day of a node, a GPU, a node's network, a GPU in a job, or a job.
  double per_day = 0;
  Duration repair{0};  ///< Median time until the node returns.
  double spread = 0;   ///< Standard deviation of the logarithm of that time.
  /// How long before a failure the node announces it. A job then writes a checkpoint in time.
  Duration notice{0};
};

/// What training loses to checkpoints.
struct Checkpoints {
  Duration every{0};  ///< Work between two checkpoints; 0 = the best interval of each job.
  Duration write{0};  ///< How long training stands still for one.
};

/// When a job that failed tries again. It leaves the queue for the pause, and others use its GPUs;
/// then it waits like any other job.
struct Retry {
  /// After a failure; each further one without a new checkpoint between them doubles the pause.
  Duration wait{0};
  Duration longest{1h};  ///< Longest pause.
  /// Failures without a new checkpoint between them after which a job gives up.
  int most = 100;
};

/// Nodes that fail far more often than others.
///
/// Source   Kokolis et al., HPCA'25, section IV-A: 1.2 % of the nodes of a cluster; without them
///          14 % of the jobs with 512 or more GPUs failed before, 4 % after.
struct Lemons {
  double share = 0;            ///< Fraction of the nodes.
  double factor = 200;         ///< How much more often than the others one fails.
  bool test = true;            ///< Whether lemon_test.h judges nodes, and found ones are replaced.
  Duration replace = 7 * 24h;  ///< Time until a healthy node replaces a found one.
};

/// Rates are means over all nodes, lemons included.
struct Model {
  std::string name{};
  std::vector<Cause> causes{};
  Checkpoints checkpoints{};
  Duration restart = 5min;  ///< From a failure's detection until training continues, on its GPUs.
  Retry retry{};
  Lemons lemons{};
  int spares = 0;  ///< Nodes of each virtual cluster that only replace failed ones.

  /// Returns failures per day of a node with `gpus` GPUs.
  double node_per_day(int gpus) const;
  /// Returns failures per day of a job on `gpus` GPUs, other than those of its nodes.
  double job_per_day(int gpus) const;
  /// Returns the mean time between failures of a job on `gpus` GPUs of nodes with `gpus_per_node`;
  /// kNoDuration if it never fails.
  Duration mean_time_to_failure(int gpus, int gpus_per_node) const;
  /// Returns the work between two checkpoints of such a job; kNoDuration if it needs none.
  Duration interval(int gpus, int gpus_per_node) const;
};

}  // namespace almanac::faults
