// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that others come after.
///
/// A list of them belongs to all tasks of an array that share it. How its jobs stand is counted as
/// they end, not when somebody asks: 40,000 tasks that come after 1,000 jobs cost 1,000 looks in
/// all, and each question one.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/job.h"

namespace almanac::machine {

class Prerequisites {
 public:
  /// `begun`: has not ended, and has begun.
  enum class Outcome : std::uint8_t { open, begun, well, badly };
  enum class Answer : std::uint8_t { yes, not_yet, never };
  using Look = std::function<Outcome(store::JobNumber)>;
  /// From 1; 0 = comes after nothing.
  using List = std::int64_t;

  explicit Prerequisites(Look look) : look_(std::move(look)) {}

  /// A job joins those that wait by its list, and names the list. Looks at each job of a list that
  /// is new, once, unless another list has it. Cost: O(1) for all but the first job of a list.
  List join(const store::Asked& asked);
  /// The job waits by it no more; the last one takes the list with it.
  void leave(List list);
  /// Cost: O(1).
  Answer answer(List list) const;
  /// The job, or the array, has begun or ended, or is to run again. Gives the lists that answer
  /// otherwise than before. Cost: one look, and O(log n) for each list of n jobs that it is in.
  std::vector<List> update(store::JobNumber number);

  /// Jobs looked at so far: what all of this costs.
  std::uint64_t num_looks() const { return num_looks_; }

 private:
  struct Job {
    store::JobNumber number{};
    bool never_well = false;   ///< Its waiting jobs are cancelled if it ends well ...
    bool never_badly = false;  ///< ... or if it does not.
    bool start_suffices = false;

    auto operator<=>(const Job&) const = default;
  };
  struct Waiting {
    store::Asked asked{};     // keeps its address from being another's
    std::vector<Job> jobs{};  // by number; one may be there in several ways
    std::int64_t open = 0;
    std::int64_t never = 0;
    std::int64_t users = 0;

    std::int64_t satisfied() const { return std::ssize(jobs) - open - never; }
  };
  struct Watched {
    Outcome outcome{};
    std::vector<List> lists{};  // some may be gone
    std::size_t num_gone = 0;
  };
  static Answer answer(const Waiting& waiting);
  static void count(Waiting& waiting, const Job& job, Outcome outcome, int sign);

  Look look_;
  std::unordered_map<const store::Submission*, List> known_;
  std::unordered_map<List, Waiting> lists_;
  std::map<store::JobNumber, Watched> watched_;
  List last_ = 0;
  std::uint64_t num_looks_ = 0;
};

}  // namespace almanac::machine
