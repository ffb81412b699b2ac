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

  void add(const Ended& ended) {
    const auto log = static_cast<float>(log_time(ended.ran));
    logs_[count_ % kKept] = log;
    const bool fulfilled = ended.state == trace::JobState::completed;
    faded_ = count_ == 0 ? log : kFade * faded_ + (1 - kFade) * log;
    unfulfilled_ = kFade * unfulfilled_ + (fulfilled ? 0 : 1 - kFade);
    last_ = ended.at;
    ++count_;
  }

  /// Jobs that ended, ever.
  std::uint32_t count() const { return count_; }
  /// How many of them are kept.
  std::size_t kept() const { return std::min<std::size_t>(count_, kKept); }
  /// log10 seconds of the one that ended `back` jobs ago; back < kept().
  float log(std::size_t back) const { return logs_[(count_ - 1 - back) % kKept]; }
  /// The mean of log10 seconds, each counting 0.8 of the next.
  float faded() const { return faded_; }
  /// The share of jobs that did not complete, fading likewise.
  float unfulfilled() const { return unfulfilled_; }
  /// When one ended last.
  Time last() const { return last_; }
  /// The kept ones in ascending order; the first kept() count.
  std::array<float, kKept> sorted() const {
    std::array<float, kKept> logs = logs_;
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

  std::array<float, kKept> logs_{};
  float faded_ = 0;
  float unfulfilled_ = 0;
  std::uint32_t count_ = 0;
  Time last_{};
};

}  // namespace almanac::predict
