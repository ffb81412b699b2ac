// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long earlier jobs like this one ran, as a distribution whose mean can be trusted: run times
/// are heavy-tailed, so the last ten of a user give a median but no mean.
///
/// A time limit is evidence. Users choose limits with care, from habit or not at all (the default
/// of a queue); the ratio of run time to limit of their earlier jobs shows which. A user who
/// requests more time than for earlier jobs with this name mostly knows why.
///
/// Source   Hu et al., SC'21, section 4.2: the user's jobs of this name, else of this many GPUs;
///          Tsafrir, Etsion & Feitelson, TPDS 2007: limits are a few round numbers, and a user
///          overestimates alike from job to job.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "predict/kinds.h"
#include "predict/nested_counts.h"

namespace almanac::predict {

class PastRuns {
 public:
  /// `names` must outlive it.
  explicit PastRuns(const Names& names);

  static constexpr std::size_t kNested = 11;
  /// A job as it is known at its submission.
  struct Seen {
    std::array<std::uint64_t, kNested> keys{};  ///< Of its kinds, the widest first.
    Duration time_limit{};
  };
  /// Remembers the time limit. Each job is submitted once, in order of time.
  Seen submitted(const trace::Request& request);
  /// Cut at the limit.
  Distribution run_time(const Seen& job) const;
  /// From the limit alone: the run times of all jobs as fractions of their limits. Requires a
  /// limit. Its mean orders jobs as their limits do.
  Distribution run_time_by_limit(const Seen& job) const;
  void learn(const Seen& job, Duration ran);

 private:
  enum class LimitChange : std::uint8_t { new_name, none, raised };
  LimitChange change_of(const KindKeys& keys, std::uint64_t limit);

  Kinds kinds_;
  NestedCounts limited_;
  NestedCounts unlimited_;
  std::unordered_map<std::uint64_t, std::uint64_t> least_limits_;  // cells, by user's name and stem
};

}  // namespace almanac::predict
