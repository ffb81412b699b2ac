// SPDX-License-Identifier: Apache-2.0

/// \file
/// The journal: changes of jobs that users asked for, and the jobs whose records lack them.
///
/// A change is on the disk as one row before any of it is done, however many jobs it has. The
/// records follow some at a time, and each is written with a journal that no longer names its job.
/// So records and journal together are always complete: a service that restarts applies the changes
/// in order to the jobs that they still name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/job.h"

namespace almanac::service {

/// A change of jobs that a user requested.
struct Wish {
  enum class What : std::uint8_t { submit, cancel, hold, release, requeue, update };
  What what = What::cancel;
  std::uint32_t uid = 0;     ///< The user who asks.
  bool at_once = false;      ///< `cancel`: without grace period.
  store::Amended amended{};  ///< `update`: the new values; `submit`: the request of the array.
  std::vector<store::JobNumber> jobs{};
  // Of `submit`.
  store::JobNumber array{};
  std::vector<std::int32_t> indices{};  ///< One per job.

  bool operator==(const Wish&) const = default;
};

class Journal {
 public:
  using Number = std::int64_t;

  /// Adds a wish; its jobs must be in order of number, each once.
  Number add(Wish wish);
  /// Drops a wish that was not carried out.
  void drop(Number number) { open_.erase(number); }
  /// Notes that these records are written, in order of number. Returns whether a wish named one of
  /// them.
  bool saved(const std::vector<store::JobNumber>& jobs);
  /// Whether records of some of its jobs still have to be written.
  bool contains(Number number) const { return open_.contains(number); }
  /// Open wishes in order of arrival, with the jobs that are left.
  const std::map<Number, Wish>& open() const { return open_; }

  /// Cost: linear in the number of runs of consecutive job numbers.
  std::string to_json() const;
  /// Fails with corrupt.
  static Result<Journal> read(const std::string& json);

 private:
  std::map<Number, Wish> open_;
  Number last_ = 0;
};

}  // namespace almanac::service
