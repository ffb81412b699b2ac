// SPDX-License-Identifier: Apache-2.0

/// \file
/// What another quota, and an order by Almanac, would change for the last weeks of a log on a
/// cluster that admits jobs with Kueue. Simulated like advice for Slurm: the same jobs from the
/// same time, compared with Kueue as its objects are today.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advice/gain.h"
#include "advice/groups.h"
#include "advice/play.h"
#include "base/result.h"
#include "kueue/read.h"
#include "kueue/what_if.h"

namespace almanac::advice {

struct KueueQuestion {
  Duration weeks = 24h * 28;  ///< Before the last submission.
  std::string what_if{};      ///< See kueue::change(); "" = no change is asked for.
  bool shares = false;        ///< Kueue's fair sharing is on.
  Conditions conditions{};    ///< Requires `queues`.
};

/// The same jobs under something else than today's Kueue.
struct KueueVariant {
  enum class Kind : std::uint8_t {
    change,  ///< Kueue with the change that was asked for.
    order,   ///< Kueue with Almanac's order, and the change if there is one.
    free,    ///< Almanac without Kueue: for comparison; not proven to be a bound.
  };
  Kind kind{};
  std::string name{};
  std::int64_t never = 0;  ///< Jobs that start today, and would never start.
  std::int64_t newly = 0;  ///< Jobs that never start today, and would.
  Figures figures{};
  Gain wait{};
  Gain jct{};
  std::vector<Group> losers{};
};

struct KueueAdvice {
  Time since{};
  Time until{};
  std::int64_t jobs = 0;  ///< Start today and in every variant; all figures are theirs.
  std::int64_t days = 0;
  std::int64_t never = 0;         ///< Never start under today's Kueue.
  std::optional<Figures> real{};  ///< As recorded, if the log has all starts.
  /// Whether today's waits are the recorded ones (experiment::reproduces()); nothing without
  /// `real`.
  std::optional<bool> reproduces{};
  Figures today{};  ///< Under today's Kueue.
  std::vector<kueue::Changed> changed{};
  bool has_effect = true;  ///< The change alters the wait or the run of some job.
  std::vector<KueueVariant> variants{};
  /// Queues that the order leaves out, and why: "team-a: a rank could evict ...".
  std::vector<std::string> unsafe{};
  std::vector<std::string> notes{};
};

/// Fails with `unavailable` if no job ran in these weeks and when stopped, with usage for a change
/// that Kueue would refuse, and like kueue::notes_on_jobs(). Cost: four or five simulations.
Result<KueueAdvice> advise_kueue(trace::Trace log, const cluster::Cluster& cluster,
                                 const KueueQuestion& question);

}  // namespace almanac::advice
