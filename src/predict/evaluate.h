// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tries estimators on a job log as they would have been used: each job is predicted at its
/// submission from what had ended before, models are fitted anew as time goes by (rolling origin).
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
  Time from = kNoTime;  ///< Jobs submitted from here on are tested; kNoTime = the last third of
                        ///< them.
  LearnedOptions learned{};
  std::function<void(double)> progress{};  ///< Told the share that is done; may be empty.
};

/// One estimator, and what it said of each tested job.
struct Tried {
  std::string name{};   ///< "learned", "user_mean", ...
  std::string words{};  ///< "the mean of the user's jobs"
  std::vector<Forecast> forecasts{};
};

/// A job that was tested.
struct Tested {
  std::uint32_t job = 0;  ///< Position in Trace::jobs.
  double log = 0;         ///< log10 seconds that it ran.
  double log_gpus = 0;
  std::uint32_t history = 0;   ///< Jobs of its user that had ended,
  Duration age = kNoDuration;  ///< the last of them so long ago; kNoDuration = there was none.
  NameId user = kNoName;
};

struct Evaluation {
  Time from{};
  std::vector<Tested> jobs{};
  std::vector<Tried> estimators{};  ///< The learned one first, then the rolling one, then the
                                    ///< simple.
  int fits = 0;
  double fit_s = 0;  ///< On the wall, all fits.
};

/// Only GPU jobs are looked at. Fails with invalid when no job is left to test, or none before it.
///
/// Baselines get a 90 % interval too, so that coverage can be compared: as far to either side as
/// nine tenths of their last 2,000 errors reach (split conformal prediction).
Result<Evaluation> evaluate(const trace::Trace& trace, const EvaluateOptions& options);

/// How good an estimator was on some jobs.
struct Score {
  std::int64_t jobs = 0;
  double mae_s = 0;                   ///< Mean absolute error of Forecast::median.
  double median_abs_log10_error = 0;  ///< Of Forecast::typical.
  double spearman_gpu_time = 0;       ///< Of GPUs x Forecast::center with the true GPU time.
  double coverage_90 = 0;             ///< Share of jobs inside of the 90 % interval.
  double interval_width = 0;          ///< Median width of the interval, log10.
};
Score score(const Evaluation& evaluation, const Tried& tried, std::span<const std::uint32_t> jobs);

/// Tested jobs of one kind.
struct Group {
  std::string by{};                   ///< "gpus", "history", "age", "user", "length"
  std::string name{};                 ///< "2-7"
  std::vector<std::uint32_t> jobs{};  ///< Positions in Evaluation::jobs.
};
/// By GPUs, by how much of the user had ended and how long ago, by how much of the tested jobs is
/// the user's, by how long the job ran; empty groups left out.
std::vector<Group> groups(const Evaluation& evaluation);
/// Every tested job.
std::vector<std::uint32_t> all_tested(const Evaluation& evaluation);

}  // namespace almanac::predict
