// SPDX-License-Identifier: Apache-2.0

/// \file
/// How often forecasts came true: of a share of 0.9 said, nine in ten should.
#pragma once

#include <span>

#include "base/result.h"
#include "experiment/experiment.h"
#include "forecast/forecaster.h"

namespace almanac::forecast {

/// The share that every stretch and every "by then" is said with.
inline constexpr double kSaid = 0.9;

/// Where the truth lay, of a stretch said of each job.
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
  int ended_by = 0;             ///< Of the jobs, had ended when it was said that they would have.
  double mean_start_off_s = 0;  ///< Mean distance of the start from the middle of what was said.
};

/// Compares with `truth`, one a job told, in order.
Score score(std::span<const Told> told, std::span<const sim::JobResult> truth);

/// What became of the jobs in the run as it was.
std::vector<sim::JobResult> as_it_was(const sim::Schedule& schedule, std::span<const Told> told);
/// What would have become of them, with the run times as they were, had no job come after them: how
/// good the forecasts are but for what they cannot know.
std::vector<sim::JobResult> had_nobody_come(const experiment::Prepared& prepared, std::size_t run,
                                            std::span<const Told> told);

/// What was told of other numbers of GPUs, each as if of the job itself.
std::vector<Told> of_other_gpus(std::span<const Told> told);
/// What would have become of those, one each, had no job come after.
std::vector<sim::JobResult> had_asked_other_gpus(const experiment::Prepared& prepared,
                                                 std::size_t run, std::span<const Told> told);

}  // namespace almanac::forecast
