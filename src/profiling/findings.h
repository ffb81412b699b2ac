// SPDX-License-Identifier: Apache-2.0

/// \file
/// The results of a survey: as sentences, and as a profile from which perf/ fits models.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/measurement.h"
#include "profiling/survey.h"

namespace almanac::profiling {

struct Findings {
  /// The fewest cores per GPU with which the job is as fast as with all; nothing if cores were not
  /// varied.
  std::optional<int> cores{};
  bool wants_more_cores = false;  ///< The last of all cores still made the job faster.
  /// The batch per GPU with which a GPU reaches 90 % of its peak rate, the limit for ever larger
  /// batches.
  std::optional<double> saturation{};
  double least_batch = 0;    ///< Smallest batch per GPU that ran.
  double most_batch = 0;     ///< Largest batch per GPU that ran.
  double share_at_most = 0;  ///< Fraction of the peak rate that a GPU reaches at `most_batch`.
  std::vector<std::pair<int, double>> more_gpus{};  ///< Number, and speed relative to one.
  std::optional<double> beside{};  ///< Speed next to a neighbor, relative to alone.
  bool beside_shares_cores = false;
  /// GB of a memory limit, and the speed with it relative to no limit; 0 = the job did not run.
  std::vector<std::pair<double, double>> memories{};
};

/// Returns empty Findings if the job did not run under the survey's `home`.
Findings findings_of(const Survey& survey);

/// Returns sentences such as "needs 4 cores per GPU" and "2 GPUs give 1.80x".
std::vector<std::string> sentences(const Findings& findings);

/// Properties that all rows of a profile share.
struct Labels {
  std::string model{};
  std::string gpu_type{};
  std::string neighbour{};       ///< Model of the neighbor; "" = the same as `model`.
  double machine_memory_gb = 0;  ///< Memory of a run without a limit.
  /// The total batch stays the same with more GPUs, so GENIE's model can be fitted to the rows too.
  bool batch_stays = false;
};

/// Returns the rows for perf/: for the step time, for GENIE's model if `batch_stays`, and for the
/// input (cores, memory) if these were varied.
perf::Profile profile_of(const Survey& survey, const Labels& labels);

}  // namespace almanac::profiling
