// SPDX-License-Identifier: Apache-2.0

/// \file
/// What ended lately of one kind of job: the last ten run times, and means that fade.
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
  /// All that there is to it, as a file keeps it.
  struct Parts {
    std::array<float, kKept> logs{};  ///< The job that ended as number n is at n mod kKept.
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

  /// Jobs that ended, ever.
  std::uint32_t count() const { return parts_.count; }
  /// How many of them are kept.
  std::size_t kept() const { return std::min<std::size_t>(parts_.count, kKept); }
  /// log10 seconds of the one that ended `back` jobs ago; back < kept().
  float log(std::size_t back) const { return parts_.logs[(parts_.count - 1 - back) % kKept]; }
  /// The mean of log10 seconds, each counting 0.8 of the next.
  float faded() const { return parts_.faded; }
  /// The share of jobs that did not complete, fading likewise.
  float unfulfilled() const { return parts_.unfulfilled; }
  /// When one ended last.
  Time last() const { return parts_.last; }
  /// The kept ones in ascending order; the first kept() count.
  std::array<float, kKept> sorted() const {
    std::array<float, kKept> logs = parts_.logs;
    std::sort(logs.begin(), logs.begin() + static_cast<std::ptrdiff_t>(kept()));
    return logs;
  }
  /// The median of the kept ones; count() > 0.
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
