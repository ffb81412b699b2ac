// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job says itself of how busy it keeps its GPUs: the last line of a file of its own that
/// reads "gpu_use 0.83", of the time since it wrote there before.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "measure/stretch.h"

namespace almanac::measure {

class OwnWord {
 public:
  /// The job is looked at for the first time.
  explicit OwnWord(Time begun) : said_at_(begun) {}

  /// Looks at its file, open for reading; gives what it has said since it was looked at before.
  std::optional<Stretch> look(int file, Time now);
  /// 0 to 1; nothing = it never said anything.
  std::optional<double> last() const { return said_; }

 private:
  std::optional<double> said_;
  Time said_at_{};               // when that was seen; or when it was looked at first
  std::int64_t written_ns_ = 0;  // when it last wrote, by the file system's clock
};

}  // namespace almanac::measure
