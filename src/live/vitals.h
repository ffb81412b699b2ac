// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is measured while jobs run: how busy GPUs and processors are, whether GPUs are well. From a
/// thread of its own.
///
/// A job's GPU use is the mean over its GPUs, as the driver tells; or what the job itself says: the
/// last line of the file ALMANAC_PROGRESS names that reads "gpu_use 0.83".
///
/// Cost     while jobs run: every five seconds, one pass over /proc a job and a question a GPU.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "cluster/ledger.h"
#include "gpu/nvml.h"
#include "live/machine.h"
#include "store/job.h"

namespace almanac::live {

struct JobVitals {
  std::optional<double> gpu_use{};  ///< 0 to 1.
  std::optional<double> cores_busy{};
  std::optional<double> memory_gb{};  ///< Of the machine, not of its GPUs.
};

/// A job that runs, to be measured.
struct Patient {
  store::JobNumber job{};
  pid_t shepherd = -1;
  std::string folder{};
  std::vector<cluster::Grant> held{};
};

class Vitals {
 public:
  using Look = std::function<std::vector<Patient>()>;
  /// Node, GPU, what troubles it; "" = it is well again.
  using Tell = std::function<void(NodeId, int, const std::string&)>;
  /// After each look; the mean use of all GPUs and what they draw, where that is known.
  using Seen = std::function<void(std::optional<double>, std::optional<double>)>;

  Vitals(const Machine& machine, Look look, Tell tell, Seen seen);
  ~Vitals();
  Vitals(const Vitals&) = delete;
  Vitals& operator=(const Vitals&) = delete;

  JobVitals of(store::JobNumber job) const;
  gpu::Sample of(NodeId node, int gpu) const;

 private:
  struct Before {
    std::chrono::steady_clock::time_point at{};
    double cpu_s = 0;
  };

  void work();
  void look_at_gpus();
  void look_at(const Patient& patient, std::map<store::JobNumber, JobVitals>& vitals,
               std::map<store::JobNumber, Before>& now);

  const Machine& machine_;
  Look look_;
  Tell tell_;
  Seen seen_;
  std::optional<gpu::Nvml> nvml_;
  std::map<std::pair<NodeId, int>, gpu::Sample> samples_;
  std::set<std::pair<NodeId, int>> in_passing_;  // whose trouble goes when the driver says so
  std::map<store::JobNumber, Before> before_;

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::pair<NodeId, int>, gpu::Sample> told_;
  std::map<store::JobNumber, JobVitals> vitals_;
  bool stop_ = false;
  std::thread thread_;  // the last: all else is there when it begins
};

/// The file in a run's folder where its job may say how it goes.
inline constexpr const char* kProgressFile = "/progress";

}  // namespace almanac::live
