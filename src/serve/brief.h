// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs as lists show them. A job may come after three thousand others and have hundreds of
/// kilobytes of parameters, and an array of 100,000 tasks has it all 100,000 times: a list shows
/// the beginning.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "service/service.h"
#include "store/job.h"

namespace almanac::serve {

/// A list ends behind the job with which it has so many bytes; the next page goes on there.
inline constexpr std::size_t kMostListBytes = 32 << 20;
/// A command, and the parameters of a trial, have at most so many bytes in a list ...
inline constexpr std::size_t kMostBriefBytes = 4096;
/// ... and each list of the jobs that one comes after so many jobs.
inline constexpr std::size_t kMostBriefJobs = 100;

/// Shortens what jobs ask, once for all that share it.
class Brief {
 public:
  /// The same view, or one that says less; `is_shortened` says which.
  struct Shown {
    const service::JobView* view = nullptr;
    bool is_shortened = false;
    std::size_t bytes = 0;  ///< Of it in a list, about.
  };
  /// Valid until the next call.
  Shown of(const service::JobView& view);

 private:
  struct Known {
    store::Asked whole;  // keeps its address from being another's
    std::optional<store::Asked> brief{};
    std::size_t bytes = 0;
  };
  std::unordered_map<const store::Submission*, Known> known_;
  service::JobView shortened_;
};

}  // namespace almanac::serve
