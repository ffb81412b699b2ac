// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measurements of running jobs, in a thread of its own: use of GPUs and processors, health of
/// GPUs, memory traffic of the processors.
///
/// A job's GPU use is the mean over its GPUs as the driver reports it, or what the job itself
/// reports in the file that ALMANAC_PROGRESS names (perf/own_word.h).
///
/// Cost     while jobs run: every five seconds, one pass over /proc per job and one query per GPU,
///          and the same again for GPU memory (machine/gpu_memory.h). If memory traffic is counted,
///          also two passes and one write for each thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/driver.h"
#include "machine/gpu_memory.h"
#include "machine/machine.h"
#include "machine/patient.h"
#include "perf/own_word.h"
#include "perf/stretch.h"
#include "process/memory_traffic.h"
#include "store/job.h"

namespace almanac::machine {

struct JobVitals {
  std::optional<double> gpu_use{};  ///< 0 to 1.
  std::optional<double> cores_busy{};
  std::optional<double> memory_gb{};      ///< Host memory, not GPU memory.
  std::optional<double> gpu_memory_gb{};  ///< Sum over its GPUs.
  std::int64_t lost_output = 0;           ///< Bytes, of this run so far.
};

/// What a measurement has found since the previous one.
struct Sight {
  struct OfJob {
    store::JobNumber job{};
    std::optional<perf::Stretch> gpu_use{};  ///< On GPUs that no other job shares.
    std::optional<perf::Stretch> cores_busy{};
    double memory_gb = 0;
    std::optional<perf::Stretch> bandwidth_gbs{};
    std::optional<perf::OwnProgress> progress{};        ///< The last report of this run.
    std::vector<perf::OwnProgress::Metric> reported{};  ///< Since the previous measurement.
  };

  std::optional<double> gpu_use{};                   ///< Current mean over all GPUs that report.
  std::map<std::pair<NodeId, int>, double> gpu_w{};  ///< Power of each GPU that reports.
  bool all_gpus_tell = false;
  std::optional<perf::Stretch> bandwidth_gbs{};  ///< Of the whole machine.
  std::vector<OfJob> jobs{};
  std::vector<GpuExcess> excesses{};
};

class Vitals {
 public:
  using Look = std::function<Patients()>;
  /// Called with node, GPU and problem; "" if it is healthy again.
  using Tell = std::function<void(NodeId, int, const std::string&)>;
  /// Called after each measurement.
  using Seen = std::function<void(const Sight&)>;

  /// `owner` distinguishes this service from others on the machine (process::MemoryTraffic).
  Vitals(const Machine& machine, const std::string& owner, Duration every, Look look, Tell tell,
         Seen seen);
  ~Vitals();
  Vitals(const Vitals&) = delete;
  Vitals& operator=(const Vitals&) = delete;

  JobVitals of(store::JobNumber job) const;
  gpu::Sample of(NodeId node, int gpu) const;

 private:
  /// What was found about a job, to compare with next time.
  struct Found {
    std::string folder{};  // of the run; a later run of the job starts over
    Time at{};
    double cpu_s = 0;
    std::optional<double> moved_gb{};
    perf::OwnWord word{Time{}};
  };

  void work();
  void look_at_gpus();
  void add_up_gpus(Sight& sight) const;
  void count_traffic(const Patients& patients, Sight& sight);
  JobVitals look_at(const Patient& patient, Time now, Found& found, Sight::OfJob& sight);
  /// Returns how busy its GPUs are; sets `alone` if no other job shares them.
  std::optional<double> use_by_driver(const Patient& patient, bool& alone) const;

  const Machine& machine_;
  Duration every_;
  Look look_;
  Tell tell_;
  Seen seen_;
  std::unique_ptr<gpu::Driver> driver_;
  std::map<std::pair<NodeId, int>, gpu::Sample> samples_;
  std::set<std::pair<NodeId, int>> in_passing_;    // trouble that ends when the driver says so
  std::optional<process::MemoryTraffic> traffic_;  // empty if it cannot be counted here
  std::map<store::JobNumber, Found> before_;
  std::optional<std::pair<Time, double>> moved_before_;  // gigabytes moved by the whole machine

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::pair<NodeId, int>, gpu::Sample> told_;
  std::map<store::JobNumber, JobVitals> vitals_;
  bool stop_ = false;
  std::thread thread_;  // last member: all others exist when it starts
};

}  // namespace almanac::machine
