// SPDX-License-Identifier: Apache-2.0

/// \file
/// Brings Slurm's accounting into the store: first the last week, so that there is soon something
/// to learn from, then week after week back as far as asked; then it follows, as jobs end.
///
/// What is in the store is one stretch of time without gaps. It is kept there with the jobs, so an
/// import that was ended goes on where it was; a row that is there already is passed over. Rows of
/// the last minutes are left for later: slurmdbd may yet hear of them.
#pragma once

#include <cstdint>
#include <optional>

#include "accounting/past_job.h"
#include "base/result.h"
#include "base/time.h"
#include "slurm/link.h"
#include "store/store.h"

namespace almanac::accounting {

/// The jobs that ended in [from, until) are in the store.
struct Reach {
  Time from{};
  Time until{};

  bool operator==(const Reach&) const = default;
};

/// How far an import has come; nothing where none has begun.
Result<std::optional<Reach>> reach(const store::Store& store);

/// What one step did.
struct Step {
  Reach reach{};
  std::int64_t rows = 0;    ///< Of accounting.
  std::int64_t jobs = 0;    ///< New in the store, or with a run more.
  std::int64_t unread = 0;  ///< Rows that could not be read, and are left out.
  bool done = false;        ///< All there is at present.
};

class Import {
 public:
  /// `back_to` is as far as it goes back.
  Import(store::Store& store, slurm::Link& link, Time back_to, VcFrom vc = VcFrom::partition)
      : store_(&store), link_(&link), back_to_(back_to), vc_(vc) {}

  /// The next week, in batches between which other commits go on. Fails as Link::ended() and
  /// Store::commit() do; then it can be tried again.
  Result<Step> step(Time now);

 private:
  struct Taken {
    std::int64_t rows = 0;
    std::int64_t jobs = 0;
    std::int64_t unread = 0;
  };
  /// Rows that ended in [from, until): the latest first if `back`.
  Result<Taken> take(Time from, Time until, bool back);

  store::Store* store_;
  slurm::Link* link_;
  Time back_to_;
  VcFrom vc_;
};

}  // namespace almanac::accounting
