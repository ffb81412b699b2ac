// SPDX-License-Identifier: Apache-2.0

/// \file
/// Records how fast each job ran on average, and why.
///
/// A rate is a product of factors, applied one after another from the reference to what the job
/// holds (perf::Parts), then bandwidth. The log integrates the partial products (GPUs; GPUs and
/// type; ...) over the time that the job runs. The mean of a factor is the ratio of two neighboring
/// integrals, so the means multiply to the mean rate, however often the job was resized or stopped.
///
/// Cost     One decomposition of the rate for each stretch with unchanged grants, and two cache
///          lines at its start and its end. Bandwidth changes within a stretch cost nothing. 128
///          bytes per job.
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
  /// Records nothing, for simulations without speeds.
  PaceLog() = default;
  /// `trace` must outlive every open().
  explicit PaceLog(const trace::Trace& trace);

  /// From `now` on `job`, which has done `done_ms` of its work, holds `held`. It runs at `alone`,
  /// with factors `parts`, unless a node is overdrawn.
  void open(JobId job, std::span<const cluster::Grant> held, const perf::Parts& parts,
            const policy::Pace& alone, double done_ms, Time now);
  /// Ends that stretch.
  void close(JobId job, double done_ms, Time now);

  bool empty() const { return jobs_.empty(); }
  /// Returns the means over closed stretches.
  MeanPace operator[](std::size_t job) const;

 private:
  /// Increments per millisecond of a stretch, or the sums of all. Single precision is enough for
  /// factors that are shown with two to four digits.
  struct Sums {
    float gpus = 0;
    float type = 0;        // times gpus
    float neighbours = 0;  // times type
    float cpus = 0;        // times neighbors
    float memory = 0;      // times cpus
    float alone = 0;       // times memory and power: the rate without contention
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
    float computing = 0;  // by a GPU, per ms of work done
    float cut_cpus = 0;
  };

  const trace::Trace* trace_ = nullptr;
  std::vector<Job> jobs_;
  std::vector<Stretch> stretches_;
};

}  // namespace almanac::sim
