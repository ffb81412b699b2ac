// SPDX-License-Identifier: Apache-2.0

/// \file
/// Failure rates from the runs of a job log: of nodes, and of jobs by their number of GPUs.
///
/// A run on g GPUs fails at the rate `user` + g x `software`, the maximum-likelihood pair of rates
/// that are not negative, and each of its nodes fails at the rate `node`. Runs that end otherwise
/// only say how long nothing failed.
///
/// Source   Garwood, Biometrika 1936 (exact interval of a Poisson rate); Dempster, Laird, Rubin,
///          JRSS B 1977 (EM, for the pair); observed Fisher information for its intervals.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace almanac::faults {

/// A run of a job.
struct PastRun {
  enum class End : std::uint8_t { other, failed, node_failed };
  int gpus = 0;
  int nodes = 1;
  double days = 0;
  End end = End::other;
  int node = -1;  ///< Number of its only node; -1 if it has several, or the log does not say.
};

/// A rate per day, and the interval that holds the true one with 95 % probability.
struct Rate {
  std::uint64_t failures = 0;
  double days = 0;  ///< What they were counted over: days of a node, GPU or job.
  double per_day = 0;
  double low = 0;
  double high = 0;

  /// Fewer failures than this leave the rate uncertain by a factor of more than 3.
  static constexpr std::uint64_t kEnough = 10;
};

/// Returns the rate of `failures` in `days`. Cost: O(failures).
Rate poisson_rate(std::uint64_t failures, double days);

struct Fit {
  Rate node{};      ///< Of a node in use.
  Rate software{};  ///< Of a GPU in use. `failures` are all failed runs.
  Rate user{};      ///< Of a running job. `failures` are all failed runs.
  /// Runs of `from` to `to` GPUs; all failures.
  struct Size {
    int from = 0;
    int to = 0;
    std::uint64_t runs = 0;
    Rate rate{};        ///< Of a running job.
    double fitted = 0;  ///< What the rates above give for these runs, per day of a running job.
  };
  std::vector<Size> sizes{};
  std::vector<int> lemons{};  ///< Nodes that fail far more often than the others (lemon_test.h).
  int nodes = 0;              ///< Nodes with runs of their own, among which lemons were looked for.
  double lemon_factor = 1;    ///< How much more often lemons fail.
};

/// Fits the rates. Runs without GPUs or time are ignored.
Fit fit(std::span<const PastRun> runs);

/// Returns a failure model in the form that parse_model() reads, with its intervals, and sizes, as
/// comments. `of` names the log. Causes without failures are left out, and said.
std::string to_toml(const Fit& fit, const std::string& of);

}  // namespace almanac::faults
