// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a survey found, as a profile for perf/ and in words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/measurement.h"
#include "profiling/survey.h"

namespace almanac::profiling {

struct Findings {
  /// The fewest cores of a GPU that are as fast as all; nothing when cores were not varied.
  std::optional<int> cores{};
  bool wants_more_cores = false;  ///< It still got faster with the last core there was.
  /// The batch of a GPU at which a GPU makes 90 % of what it would with batches without bound.
  std::optional<double> saturation{};
  double least_batch = 0;  ///< Of a GPU, of those that ran.
  double most_batch = 0;
  double share_at_most = 0;  ///< What a GPU makes at the greatest batch, of that bound.
  std::vector<std::pair<int, double>> more_gpus{};  ///< Number, and speed relative to one.
  std::optional<double> beside{};                   ///< Speed relative to alone.
  bool beside_shares_cores = false;
  std::vector<std::pair<double, double>> memories{};  ///< GB, and speed relative to all there is.
};

Findings findings_of(const Survey& survey);

/// "needs 4 cores per GPU", "saturates at batch 64", "2 GPUs give 1.80x", ...
std::vector<std::string> sentences(const Findings& findings);

/// What rows say of all runs alike.
struct Labels {
  std::string model{};
  std::string gpu_type{};
  std::string neighbour{};       ///< "" = the model itself.
  double machine_memory_gb = 0;  ///< What a run without a limit had.
  /// Its batch stays as it is with more GPUs: then GENIE's model can be fitted to it too.
  bool batch_stays = false;
};

/// Rows for perf/: cores and memory where they were varied, else the step.
perf::Profile profile_of(const Survey& survey, const Labels& labels);

}  // namespace almanac::profiling
