// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measurements of training jobs: one speed per row, with the resources of the job.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::perf {

inline constexpr double kNotSaid = std::numeric_limits<double>::quiet_NaN();

struct Measurement {
  /// Training or inference whose batch is that of all GPUs, however many (genie.h).
  enum class Task : unsigned char { not_said, training, inference };

  std::string model{};
  double batch = 1;  ///< Samples of one step, over all GPUs.
  std::string gpu_type{};
  int gpus = 1;
  int nodes = 1;
  double cpus_per_gpu = kNotSaid;
  double memory_gb_per_gpu = kNotSaid;
  std::string neighbour{};  ///< Model that shares the GPU; "" for none.
  double neighbour_batch = 1;
  /// Samples per second over all GPUs; 0 if it did not run, like two jobs that do not fit on one
  /// GPU.
  double throughput = 0;
  double low = kNotSaid;  ///< 95 % interval of the throughput.
  double high = kNotSaid;
  Task task = Task::not_said;
  double steps = kNotSaid;    ///< Of a run that was timed from its start.
  double seconds = kNotSaid;  ///< to its end.
};

/// The measurements of one source. Throughputs are compared within a model of a source, never
/// between sources: that would compare laboratories.
struct Profile {
  std::string source;
  std::vector<Measurement> rows;
};

/// Reads a file, recognized by its content: our CSV (docs/reference/formats.md, "Profiles"), or the
/// published files of Synergy, Gavel, AdaptDL (Pollux) and Rubick. Fails with `not_found`, with
/// `unsupported` for any other table, or with `invalid`: file, line, and what was expected.
Result<Profile> read_profile(const std::string& path);

/// Writes our CSV for read_profile(). Fails with `unavailable`.
Result<void> write_profile(const Profile& profile, const std::string& path);

}  // namespace almanac::perf
