// SPDX-License-Identifier: Apache-2.0

/// \file
/// Evaluates estimators on a job log as they would have been used. Each job is predicted at its
/// submission from jobs that had ended before, and models are refitted over time (rolling origin).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/forecast.h"
#include "predict/learned.h"
#include "trace/trace.h"

namespace almanac::predict {

struct EvaluateOptions {
  Time from = kNoTime;  ///< Tests jobs submitted from here on; kNoTime for the last third of
                        ///< them.
  LearnedOptions learned{};
  std::function<void(double)> progress{};  ///< Receives the completed fraction; may be empty.
};

/// One estimator and its forecast of each tested job.
struct Tried {
  std::string name{};   ///< "learned", "user_mean", ...
  std::string words{};  ///< "the mean of the user's jobs"
  std::vector<Forecast> forecasts{};
};

/// A tested job.
struct Tested {
  std::uint32_t job = 0;  ///< Position in Trace::jobs.
  double log = 0;         ///< log10 seconds of its run time.
  double log_gpus = 0;
  std::uint32_t history = 0;   ///< Jobs of its user that had ended before.
  Duration age = kNoDuration;  ///< Time since the last of them; kNoDuration if there was none.
  NameId user = kNoName;
};

struct Evaluation {
  Time from{};
  std::vector<Tested> jobs{};
  std::vector<Tried> estimators{};  ///< The learned one, that of forecasts, the rolling one, then
                                    ///< the simple ones.
  int fits = 0;
  double fit_s = 0;  ///< Wall-clock time of all fits.
};

/// Evaluates all estimators on the GPU jobs of `trace`. Fails with invalid if there is no job to
/// test, or none before it.
///
/// Baselines get a 90 % interval too, so that coverage can be compared: as wide to either side as
/// nine tenths of their last 2,000 errors (split conformal prediction).
Result<Evaluation> evaluate(const trace::Trace& trace, const EvaluateOptions& options);

/// Position of the estimate of forecasts (predict/pooled.h) in Evaluation::estimators.
inline constexpr std::size_t kPooled = 1;

/// Quality of an estimator on some jobs.
struct Score {
  std::int64_t jobs = 0;
  double mae_s = 0;                   ///< Mean absolute error of Forecast::median.
  double median_abs_log10_error = 0;  ///< Of Forecast::typical.
  double spearman_gpu_time = 0;       ///< Of GPUs x Forecast::center against the true GPU time.
  double coverage_90 = 0;             ///< Fraction of jobs inside the 90 % interval.
  double interval_width = 0;          ///< Median width of the interval, log10.
  /// Fraction of jobs that ran no longer than Forecast::by_90, to within a cell; NaN without such.
  double ended_by_90 = 0;
};
Score score(const Evaluation& evaluation, const Tried& tried, std::span<const std::uint32_t> jobs);

/// Tested jobs of one kind.
struct Group {
  std::string by{};                   ///< "gpus", "history", "age", "user", "length"
  std::string name{};                 ///< "2-7"
  std::vector<std::uint32_t> jobs{};  ///< Positions in Evaluation::jobs.
};
/// Returns the tested jobs by GPUs, by how many jobs of the user had ended and how long ago, by the
/// user's fraction of the tested jobs, and by run time. Leaves out empty groups.
std::vector<Group> groups(const Evaluation& evaluation);
/// Returns the positions of all tested jobs.
std::vector<std::uint32_t> all_tested(const Evaluation& evaluation);

}  // namespace almanac::predict
