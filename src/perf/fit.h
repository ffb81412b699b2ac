// SPDX-License-Identifier: Apache-2.0

/// \file
/// Fits a catalogue to measurements and says how far off it is.
///
/// A row that says training or inference tells of strong scaling (genie.h). Of the others, a row
/// that says cores or memory tells how a GPU is fed; a row with a neighbour how jobs share a
/// GPU; the others how long a step takes, and rows of one GPU among them how types compare.
///
/// Cost     the public profiles, 10,700 rows: docs/guide/perf.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "perf/catalogue.h"
#include "perf/measurement.h"

namespace almanac::perf {

/// What is known of a fitted input beyond its error.
struct InputTrial {
  std::string model;
  int rows = 0;
  double more_gpus = 0;  ///< Error on tables of more GPUs, which were not fitted; NaN = none.
  double nearest = 0;    ///< Error of the curve of the nearest other model of the kind; NaN = none.
  double insensitive = 0;   ///< Error of a model that needs nothing.
  int profiled_points = 0;  ///< That optimistic profiling measures of the table's grid.
  int grid_points = 0;
  double profiled = 0;        ///< Error of what it fills in, over the whole table.
  double profiled_worst = 0;  ///< The most that a cell is off, relative to the measured speed.
};

/// How types of GPU are shared, beyond its errors.
struct SharingTrial {
  std::string gpu_type;
  int pairs = 0;
  double mean = 0;  ///< Error on unseen models where the mean of the other pairs is told.
};

struct Fit {
  Catalogue catalogue;
  std::vector<InputTrial> inputs;
  std::vector<SharingTrial> sharings;
  std::vector<std::string> notes;  ///< What was left out. One line each.
};

/// Of several sources for one thing the first counts. Fails with invalid when nothing can be
/// fitted.
Result<Fit> fit(const std::vector<Profile>& profiles);

}  // namespace almanac::perf
