// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a command is given for a run.
#pragma once

#include <compare>
#include <string>
#include <utility>
#include <vector>

namespace almanac::profiling {

struct Condition {
  double batch = 1;  ///< Samples of one step, over all GPUs.
  int gpus = 1;
  int cpus = 1;          ///< Over all GPUs.
  double memory_gb = 0;  ///< 0 = all that there is.
  bool beside = false;   ///< Beside a neighbour.

  auto operator<=>(const Condition&) const = default;
};

/// "batch 64, 1 GPU, 4 cores, beside a neighbour".
std::string to_string(const Condition& condition);

/// A user's command, in whose words "{batch}", "{batch_per_gpu}", "{gpus}", "{cpus}" and
/// "{memory_gb}" stand for what a condition gives. Other braces are the user's own.
class CommandLine {
 public:
  explicit CommandLine(std::vector<std::string> words) : words_(std::move(words)) {}

  bool names(const std::string& placeholder) const;
  std::vector<std::string> fill(const Condition& condition) const;
  /// ALMANAC_BATCH, ALMANAC_BATCH_PER_GPU, ALMANAC_GPUS, ALMANAC_CPUS, ALMANAC_MEMORY_GB (empty
  /// when there is no limit).
  static std::vector<std::pair<std::string, std::string>> environment(const Condition& condition);
  /// What the command is about: the name of its script, else of its program.
  std::string subject() const;

 private:
  std::vector<std::string> words_;
};

}  // namespace almanac::profiling
