// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits a catalogue to measurements and reports its error.
///
/// A row that says training or inference describes strong scaling (genie.h). Of the other rows, one
/// with cores or memory describes how a GPU is fed, one with a neighbor describes how jobs share a
/// GPU, and the rest describe step times; rows of one GPU among them compare types.
///
/// Cost     the public profiles, 10,700 rows: docs/guide/perf.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "perf/catalogue.h"
#include "perf/measurement.h"

namespace almanac::perf {

/// Properties of a fitted input beyond its error.
struct InputTrial {
  std::string model;
  int rows = 0;
  /// Error on tables of more GPUs, which were not fitted; NaN without any.
  double more_gpus = 0;
  /// Error of the curve of the nearest other model of the kind; NaN without any.
  double nearest = 0;
  double insensitive = 0;  ///< Error of a model that needs nothing.
  /// Grid points that optimistic profiling measures.
  int profiled_points = 0;
  int grid_points = 0;
  double profiled = 0;        ///< Error of what it fills in, over the whole table.
  double profiled_worst = 0;  ///< The most that a cell is off, relative to the measured speed.
};

/// How types of GPU are shared, beyond its errors.
struct SharingTrial {
  std::string gpu_type;
  int pairs = 0;
  /// Error on unseen models, predicted by the mean of the other pairs.
  double mean = 0;
};

struct Fit {
  Catalogue catalogue;
  std::vector<InputTrial> inputs;
  std::vector<SharingTrial> sharings;
  std::vector<std::string> notes;  ///< What was left out, one line each.
};

/// If several sources cover the same thing, the first one counts. Fails with `invalid` if nothing
/// can be fitted.
Result<Fit> fit(const std::vector<Profile>& profiles);

}  // namespace almanac::perf
