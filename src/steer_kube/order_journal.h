// SPDX-License-Identifier: Apache-2.0

/// \file
/// All numbers that Almanac ever wrote to workloads, in a file that only grows: a line before each
/// write, and one with its result. Both are on the disk before anything else happens, so the
/// numbers can be taken back after any crash.
///
/// {"cluster":"uid"}                    of the cluster that all numbers are of
/// {"n":17,"at_s":1e9,"uid":"...","namespace":"a","name":"job-1","field":"priority","base":0,
/// "was":0,"becomes":3,"why":"place 1 of 9 in team-a"}
/// {"done":17}                          or {"done":17,"failed":"409 Conflict"}
/// {"dropped":"uid","why":"deleted"}    or {"dropped":"uid","why":"...","foreign":true}
///
/// Without a result, the API server did not answer and may have done it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "service/line_file.h"
#include "steer_kube/settings.h"

namespace almanac::steer_kube {

/// A number of a workload that Almanac changes.
struct Change {
  std::string uid{};
  std::string name_space{};
  std::string name{};
  Field field = Field::priority;
  std::int64_t base = 0;  ///< The number without Almanac.
  std::int64_t was = 0;
  std::int64_t becomes = 0;
  std::string why{};
};

/// "a/job-1: spec.priority 0 -> 3; place 1 of 9 in team-a"
std::string to_words(const Change& change);

/// A number that is in force.
struct Claim {
  std::string name_space{};
  std::string name{};
  Field field = Field::priority;
  std::int64_t base = 0;
  std::int64_t value = 0;
  std::optional<std::int64_t> former{};  ///< May still be there: the last write has no result.

  bool is_ours(std::int64_t number) const { return number == value || number == former; }
};

/// Not thread-safe.
class OrderJournal {
 public:
  /// Reads the file, or creates it. Fails with `unavailable`, and with `corrupt` at a line that
  /// Almanac did not write.
  static Result<OrderJournal> open(const std::string& path);

  /// Binds the file to a cluster at first. Fails with conflict if it is of another one.
  Result<void> bind(const std::string& cluster);

  /// By uid.
  const std::map<std::string, Claim>& claims() const { return claims_; }
  /// Call before the change is made. Fails with `unavailable`; then it must not be made.
  Result<void> begin(const Change& change, Time at);
  /// The result of the change that began last: "" = it was made, a reason = it was not, nothing =
  /// unknown.
  Result<void> end(const std::optional<std::string>& failure);
  /// Uids of workloads whose number another wrote after Almanac: they are left alone for ever.
  const std::set<std::string>& foreign() const { return foreign_; }
  /// Adds a number that is in force, of an earlier journal. Fails like begin().
  Result<void> adopt(const std::string& uid, const Claim& claim, Time at);
  /// The claim, or the mark as foreign, is over.
  Result<void> drop(const std::string& uid, const std::string& why, bool is_foreign);

 private:
  OrderJournal(service::LineFile file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  void apply(const Change& change);
  /// Starts a new file once the old one is large.
  Result<void> compact();

  service::LineFile file_;
  std::string path_;
  std::string cluster_{};  ///< Its uid; "" = of none yet.
  std::map<std::string, Claim> claims_{};
  std::set<std::string> foreign_{};
  std::int64_t next_ = 1;
  std::string begun_{};            ///< Uid of the change that began last.
  std::optional<Claim> before_{};  ///< Its claim before that.
};

}  // namespace almanac::steer_kube
