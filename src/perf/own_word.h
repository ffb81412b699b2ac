// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a job reports about itself, as lines in a file of its own. The last line of each kind
/// counts. A keyword and numbers:
///
///     gpu_use 0.83          how busy it keeps its GPUs, of the time since it wrote there before
///     step 1200             how far its training is
///     metric 0.91           how good that is by then, the larger the better
///     gpus 0,2              it uses these GPUs now and no others, as CUDA_VISIBLE_DEVICES has them
///     step_s 0.31 0.05 64   seconds of a step, those of them in which gradients are exchanged, and
///                           samples of each GPU; the last two may be left out
///     noise 0.02 1.7        squared norm and variance of its gradient
///     batches 4096 32 256   the largest batch that it can train with, and the least and most
///                           samples of a GPU at a time; the last two may be left out
///
/// Ignores other lines, and numbers that no training has (a step below 1 us or above 11 days, more
/// than 10 million samples, anything beyond 1e15).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "perf/stretch.h"

namespace almanac::perf {

/// How far a job's training is and how it goes, as it says.
struct OwnProgress {
  struct Metric {
    double value = 0;
    double step = 0;  ///< Step reported before it; 0 if none.
    bool operator==(const Metric&) const = default;
  };
  struct Step {
    double step_s = 0;
    double exchange_s = 0;
    int samples = 0;  ///< Per GPU at a time; 0 if not reported.
    bool operator==(const Step&) const = default;
  };
  struct Noise {
    double sqr = 0;
    double var = 0;
    bool operator==(const Noise&) const = default;
  };
  struct Batches {
    int most = 0;
    int least_of_gpu = 1;
    int most_of_gpu = 0;  ///< 0 if not reported.
    bool operator==(const Batches&) const = default;
  };

  double step = 0;
  std::optional<Metric> metric{};
  std::string gpus{};          ///< "" if never reported.
  int times_gpus = 0;          ///< How often it has reported GPUs.
  std::optional<Step> pace{};  ///< Said since it named these GPUs.
  std::optional<Noise> noise{};
  std::optional<Batches> batches{};
  bool operator==(const OwnProgress&) const = default;
};

class OwnWord {
 public:
  /// The job is looked at for the first time.
  explicit OwnWord(Time begun) : said_at_(begun) {}

  /// Reads new lines of its file, which must be open for reading. Returns the GPU use reported
  /// since the last call. Cost: what was written since, at most 1 MB.
  std::optional<Stretch> look(int file, Time now);
  /// Returns the last value, 0 to 1; nothing if never reported.
  std::optional<double> last() const { return use_; }
  /// Returns nothing if no progress was ever reported.
  const std::optional<OwnProgress>& progress() const { return progress_; }
  /// The metrics that the last look has found, in their order.
  const std::vector<OwnProgress::Metric>& reported() const { return reported_; }

 private:
  /// Parses new lines; returns the last GPU use.
  std::optional<double> read(int file, std::int64_t size);
  void hear(const std::string& line, std::optional<double>& use);

  std::optional<double> use_;
  std::optional<OwnProgress> progress_;
  std::vector<OwnProgress::Metric> reported_;
  Time said_at_{};               // when that was seen; or when it was looked at first
  std::int64_t written_ns_ = 0;  // when it last wrote, by the file system's clock
  std::int64_t read_to_ = 0;     // bytes of whole lines
};

}  // namespace almanac::perf
