// SPDX-License-Identifier: Apache-2.0

/// \file
/// Recently ended jobs of one kind: the last ten run times, and decaying means.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "predict/run_time.h"

namespace almanac::predict {

class Recent {
 public:
  static constexpr std::size_t kKept = 10;

  Recent() = default;
  /// All its data, as in a file.
  struct Parts {
    std::array<float, kKept> logs{};  ///< The n-th ended job is at n mod kKept.
    float faded = 0;
    float unfulfilled = 0;
    std::uint32_t count = 0;
    Time last{};
  };
  explicit Recent(const Parts& parts) : parts_(parts) {}
  const Parts& parts() const { return parts_; }

  void add(const Ended& ended) {
    const auto log = static_cast<float>(log_time(ended.ran));
    parts_.logs[parts_.count % kKept] = log;
    const bool fulfilled = ended.state == trace::JobState::completed;
    parts_.faded = parts_.count == 0 ? log : kFade * parts_.faded + (1 - kFade) * log;
    parts_.unfulfilled = kFade * parts_.unfulfilled + (fulfilled ? 0 : 1 - kFade);
    parts_.last = ended.at;
    ++parts_.count;
  }

  /// Returns how many jobs have ended in total.
  std::uint32_t count() const { return parts_.count; }
  /// Returns how many of them are kept.
  std::size_t kept() const { return std::min<std::size_t>(parts_.count, kKept); }
  /// Returns the log10 seconds of the job that ended `back` jobs ago. Requires back < kept().
  float log(std::size_t back) const { return parts_.logs[(parts_.count - 1 - back) % kKept]; }
  /// Returns the mean of log10 seconds, with weights that decay by 0.8 per job.
  float faded() const { return parts_.faded; }
  /// Returns the fraction of jobs that did not complete, decaying in the same way.
  float unfulfilled() const { return parts_.unfulfilled; }
  /// Returns when a job last ended.
  Time last() const { return parts_.last; }
  /// Returns the kept run times in ascending order; only the first kept() count.
  std::array<float, kKept> sorted() const {
    std::array<float, kKept> logs = parts_.logs;
    std::sort(logs.begin(), logs.begin() + static_cast<std::ptrdiff_t>(kept()));
    return logs;
  }
  /// Returns the median of the kept run times. Requires count() > 0.
  float median() const {
    const auto logs = sorted();
    const std::size_t half = kept() / 2;
    return kept() % 2 == 1 ? logs[half] : (logs[half - 1] + logs[half]) / 2;
  }

 private:
  static constexpr float kFade = 0.8F;

  Parts parts_{};
};

}  // namespace almanac::predict
