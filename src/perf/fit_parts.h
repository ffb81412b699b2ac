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

/// Fits how cores and memory feed a GPU, from rows of one model of one source. Uses the rows with
/// the fewest GPUs, and least squares of logarithms. If memory was enough in all rows except those
/// that starve, the data set counts as the largest size that allows this. Held out: each number of
/// cores in turn.
Input fit_input(std::span<const Measurement> rows);

/// Returns the error of that curve on rows that were not fitted; `rows` have one number of GPUs.
double judge_input(const InputCurve& curve, std::span<const Measurement> rows);

/// Fits the step time of one model on one type of GPU of one source, from rows without cores and
/// memory, by least squares of logarithms. Parameters that the rows do not determine are 0. If only
/// one kind of spread was measured, both are equal; spread is never faster. Held out: placements
/// (GPUs, nodes) in up to ten turns; NaN below three placements.
Board fit_board(std::span<const Measurement> rows);

struct SharingFit {
  std::map<std::string, Sharing> models;
  SharingByStep unseen;
  FitError error;
  double unseen_error = 0;  ///< Held out: each model in turn, its sharing predicted from its steps.
  double mean_error = 0;    ///< The same pairs, predicted by the mean of the others.
  int pairs = 0;
};

/// How models share one type of GPU of one source, from rows of one GPU; nothing without pairs.
/// Held out: pairs, both sides of them, in ten turns.
std::optional<SharingFit> fit_sharing(std::span<const Measurement> rows);

/// Returns speeds of GPU types relative to `first`: the mean over models of their mean over batch
/// sizes, from rows of one GPU of one source. Held out: each model, predicted by the others.
std::vector<GpuClass> fit_gpus(std::span<const Measurement> rows, const std::string& first);

/// Adds to `catalogue` what rows of a source with training or inference describe (fit_rate.h). A
/// model in training without a row of several GPUs gets the Comm fitted to all other models
/// together. The first source counts; `notes` gets what was left out.
void fit_genie(const Profile& source, Catalogue& catalogue, std::vector<std::string>& notes);

}  // namespace almanac::perf
