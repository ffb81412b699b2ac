// SPDX-License-Identifier: Apache-2.0

/// \file
/// Failure rates from the runs of a job log: of nodes, and of jobs by their number of GPUs.
///
/// A run on g GPUs fails at the rate `user` + g x `software`, the maximum-likelihood pair of rates
/// that are not negative, and each of its nodes fails at the rate `node`. Runs that end otherwise
/// only say how long nothing failed.
///
/// A crash of a node counts once, however many runs it ends: runs on one node that a failure of
/// nodes ends within a minute have the same crash. A node is watched while any run is on it. Runs
/// whose nodes are unknown count one by one.
///
/// Source   Garwood, Biometrika 1936 (exact interval of a Poisson rate); observed Fisher
///          information for the intervals of the pair.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "faults/model.h"

namespace almanac::faults {

/// Names the model fitted to the log of a simulation. read_model() does not know it.
inline constexpr const char* kFitted = "fitted";

/// A run of a job.
struct PastRun {
  enum class End : std::uint8_t { other, failed, node_failed };
  int gpus = 0;
  int nodes = 1;
  double days = 0;
  End end = End::other;
  std::vector<int> on{};  ///< Numbers of its nodes; empty if the log does not say, or has no start.
  Time start{};           ///< Of runs with known nodes.

  Time ended() const;
};

/// A rate per day, and the interval that holds the true one with 95 % probability.
struct Rate {
  std::uint64_t failures = 0;
  double days = 0;  ///< What they were counted over: days of a node, GPU or job.
  double per_day = 0;
  double low = 0;
  double high = 0;

  bool any() const { return per_day > 0; }

  /// Fewer failures than this leave the rate uncertain by a factor of more than 3.
  static constexpr std::uint64_t kEnough = 10;
};

/// Returns the rate of `failures` in `days`. Cost: O(failures).
Rate poisson_rate(std::uint64_t failures, double days);

struct Fit {
  Rate node{};                ///< Of a node in use.
  std::uint64_t unnamed = 0;  ///< Failures of nodes that the log does not name, one for each run.
  /// Of a GPU in use. `failures` are all failed runs. Any = the cluster caused some of them.
  Rate software{};
  /// Of a running job, whatever its GPUs: errors of users. `failures` are all failed runs.
  Rate user{};
  bool is_one_size = false;  ///< All runs have as many GPUs: then all failures count for `user`.
  /// Runs of `from` to `to` GPUs; all failures.
  struct Size {
    int from = 0;
    int to = 0;
    std::uint64_t runs = 0;
    std::uint64_t failed = 0;  ///< Runs that failed, whatever the cause.
    Rate rate{};               ///< Of a running job. `failures` counts a crash once.
    double fitted = 0;  ///< What the rates above give for these runs, per day of a running job.
  };
  std::vector<Size> sizes{};
  std::vector<int> lemons{};  ///< Nodes that fail far more often than the others (lemon_test.h).
  int nodes = 0;              ///< Nodes with runs of their own, among which lemons were looked for.
  double lemon_factor = 1;    ///< How much more often lemons fail.
};

/// Fits the rates. Runs without GPUs or time are ignored. Cost: O(n log n) in runs and their nodes.
Fit fit(std::span<const PastRun> runs);

/// Failures of a cause that is known otherwise than from the states of jobs, such as their output.
struct SeenCause {
  std::string name{};
  Unit of = Unit::software;  ///< Not user: such a job ends with its error in the log.
  std::uint64_t failures = 0;
};

/// Returns a failure model, with the interval of each rate as a comment, from the failures seen in
/// `runs`. Nodes count for the days in which any run was on them, GPUs for those in runs, networks
/// of nodes for those in runs on several nodes. `from` says where the failures were seen. Cost:
/// that of fit().
std::string to_toml(std::span<const SeenCause> causes, std::span<const PastRun> runs,
                    const std::string& from);

/// Returns a failure model in the form that parse_model() reads, with its intervals, and sizes, as
/// comments. `of` names the log. Causes without failures are left out, and said. Errors of users
/// are left out too: a job that has one ends with it in the log, and would fail again.
std::string to_toml(const Fit& fit, const std::string& of);

}  // namespace almanac::faults
