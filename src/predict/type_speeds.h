// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much faster jobs are on one GPU type than on another, learned from jobs that are assumed to
/// do the same work: those of one user and name on the same number of GPUs.
///
/// For jobs that ran on both types it is the ratio of the geometric means of their run times. For
/// other jobs it is the mean, in logarithms, over all jobs for which that is known. If there are
/// none, the answer says that nothing is known.
///
/// Source   Our own. Gavel (Narayanan et al., OSDI'20, section 6) completes a matrix of measured
///          rates of models; here names stand for models.
/// Cost     O(types) per learned run, O(1) per query; about 100 bytes for each user, name, number
///          of GPUs and type
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
  /// Jobs that count as equal. A job without a name equals no other; nothing is learned from it.
  struct Alike {
    NameId user = kNoName;
    NameId name = kNoName;
    std::int32_t gpus = 0;

    auto operator<=>(const Alike&) const = default;
  };
  enum class From : std::uint8_t {
    nothing,   ///< Unknown; assumed equally fast.
    all_jobs,  ///< The mean of the jobs for which it is known.
    alike,     ///< Equal jobs.
  };
  struct Belief {
    double speed = 1;
    From from = From::nothing;
  };

  /// Records that a job did its work, or a unit of it, in `time_s` on GPUs of `type`.
  void learn(const Alike& jobs, std::string_view type, double time_s);
  /// Learns from a job of a log, named by its model if the log has one. Ignores jobs that did not
  /// complete, and jobs that accept several types, because the log does not say which one they had.
  void learn(const trace::Job& ended, const Names& names);
  static Alike alike(const trace::Request& request) {
    const NameId name = request.model != kNoName ? request.model : request.name;
    return {request.user, name, request.gpus};
  }

  /// Returns the speed on `type` relative to `home`.
  Belief speed(const Alike& jobs, std::string_view type, std::string_view home) const;

  /// Return the kinds of jobs with any data, and those of them that ran on several types.
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
  /// Adds what a kind says about `type` against all others to the means, or removes it.
  void count(const OnTypes& times, Type type, int sign);
  static bool is_known(const Times& times) { return times.count >= kLeastRuns; }

  static constexpr int kLeastRuns = 2;  // a single run proves nothing
  std::map<std::string, Type, std::less<>> types_;
  std::map<Alike, OnTypes> kinds_;
  std::map<std::pair<Type, Type>, Times> means_;  // logarithms of relative speeds
};

}  // namespace almanac::predict
