// SPDX-License-Identifier: Apache-2.0

/// \file
/// Pollux' search for GPUs of jobs on nodes that are alike: a genetic algorithm over matrices of
/// jobs and nodes, with two objectives.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 4.2; Deb et al., IEEE TEC 6, 2002 (NSGA-II). The
///          operators are those of the published program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/rng.h"

namespace almanac::elastic {

/// GPUs of each job (row) on each node (column), row after row.
using GpuMatrix = std::vector<std::uint8_t>;

struct SearchedJob {
  int most_gpus = 1;
  double restart_factor = 1;  ///< What remains of its speed-up where its row changes.
};

struct SearchProblem {
  int nodes = 0;
  int gpus_per_node = 0;
  std::vector<int> capacity{};  ///< Of each node, where some have fewer GPUs; none = all have all.
  /// Power of the mean of what jobs get, 1 at most: the lower the fairer, 1 = their plain mean.
  double fairness = -1;
  bool avoids_interference = true;  ///< At most one job that is on several nodes on each of them.
  std::vector<SearchedJob> jobs{};
  GpuMatrix present{};
  /// Speed-up of a job, by its row, on so many nodes and GPUs (nodes, GPUs), beside its fair share;
  /// not asked for none.
  std::function<double(std::size_t, int, int)> speedup{};
};

/// Both are to be as small as can be: less the mean of what jobs get, by SearchProblem::fairness
/// (-1: the harmonic one), and less the use of the nodes that are used.
using Objectives = std::array<double, 2>;

/// O(jobs x nodes), in time and in what it remembers, beside the speed-ups. Some are asked for
/// again: it remembers so many of a job as there are nodes, times a constant.
class Evaluator {
 public:
  explicit Evaluator(const SearchProblem& problem);
  Objectives operator()(const GpuMatrix& matrix);

 private:
  double speedup(std::size_t job, int nodes, int gpus);

  /// Of so many nodes and GPUs of a job; the last of those that share a place.
  struct Known {
    std::int32_t nodes = 0;  // 0 = none
    std::int32_t gpus = 0;
    double speedup = 0;
  };

  const SearchProblem& problem_;
  std::size_t places_;        // of each job, a power of two
  std::vector<Known> known_;  // job after job
};

struct SearchResult {
  std::vector<GpuMatrix> front{};  ///< Those that no other one beats in both objectives.
  std::size_t best = 0;            ///< Of them the one with the first objective least.
};

/// Starts from `first`, matrices of the size of the problem, at least one. There must be a job.
/// Cost: 10,000 matrices; some 20 ms with 20 jobs and 16 nodes.
SearchResult search(const SearchProblem& problem, std::vector<GpuMatrix> first, Rng& random);

}  // namespace almanac::elastic
