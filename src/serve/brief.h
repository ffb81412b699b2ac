// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs as lists show them. A job may depend on three thousand others and have hundreds of
/// kilobytes of parameters, and an array repeats that for each of up to 100,000 tasks. A list
/// therefore shows only the beginning.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "service/service.h"
#include "store/job.h"

namespace almanac::serve {

/// Size of a list page; the page ends after the job that reaches it.
inline constexpr std::size_t kMostListBytes = 32 << 20;
/// Most bytes of a command, and of a trial's parameters, in a list ...
inline constexpr std::size_t kMostBriefBytes = 4096;
/// ... and most jobs in each list of dependencies.
inline constexpr std::size_t kMostBriefJobs = 100;

/// Shortens the requests of jobs, once for all jobs that share one.
class Brief {
 public:
  /// The same view, or a shortened one, see `is_shortened`.
  struct Shown {
    const service::JobView* view = nullptr;
    bool is_shortened = false;
    std::size_t bytes = 0;  ///< Approximate size in a list.
  };
  /// Valid until the next call.
  Shown of(const service::JobView& view);

 private:
  struct Known {
    store::Asked whole;  // keeps its address from being reused
    std::optional<store::Asked> brief{};
    std::size_t bytes = 0;
  };
  std::unordered_map<const store::Submission*, Known> known_;
  service::JobView shortened_;
};

}  // namespace almanac::serve
