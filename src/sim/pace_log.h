// SPDX-License-Identifier: Apache-2.0

/// \file
/// Keeps how fast each job ran on average, and what made it so.
///
/// A rate is a product of factors, taken one after another from the reference to what the job holds
/// (perf::Parts), and then bandwidth. The log integrates the products on the way - GPUs; GPUs and
/// type; ... - over the time that the job runs; a factor's mean is the ratio of two neighbours. So
/// the means multiply to the mean rate, however often the job was resized or stopped.
///
/// Cost     A stretch of unchanged grants: taking a rate apart, and two cache lines at its begin
///          and its end; bandwidth that changes within it costs nothing. 128 bytes a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ledger.h"
#include "perf/pace.h"
#include "policy/contract/speeds.h"
#include "sim/pace.h"
#include "trace/trace.h"

namespace almanac::sim {

class PaceLog {
 public:
  /// Of no job: speeds are not simulated.
  PaceLog() = default;
  /// `trace` must outlive every open().
  explicit PaceLog(const trace::Trace& trace);

  /// `job`, which has done `done_ms` of its work, holds `held` from `now` on and runs at `alone`,
  /// by reason of `parts`, where no node is overdrawn.
  void open(JobId job, std::span<const cluster::Grant> held, const perf::Parts& parts,
            const policy::Pace& alone, double done_ms, Time now);
  /// It does so no longer.
  void close(JobId job, double done_ms, Time now);

  bool empty() const { return jobs_.empty(); }
  /// Of the stretches that are closed.
  MeanPace operator[](std::size_t job) const;

 private:
  /// What a stretch adds in a millisecond, or what all have added. Single precision is plenty for
  /// factors that are shown with two or four digits.
  struct Sums {
    float gpus = 0;
    float type = 0;        // times gpus
    float neighbours = 0;  // times that
    float cpus = 0;        // times that
    float memory = 0;      // times that
    float alone = 0;       // times power: the rate without contention
    float held_cpus = 0;
  };
  struct Job {
    Sums sums;
    double ms = 0;
    double done_ms = 0;
    double computing_ms = 0;
    double throttled_ms = 0;
    double cut_cpu_ms = 0;
  };
  struct Stretch {
    Time since{};
    double done_ms = 0;
    Sums each;
    float computing = 0;  // of a GPU, for each ms of work done
    float cut_cpus = 0;
  };

  const trace::Trace* trace_ = nullptr;
  std::vector<Job> jobs_;
  std::vector<Stretch> stretches_;
};

}  // namespace almanac::sim
