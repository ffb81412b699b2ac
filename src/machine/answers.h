// SPDX-License-Identifier: Apache-2.0

/// \file
/// Callers that wait until their request is on disk.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machine/state.h"
#include "service/journal.h"

namespace almanac::machine {

/// Requires the lock of `State`.
class Answers {
 public:
  /// The caller of a change or a submission.
  struct Awaited {
    service::Journal::Number number = 0;  ///< Request whose records are being written; 0: none.
    std::size_t jobs = 0;
    std::function<void(const Result<void>&)> answer{};
  };

  explicit Answers(const State& state) : state_(state) {}

  void await(Awaited awaited) { awaited_.push_back(std::move(awaited)); }
  /// Answers the callers whose changes are on disk: in the records or, while the disk accepts no
  /// writes, in the journal.
  void answer_kept(Lock& lock);
  /// Answers all callers: the journal contains everything that is not done yet.
  void answer_all();

 private:
  const State& state_;
  std::vector<Awaited> awaited_;
};

}  // namespace almanac::machine
