// SPDX-License-Identifier: Apache-2.0

/// \file
/// A trace replayed on a Slurm by the wall clock: every job is submitted when its time has come and
/// ended when it has run as long as it should; what became of each is kept.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "slurm_replay/controller.h"
#include "trace/trace.h"

namespace almanac::replay {

/// By which the replay is judged, beside the times of the jobs.
struct Report {
  int refused = 0;         ///< Slurm would never take them.
  int never_started = 0;   ///< Waited still when nothing had happened for `patience`,
  int held = 0;            ///< of these so many because they were held.
  int ended_by_other = 0;  ///< Ended without us.
  int ran_twice = 0;       ///< Were started again after they had run.
  int forgotten = 0;       ///< The controller knew them no more, and they were submitted again.
  int silences = 0;        ///< Times that the controller did not answer.
  double submit_s = 0;     ///< Mean length of a call, as of those below.
  double look_s = 0;
  double end_s = 0;

  /// Every job ran once, from its start to its end.
  bool is_sound() const { return refused + never_started + ended_by_other + ran_twice == 0; }
};

struct Options {
  std::string partition{};
  Duration poll = 30ms;
  Duration patience = 120s;
};

/// The jobs of `trace` get their true submission, start, end and run time; those that did not run
/// from start to end get none. Fails with not_found for a user who is none here.
Result<Report> replay(trace::Trace& trace, Controller& controller, const Options& options);

}  // namespace almanac::replay
