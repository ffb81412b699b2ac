// SPDX-License-Identifier: Apache-2.0

/// \file
/// The condition of one run of a profile: batch, GPUs, cores, memory, and whether a neighbor runs.
#pragma once

#include <compare>
#include <string>
#include <utility>
#include <vector>

namespace almanac::profiling {

struct Condition {
  double batch = 1;  ///< Samples of one step, over all GPUs.
  int gpus = 1;
  int cpus = 1;          ///< Cores, over all GPUs.
  double memory_gb = 0;  ///< Limit of main memory; 0 = none.
  bool beside = false;   ///< A neighbor runs on the same GPUs.

  auto operator<=>(const Condition&) const = default;
};

/// Returns, for example, "batch 64, 1 GPU, 4 cores, next to a neighbor".
std::string to_string(const Condition& condition);

/// A user's command. In its words, "{batch}", "{batch_per_gpu}", "{gpus}", "{cpus}" and
/// "{memory_gb}" stand for the values of a condition. Other braces stay as they are.
class CommandLine {
 public:
  explicit CommandLine(std::vector<std::string> words) : words_(std::move(words)) {}

  /// Whether a word contains `{placeholder}`.
  bool names(const std::string& placeholder) const;
  /// Returns the words with the values of `condition`.
  std::vector<std::string> fill(const Condition& condition) const;
  /// Returns the variables ALMANAC_BATCH, ALMANAC_BATCH_PER_GPU, ALMANAC_GPUS, ALMANAC_CPUS and
  /// ALMANAC_MEMORY_GB (empty without a limit) with their values.
  static std::vector<std::pair<std::string, std::string>> environment(const Condition& condition);
  /// Returns the name of the first script among the words (.py, .sh, .jl, .lua), otherwise that of
  /// the program; both without their extension.
  std::string subject() const;

 private:
  std::vector<std::string> words_;
};

}  // namespace almanac::profiling
