// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job says of itself, as lines of a file of its own; of each kind the last one counts.
///
/// "gpu_use 0.83" is how busy it keeps its GPUs, of the time since it wrote there before; "step
/// 1200" how far its training is; "metric 0.91" how good that is by then, the larger the better.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "measure/stretch.h"

namespace almanac::measure {

/// How far a job's training is, as it says.
struct OwnProgress {
  struct Metric {
    double value = 0;
    double step = 0;  ///< That it had said before; 0 = it said none.
    bool operator==(const Metric&) const = default;
  };

  double step = 0;
  std::optional<Metric> metric{};
  bool operator==(const OwnProgress&) const = default;
};

class OwnWord {
 public:
  /// The job is looked at for the first time.
  explicit OwnWord(Time begun) : said_at_(begun) {}

  /// Looks at its file, open for reading; gives what it has said since it was looked at before.
  std::optional<Stretch> look(int file, Time now);
  /// 0 to 1; nothing = it never said anything.
  std::optional<double> last() const { return use_; }
  /// Nothing = it never said anything of it.
  const std::optional<OwnProgress>& progress() const { return progress_; }

 private:
  /// What its last lines say; gives its last word on its use.
  std::optional<double> read(int file, std::int64_t size);

  std::optional<double> use_;
  std::optional<OwnProgress> progress_;
  Time said_at_{};               // when that was seen; or when it was looked at first
  std::int64_t written_ns_ = 0;  // when it last wrote, by the file system's clock
};

}  // namespace almanac::measure
