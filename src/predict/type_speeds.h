// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much faster jobs are on one type of GPU than on another, learned from jobs that are taken to
/// do the same work: those of one user and name, on as many GPUs.
///
/// Of jobs that ran on both types it is the ratio of the geometric means of their times. Of others
/// it is the mean of that, in logarithms, over all jobs of which it is known; where there are none
/// nothing is known, and the answer says so.
///
/// Source   ours. Gavel (Narayanan et al., OSDI'20, section 6) completes a matrix of measured rates
///          of models instead; here names stand for models.
/// Cost     O(types) a lesson, O(1) a question; some 100 bytes for each user, name, number of GPUs
///          and type.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/names.h"
#include "trace/job.h"

namespace almanac::predict {

class TypeSpeeds {
 public:
  /// Jobs that are alike. Without a name a job is like no other: nothing is learned of it.
  struct Alike {
    NameId user = kNoName;
    NameId name = kNoName;
    std::int32_t gpus = 0;

    auto operator<=>(const Alike&) const = default;
  };
  enum class From : std::uint8_t {
    nothing,   ///< It is not known: as fast.
    all_jobs,  ///< The mean of the jobs of which it is known.
    alike,     ///< Jobs that are alike.
  };
  struct Belief {
    double speed = 1;
    From from = From::nothing;
  };

  /// A job did its work, or a unit of it, in `time_s` on GPUs of `type`.
  void learn(const Alike& jobs, std::string_view type, double time_s);
  /// Learns from a job of a log, named by its model where it tells one; nothing where it did not
  /// complete, or accepts several types, of which the log does not say which one it had.
  void learn(const trace::Job& ended, const Names& names);
  static Alike alike(const trace::Request& request) {
    const NameId name = request.model != kNoName ? request.model : request.name;
    return {request.user, name, request.gpus};
  }

  /// The speed on `type` beside that on `home`.
  Belief speed(const Alike& jobs, std::string_view type, std::string_view home) const;

  /// Kinds of jobs that anything was learned of, and those of them that ran on several types.
  std::size_t num_kinds() const { return kinds_.size(); }
  std::size_t num_compared() const;

 private:
  using Type = std::uint32_t;
  struct Times {
    double sum_of_logs = 0;
    int count = 0;

    double mean() const { return sum_of_logs / count; }
  };
  using OnTypes = std::map<Type, Times>;

  Type number(std::string_view type);
  /// Adds what a kind says of `type` beside all others to the means, or takes it out again.
  void count(const OnTypes& times, Type type, int sign);
  static bool is_known(const Times& times) { return times.count >= kLeastRuns; }

  static constexpr int kLeastRuns = 2;  // one may have done anything
  std::map<std::string, Type, std::less<>> types_;
  std::map<Alike, OnTypes> kinds_;
  std::map<std::pair<Type, Type>, Times> means_;  // logarithms of speeds, the first by the second
};

}  // namespace almanac::predict
