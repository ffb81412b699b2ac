// SPDX-License-Identifier: Apache-2.0

/// \file
/// Imports Slurm's accounting into the store: the last week first, so that predictors soon have
/// jobs to learn from, then one earlier week after another down to the requested time. After that
/// it adds jobs as they end.
///
/// The store holds one stretch of time without gaps, and its limits with the jobs, so an
/// interrupted import continues where it stopped. It skips rows that the store has. It leaves the
/// rows of the last minutes for later, because slurmdbd may still receive some.
#pragma once

#include <cstdint>
#include <optional>

#include "accounting/past_job.h"
#include "base/result.h"
#include "base/time.h"
#include "manager/link.h"
#include "store/store.h"

namespace almanac::accounting {

/// The store has the jobs that ended in [from, until).
struct Reach {
  Time from{};
  Time until{};

  bool operator==(const Reach&) const = default;
};

/// Returns how far the import has come; nothing if none has begun.
Result<std::optional<Reach>> reach(const store::Store& store);

/// The result of one step.
struct Step {
  Reach reach{};
  std::int64_t rows = 0;    ///< Rows of accounting.
  std::int64_t jobs = 0;    ///< Jobs that are new in the store, or have a new run.
  std::int64_t unread = 0;  ///< Rows that could not be read and are left out.
  bool done = false;        ///< The store has all jobs that have ended.
};

class Import {
 public:
  /// The import goes back to `back_to`.
  Import(store::Store& store, manager::Link& link, Time back_to, VcFrom vc = VcFrom::partition)
      : store_(&store), link_(&link), back_to_(back_to), vc_(vc) {}

  /// Imports the next week, in batches between which the store accepts other commits. Fails as
  /// Link::ended() and Store::commit() do; it can then be called again.
  Result<Step> step(Time now);

 private:
  struct Taken {
    std::int64_t rows = 0;
    std::int64_t jobs = 0;
    std::int64_t unread = 0;
  };
  /// Imports the rows that ended in [from, until), the latest first if `back`.
  Result<Taken> take(Time from, Time until, bool back);

  store::Store* store_;
  manager::Link* link_;
  Time back_to_;
  VcFrom vc_;
};

}  // namespace almanac::accounting
