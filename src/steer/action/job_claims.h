// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is in effect of the changes to jobs, for each job that was meant (meant.h) and no other job
/// with its number.
#pragma once

#include <cstddef>
#include <map>

#include "manager/job.h"
#include "steer/meant.h"
#include "steer/mirror.h"

namespace almanac::steer {

/// Identifies a job that exists; otherwise any job with the number.
inline Meant meant_in(const Mirror& mirror, manager::JobNumber number) {
  const manager::Job* const job = mirror.find(number);
  return job == nullptr ? Meant{} : meant_by(*job);
}

template <typename Value>
class JobClaims {
 public:
  struct Claim {
    Meant meant{};
    Value value{};
  };

  /// Returns the value of that job; creates it if there is none, or one of another job with the
  /// number.
  Value& of(manager::JobNumber job, const Meant& meant) {
    Claim& claim = jobs_[job];
    if (!is_same(claim.meant, meant)) claim = {};
    if (meant.submit != kNoTime) claim.meant = meant;
    return claim.value;
  }
  /// Returns null if there is none for that job.
  const Value* find(const manager::Job& job) const {
    const auto found = jobs_.find(job.number);
    const bool is_it = found != jobs_.end() && is_same(found->second.meant, meant_by(job));
    return is_it ? &found->second.value : nullptr;
  }
  void erase(manager::JobNumber job) { jobs_.erase(job); }
  /// Returns the value of a job that has one.
  Value& at(manager::JobNumber job) { return jobs_.at(job).value; }
  /// Forgets jobs that are gone, or of which nothing is in effect any more.
  template <typename Stands>
  void forget_gone(const Mirror& mirror, Stands&& stands) {
    for (auto at = jobs_.begin(); at != jobs_.end();) {
      const manager::Job* const job = mirror.find(at->first);
      if (job == nullptr || find(*job) == nullptr || !stands(*job)) {
        at = jobs_.erase(at);
        continue;
      }
      at->second.meant = meant_by(*job);
      ++at;
    }
  }
  bool empty() const { return jobs_.empty(); }
  auto begin() { return jobs_.begin(); }
  auto end() { return jobs_.end(); }
  auto begin() const { return jobs_.begin(); }
  auto end() const { return jobs_.end(); }
  std::size_t size() const { return jobs_.size(); }

 private:
  std::map<manager::JobNumber, Claim> jobs_;
};

}  // namespace almanac::steer
