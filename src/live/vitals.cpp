// SPDX-License-Identifier: Apache-2.0
#include "live/vitals.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/ids.h"
#include "process/tree.h"

namespace almanac::live {

using store::JobNumber;

namespace {

constexpr std::chrono::seconds kLook{5};

/// What the job itself says last.
std::optional<double> reported_use(const std::string& folder) {
  std::ifstream file(folder + kProgressFile);
  std::optional<double> use;
  std::string word;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (double value = 0; words >> word >> value && word == "gpu_use" && value >= 0 && value <= 1) {
      use = value;
    }
  }
  return use;
}

}  // namespace

Vitals::Vitals(const Machine& machine, Look look, Tell tell, Seen seen)
    : machine_(machine), look_(std::move(look)), tell_(std::move(tell)), seen_(std::move(seen)) {
  if (machine_.has_driver) {
    if (auto opened = gpu::Nvml::open()) nvml_.emplace(std::move(*opened));
  }
  thread_ = std::thread([this] { work(); });
}

Vitals::~Vitals() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  thread_.join();
}

JobVitals Vitals::of(JobNumber job) const {
  const std::lock_guard lock(mutex_);
  const auto found = vitals_.find(job);
  return found == vitals_.end() ? JobVitals{} : found->second;
}

gpu::Sample Vitals::of(NodeId node, int gpu) const {
  const std::lock_guard lock(mutex_);
  const auto found = told_.find({node, gpu});
  return found == told_.end() ? gpu::Sample{} : found->second;
}

void Vitals::look_at_gpus() {
  if (!nvml_) return;
  std::set<int> ill;
  for (const gpu::Xid& xid : nvml_->new_xids()) {
    if (!is_of_the_hardware(xid)) continue;
    ill.insert(xid.gpu);
    for (std::size_t node = 0; node < machine_.driver_numbers.size(); ++node) {
      const auto& numbers = machine_.driver_numbers[node];
      for (std::size_t gpu = 0; gpu < numbers.size(); ++gpu) {
        if (numbers[gpu] != xid.gpu) continue;
        tell_(NodeId{static_cast<std::uint32_t>(node)}, static_cast<int>(gpu),
              fmt::format("Xid {}", xid.number));
      }
    }
  }
  for (std::size_t node = 0; node < machine_.driver_numbers.size(); ++node) {
    const auto& numbers = machine_.driver_numbers[node];
    for (std::size_t gpu = 0; gpu < numbers.size(); ++gpu) {
      if (!numbers[gpu]) continue;
      const std::pair place{NodeId{static_cast<std::uint32_t>(node)}, static_cast<int>(gpu)};
      samples_[place] = nvml_->sample(*numbers[gpu]);
      const std::string trouble = nvml_->trouble(*numbers[gpu]);
      if (!trouble.empty() && in_passing_.insert(place).second) {
        tell_(place.first, place.second, trouble);
      } else if (trouble.empty() && !ill.contains(*numbers[gpu]) && in_passing_.erase(place) > 0) {
        tell_(place.first, place.second, "");
      }
    }
  }
}

void Vitals::look_at(const Patient& patient, std::map<JobNumber, JobVitals>& vitals,
                     std::map<JobNumber, Before>& now) {
  JobVitals& made = vitals[patient.job];
  const process::Usage usage = process::usage_of(patient.shepherd);
  const Before seen{std::chrono::steady_clock::now(), usage.cpu_s};
  made.memory_gb = usage.memory_gb;
  if (const auto last = before_.find(patient.job); last != before_.end()) {
    const double passed_s = std::chrono::duration<double>(seen.at - last->second.at).count();
    made.cores_busy = std::max(0.0, seen.cpu_s - last->second.cpu_s) / passed_s;
  }
  now[patient.job] = seen;
  made.gpu_use = reported_use(patient.folder);
  if (made.gpu_use) return;
  double sum = 0;
  int told = 0;
  for (const cluster::Grant& grant : patient.held) {
    for (int gpu = 0; gpu < cluster::kMaxGpusPerNode; ++gpu) {
      if ((grant.gpus >> static_cast<unsigned>(gpu) & 1U) == 0) continue;
      const auto sample = samples_.find({grant.node, gpu});
      if (sample == samples_.end() || !sample->second.use) continue;
      sum += *sample->second.use;
      ++told;
    }
  }
  if (told > 0) made.gpu_use = sum / told;
}

void Vitals::work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    look_at_gpus();
    std::map<JobNumber, JobVitals> vitals;
    std::map<JobNumber, Before> now;
    for (const Patient& patient : look_()) look_at(patient, vitals, now);
    before_ = std::move(now);
    double use = 0;
    double power_w = 0;
    int used = 0;
    bool has_power = false;
    for (const auto& [place, sample] : samples_) {
      if (sample.use) {
        use += *sample.use;
        ++used;
      }
      if (sample.power_w) {
        power_w += *sample.power_w;
        has_power = true;
      }
    }
    lock.lock();
    vitals_ = std::move(vitals);
    told_ = samples_;
    lock.unlock();
    seen_(used > 0 ? std::optional(use / used) : std::nullopt,
          has_power ? std::optional(power_w) : std::nullopt);
    lock.lock();
    news_.wait_for(lock, kLook, [&] { return stop_; });
  }
}

}  // namespace almanac::live
