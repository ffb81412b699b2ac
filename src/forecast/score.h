// SPDX-License-Identifier: Apache-2.0

/// \file
/// How often forecasts came true: with a probability of 0.9, nine in ten should.
#pragma once

#include <span>

#include "base/result.h"
#include "experiment/experiment.h"
#include "forecast/forecaster.h"

namespace almanac::forecast {

/// Probability of every interval and every "by then".
inline constexpr double kSaid = 0.9;

/// Position of the outcomes relative to the forecast intervals.
struct Hits {
  int before = 0;
  int within = 0;
  int after = 0;

  void count(const Forecast::Stretch& said, Time truth) {
    ++(truth < said.from ? before : truth > said.to ? after : within);
  }
  int all() const { return before + within + after; }
};

struct Score {
  Hits start;
  Hits end;
  int ended_by = 0;             ///< Jobs that had ended by the forecast time.
  double mean_start_off_s = 0;  ///< Mean distance of the start from the middle of its interval.
};

/// Compares with `truth`, one per forecast, in order.
Score score(std::span<const Told> told, std::span<const sim::JobResult> truth);

/// Returns the outcomes of the jobs in the run.
std::vector<sim::JobResult> as_it_was(const sim::Schedule& schedule, std::span<const Told> told);
/// Returns the outcomes if no job had arrived after them, with the recorded run times: this
/// isolates what forecasts cannot know.
std::vector<sim::JobResult> had_nobody_come(const experiment::Prepared& prepared, std::size_t run,
                                            std::span<const Told> told);

/// Returns the forecasts for other numbers of GPUs, each as if for the job itself.
std::vector<Told> of_other_gpus(std::span<const Told> told);
/// Returns the outcomes for those, if no job had arrived afterwards.
std::vector<sim::JobResult> had_asked_other_gpus(const experiment::Prepared& prepared,
                                                 std::size_t run, std::span<const Told> told);

}  // namespace almanac::forecast
