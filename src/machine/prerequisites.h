// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that other jobs depend on.
///
/// All tasks of an array that share a dependency list share one entry. The state of a list is
/// updated as its jobs end, not when it is queried: 40,000 tasks that depend on 1,000 jobs cost
/// 1,000 updates in total, and each query is O(1).
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
  /// `begun`: has started and has not ended.
  enum class Outcome : std::uint8_t { open, begun, well, badly };
  enum class Answer : std::uint8_t { yes, not_yet, never };
  using Look = std::function<Outcome(store::JobNumber)>;
  /// Numbered from 1; 0 for no dependencies.
  using List = std::int64_t;

  explicit Prerequisites(Look look) : look_(std::move(look)) {}

  /// Registers a waiting job with its list, and returns the list. Looks up each job of a new list
  /// once, unless another list has it. Cost: O(1) except for the first job of a list.
  List join(const store::Asked& asked);
  /// Removes a waiting job from its list; the last one deletes the list.
  void leave(List list);
  /// Cost: O(1).
  Answer answer(List list) const;
  /// Handles a job or array that has started, has ended, or will run again. Returns the lists whose
  /// answer changed. Cost: one lookup, and O(log n) for each list of n jobs that contains it.
  std::vector<List> update(store::JobNumber number);

  /// Number of lookups so far.
  std::uint64_t num_looks() const { return num_looks_; }

 private:
  struct Job {
    store::JobNumber number{};
    bool never_well = false;   ///< Its dependents are cancelled if it ends well ...
    bool never_badly = false;  ///< ... or if it does not.
    bool start_suffices = false;

    auto operator<=>(const Job&) const = default;
  };
  struct Waiting {
    store::Asked asked{};     // keeps its address from being reused
    std::vector<Job> jobs{};  // by number; one job may appear in several ways
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
