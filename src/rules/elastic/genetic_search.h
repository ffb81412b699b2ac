// SPDX-License-Identifier: Apache-2.0

/// \file
/// Pollux' search for the GPUs of jobs on equal nodes: a genetic algorithm over matrices of jobs
/// and nodes with two objectives.
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

/// GPUs of each job (row) on each node (column), row by row.
using GpuMatrix = std::vector<std::uint8_t>;

struct SearchedJob {
  int most_gpus = 1;
  double restart_factor = 1;  ///< Factor on its speed-up if its row changes.
};

struct SearchProblem {
  int nodes = 0;
  int gpus_per_node = 0;
  std::vector<int> capacity{};  ///< GPUs of each node; empty if all have `gpus_per_node`.
  /// Exponent of the power mean over jobs, at most 1. Lower is fairer; 1 is the arithmetic mean.
  double fairness = -1;
  bool avoids_interference = true;  ///< Allows at most one multi-node job on each node.
  std::vector<SearchedJob> jobs{};
  GpuMatrix present{};
  /// Returns the speed-up of a job, by row, on (nodes, GPUs), relative to its fair share. Not
  /// called for no GPUs.
  std::function<double(std::size_t, int, int)> speedup{};
};

/// Two objectives to minimize: minus the power mean of the speed-ups (SearchProblem::fairness; -1
/// is the harmonic mean), and minus the utilization of the nodes in use.
using Objectives = std::array<double, 2>;

/// Evaluates matrices in O(jobs x nodes) time, plus the speed-ups. Caches speed-ups in O(jobs x
/// nodes) memory, and may request some of them again.
class Evaluator {
 public:
  explicit Evaluator(const SearchProblem& problem);
  Objectives operator()(const GpuMatrix& matrix);

 private:
  double speedup(std::size_t job, int nodes, int gpus);

  /// A cached speed-up of a job; a later one replaces an earlier one in the same slot.
  struct Known {
    std::int32_t nodes = 0;  // 0 = none
    std::int32_t gpus = 0;
    double speedup = 0;
  };

  const SearchProblem& problem_;
  std::size_t places_;        // per job, a power of two
  std::vector<Known> known_;  // job after job
};

struct SearchResult {
  std::vector<GpuMatrix> front{};  ///< Matrices that no other beats in both objectives.
  std::size_t best = 0;            ///< Position of the one with the smallest first objective.
};

/// Searches from the matrices of `first`, at least one, each of the problem's size. Requires a job.
/// Cost     10,000 matrices; about 20 ms with 20 jobs and 16 nodes
SearchResult search(const SearchProblem& problem, std::vector<GpuMatrix> first, Rng& random);

}  // namespace almanac::elastic
