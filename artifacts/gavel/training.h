// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an engine of rounds asks of jobs that change while they train.
#pragma once

#include <cstddef>

namespace almanac::gavel {

struct Progress {
  std::size_t kind = 0;
  double steps = 0;  ///< In all.
  double done = 0;
};

class Training {
 public:
  virtual ~Training() = default;
  /// A round in which the job ran is accounted, and it has not ended: it may go on as another.
  virtual void ran(int number, Progress& progress) = 0;
  /// All that ran in a round is accounted; told of each job that has not ended.
  virtual void round_over(int number, const Progress& progress) = 0;
  /// Whether the job is ended after `run_s` of running.
  virtual bool is_cut_off(int number, double run_s) const = 0;
};

}  // namespace almanac::gavel
