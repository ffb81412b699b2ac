// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fits of the single factors; fit.h puts them together.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perf/catalogue.h"
#include "perf/measurement.h"

namespace almanac::perf {

/// sqrt(sum / count); NaN of nothing.
double root_mean(double sum_of_squares, std::size_t count);

/// How cores and memory feed a GPU, from rows of one model of one source that say them. Fitted to
/// the rows of the fewest GPUs, by least squares of logarithms. Where memory was enough in all
/// rows but those that starve, the data set is taken to be as large as that allows.
/// Held out: each number of cores in turn.
Input fit_input(std::span<const Measurement> rows);

/// The same curve held against rows that were not fitted; `rows` of one number of GPUs.
double judge_input(const InputCurve& curve, std::span<const Measurement> rows);

/// The step time of one model on one type of GPU of one source, from rows alone that say neither
/// cores nor memory, by least squares of logarithms. What the rows do not tell apart is left at 0;
/// where only one kind of spread was measured, both are alike; spread is never faster.
/// Held out: placements (GPUs, nodes) in up to ten turns; NaN below three placements.
Board fit_board(std::span<const Measurement> rows);

struct SharingFit {
  std::map<std::string, Sharing> models;
  SharingByStep unseen;
  FitError error;
  double unseen_error = 0;  ///< Held out: each model in turn, its sharing told by its steps.
  double mean_error = 0;    ///< The same pairs, told by the mean of the others.
  int pairs = 0;
};

/// How models share one type of GPU of one source, from rows of one GPU; nothing without pairs.
/// Held out: pairs, both sides of them, in ten turns.
std::optional<SharingFit> fit_sharing(std::span<const Measurement> rows);

/// Speeds of types of GPU relative to `first`, the mean of models of their mean over batches, from
/// rows of one GPU of one source. Held out: each model, told by the others.
std::vector<GpuClass> fit_gpus(std::span<const Measurement> rows, const std::string& first);

/// Adds to `catalogue` what the rows of a source that say training or inference tell (fit_rate.h).
/// A model in training without a row of more GPUs gets the Comm that fits all the others' together.
/// The first source counts; `notes` says what was left out.
void fit_genie(const Profile& source, Catalogue& catalogue, std::vector<std::string>& notes);

}  // namespace almanac::perf
