// SPDX-License-Identifier: Apache-2.0

/// \file
/// Counts of run times by kind of job, from wide kinds (all jobs) to close ones (this user's jobs
/// with this name).
///
/// The run times of each kind are mixed with those of the wider kinds. Its weight in the mixture is
/// learned: how often such a kind, with about as many jobs, told a run time better than the wider
/// kinds did. So a close kind counts from its first job in a log whose names predict run times, and
/// hardly at all in a log where they do not.
///
/// Source   Jelinek & Mercer, Pattern Recognition in Practice 1980 (deleted interpolation: weights
///          by count, found by expectation maximization).
/// Differs  One step of expectation maximization for each job that ends, fading by 0.995 a job.
/// Cost     About 1 us for each answer and for each job. For each kind of which a job ended, 80 to
///          160 bytes, and 8 to 16 for each cell in which one did.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "predict/distribution.h"
#include "predict/key_table.h"

namespace almanac::predict {

/// How the jobs of one kind are counted.
struct Counting {
  bool by_ratio = false;  ///< Counts run time / time limit; needs jobs with limits.
  double fade = 1;        ///< Weight of a job, as a fraction of the next job's.
};

class NestedCounts {
 public:
  /// From the widest kind to the closest; the static array must outlive it.
  explicit NestedCounts(std::span<const Counting> kinds);

  /// Returns what ended of the kinds with these keys, in the order of the constructor; 0 = no such
  /// kind. The first `keys` suffice. No mass lies above `time_limit`, which may be kNoDuration.
  Distribution run_time(std::span<const std::uint64_t> keys, Duration time_limit) const;
  /// Counts a job of all of these kinds.
  void add(std::span<const std::uint64_t> keys, Duration time_limit, Duration ran);

 private:
  /// Jobs of a kind by cell, or by cells below the limit. Most kinds have jobs in few cells.
  struct Counts {
    struct Cell {
      std::uint32_t cell = 0;
      float jobs = 0;
    };
    std::vector<Cell> cells{};  // in order of cell
    float total = 0;
    float next = 1;  // what the next job counts: older ones fade as it grows

    bool empty() const { return cells.empty(); }
    float share(std::size_t cell) const;
    void add(std::size_t cell, double fade);
  };
  static constexpr std::size_t kSizes = 6;
  static std::size_t size_of(const Counts& counts);
  struct Trust {
    double of_kind = 0;
    double of_all = 0;
  };

  std::span<const Counting> kinds_;
  std::vector<std::array<Trust, kSizes>> trusts_;  // by kind and number of its jobs
  KeyTable<Counts> counts_;
};

}  // namespace almanac::predict
