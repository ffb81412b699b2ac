// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy as a choice for each slot.
#pragma once

#include <limits>
#include <string>

#include "base/time.h"

namespace almanac::policy {

/// When a running job may be stopped for another.
enum class Preempt {
  never,
  by_rank,  ///< For a job of lower rank that can then be placed.
  late,     ///< If it is late or was promised nothing, for one whose deadline can be met.
  quota,  ///< As Helios' simulator does: whoever is not among the first jobs that fill the GPUs by
          ///< count is stopped, whether or not the others can then be placed.
};

/// Whose jobs go first, before any order.
enum class Share {
  queue,   ///< Nobody's: all jobs stand in one queue.
  users,   ///< Those of the user with the least dominant share of what is in use; none blocks
           ///< another.
  arrays,  ///< The same, in an array for GPU jobs and one for CPU jobs.
  models,  ///< Nobody's, but each model owns an equal part of the GPUs.
};

/// Whether a job that asks whole GPUs may share them.
enum class Colocate {
  alone,
  harmless,  ///< With one running job, instead of waiting, where both keep nearly all their speed.
};

/// Whose deadlines are promised to be met when they come, before anything else; who cannot be
/// promised that runs as one without a deadline. Needs leases.
enum class Admit {
  nobody,    ///< Nothing is promised: deadlines are for the order.
  leases,    ///< Whose GPUs are there for enough leases before the deadline (Chronus).
  shares,    ///< For whom some number of GPUs is enough: the fewest that are, and what is left goes
             ///< to whom it helps most (ElasticFlow).
  cheapest,  ///< The same, but nothing is promised for good: as a lease begins, those deadlines are
             ///< chosen anew that cost least GPU time (ours).
};

/// Values of Composition::reserve.
inline constexpr int kEveryJob = std::numeric_limits<int>::max();
inline constexpr int kNobodyHolds = -1;  ///< Others pass whoever does not fit.

/// Source   Mohan et al., OSDI'22 (Synergy).
inline constexpr Duration kUsualLease = 300s;

/// What the slots are filled with. Names are those of the registry; an empty estimate means that
/// nothing is believed, which only orders that ask no estimate accept.
struct Composition {
  std::string name{};
  std::string summary{};
  std::string source{};
  std::string estimate = "oracle";
  std::string order = "fifo";
  std::string placement = "consolidate";
  std::string shape = "rigid";
  std::string size = "asked";
  std::string capacity = "all";
  std::string throttle = "none";
  Share share = Share::queue;
  Admit admit = Admit::nobody;
  int reserve = 0;  ///< Jobs that hold a reservation while others pass them: 0 = strict order.
  Preempt preempt = Preempt::never;
  Colocate colocate = Colocate::alone;
  double harmless_rate = 0.9;  ///< That both keep of their speed alone, where one joins another.
  Duration lease{0};           ///< Above 0: jobs are ranked and dealt out anew each so often.
  Duration lease_phase{0};     ///< When the first lease begins, and with it all others.
  bool binds = false;  ///< A job that lacks nodes which sleep or boot is bound to them; else it
                       ///< takes what comes free first.
  bool as_published = false;  ///< Leases as Synergy's artifact has them, with its faults.
  Duration rank_delay{0};  ///< A job that finds the queue empty gets its rank only this much later
                           ///< (Helios' QSSF: 1 s).
  double las_threshold_gpu_s = 18'000;  ///< Attained service above which `las` moves a job to the
                                        ///< second queue.
  double reserve_cpus = 3;              ///< Cores of each GPU that `arrays` keeps for GPU jobs.
  Duration trial = 90s;  ///< How long `adaptive` lets a job run with other cores before it judges.
};

}  // namespace almanac::policy
