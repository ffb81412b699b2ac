// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is measured while jobs run: how busy GPUs and processors are, whether GPUs are well, what
/// moves between processors and memory. From a thread of its own.
///
/// A job's GPU use is the mean over its GPUs, as the driver tells; or what the job itself says in
/// the file that ALMANAC_PROGRESS names (perf/own_word.h).
///
/// Cost     while jobs run: every five seconds, one pass over /proc a job and a question a GPU, and
///          as much again for the memory of GPUs (machine/gpu_memory.h); two passes and a write for
///          each of its threads where memory traffic is counted.
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

#include "gpu/nvml.h"
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
  std::optional<double> memory_gb{};      ///< Of the machine, not of its GPUs.
  std::optional<double> gpu_memory_gb{};  ///< Of all its GPUs.
};

/// What a look has found new since the one before.
struct Sight {
  struct OfJob {
    store::JobNumber job{};
    std::optional<perf::Stretch> gpu_use{};  ///< Of GPUs of which no other job holds a part.
    std::optional<perf::Stretch> cores_busy{};
    double memory_gb = 0;
    std::optional<perf::Stretch> bandwidth_gbs{};
    std::optional<perf::OwnProgress> progress{};        ///< As it has last said in this run.
    std::vector<perf::OwnProgress::Metric> reported{};  ///< Since the look before.
  };

  std::optional<double> gpu_use{};                   ///< Of all GPUs that tell, at this moment.
  std::map<std::pair<NodeId, int>, double> gpu_w{};  ///< Draw of each that tells.
  bool all_gpus_tell = false;
  std::optional<perf::Stretch> bandwidth_gbs{};  ///< Of all of the machine.
  std::vector<OfJob> jobs{};
  std::vector<GpuExcess> excesses{};
};

class Vitals {
 public:
  using Look = std::function<Patients()>;
  /// Node, GPU, what troubles it; "" = it is healthy again.
  using Tell = std::function<void(NodeId, int, const std::string&)>;
  /// After each look.
  using Seen = std::function<void(const Sight&)>;

  /// `owner` tells this service from others of the machine (process::MemoryTraffic).
  Vitals(const Machine& machine, const std::string& owner, Duration every, Look look, Tell tell,
         Seen seen);
  ~Vitals();
  Vitals(const Vitals&) = delete;
  Vitals& operator=(const Vitals&) = delete;

  JobVitals of(store::JobNumber job) const;
  gpu::Sample of(NodeId node, int gpu) const;

 private:
  /// What a look has found of a job, for the next one to compare with.
  struct Found {
    std::string folder{};  // of the run: a later one of the job begins anew
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
  /// How busy its GPUs are; `alone`: no other job holds a part of them.
  std::optional<double> use_by_driver(const Patient& patient, bool& alone) const;

  const Machine& machine_;
  Duration every_;
  Look look_;
  Tell tell_;
  Seen seen_;
  std::optional<gpu::Nvml> nvml_;
  std::map<std::pair<NodeId, int>, gpu::Sample> samples_;
  std::set<std::pair<NodeId, int>> in_passing_;    // whose trouble goes when the driver says so
  std::optional<process::MemoryTraffic> traffic_;  // none = it cannot be counted here
  std::map<store::JobNumber, Found> before_;
  std::optional<std::pair<Time, double>> moved_before_;  // gigabytes, by all of the machine

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::pair<NodeId, int>, gpu::Sample> told_;
  std::map<store::JobNumber, JobVitals> vitals_;
  bool stop_ = false;
  std::thread thread_;  // the last: all else is there when it begins
};

}  // namespace almanac::machine
