// SPDX-License-Identifier: Apache-2.0
#include "machine/vitals.h"

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ids.h"
#include "process/descriptor.h"
#include "process/tree.h"
#include "shepherd/run.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// Beyond this size that file is emptied: it lies in the service's own folder.
constexpr std::int64_t kLargestProgress = std::int64_t{1} << 20;

/// What is set aside beyond its end counts too.
void empty_if_large(int file) {
  constexpr std::int64_t kBlock = 512;  // stat(2)
  struct stat about {};
  if (::fstat(file, &about) != 0) return;
  const std::int64_t taken = std::max<std::int64_t>(about.st_size, kBlock * about.st_blocks);
  if (taken <= kLargestProgress) return;
  static_cast<void>(::ftruncate(file, 0));
  static_cast<void>(::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, taken));
}

/// The name of a job's group of counters.
std::string group_of(const Patient& patient) {
  return std::filesystem::path(patient.folder).filename().string();
}

}  // namespace

Vitals::Vitals(const Machine& machine, const std::string& owner, Duration every, Look look,
               Tell tell, Seen seen)
    : machine_(machine),
      every_(every),
      look_(std::move(look)),
      tell_(std::move(tell)),
      seen_(std::move(seen)) {
  if (machine_.has_driver) {
    if (auto opened = gpu::open_driver()) driver_ = *std::move(opened);
  }
  if (auto opened = process::MemoryTraffic::open(owner)) traffic_.emplace(std::move(*opened));
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
  if (!driver_) return;
  std::set<int> ill;
  for (const gpu::Xid& xid : driver_->new_xids()) {
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
      samples_[place] = driver_->sample(*numbers[gpu]);
      const std::string trouble = driver_->trouble(*numbers[gpu]);
      if (!trouble.empty() && in_passing_.insert(place).second) {
        tell_(place.first, place.second, trouble);
      } else if (trouble.empty() && !ill.contains(*numbers[gpu]) && in_passing_.erase(place) > 0) {
        tell_(place.first, place.second, "");
      }
    }
  }
}

std::optional<double> Vitals::use_by_driver(const Patient& patient, bool& alone) const {
  double sum = 0;
  int told = 0;
  alone = true;
  for (const cluster::Grant& grant : patient.held) {
    if (grant.gpus != 0 && grant.gpu_milli < cluster::kWholeGpu) alone = false;
    for (int gpu = 0; gpu < cluster::kMaxGpusPerNode; ++gpu) {
      if ((grant.gpus >> static_cast<unsigned>(gpu) & 1U) == 0) continue;
      const auto sample = samples_.find({grant.node, gpu});
      if (sample == samples_.end() || !sample->second.use) continue;
      sum += *sample->second.use;
      ++told;
    }
  }
  return told > 0 ? std::optional(sum / told) : std::nullopt;
}

JobVitals Vitals::look_at(const Patient& patient, Time now, Found& found, Sight::OfJob& sight) {
  const auto last = before_.find(patient.job);
  const bool is_new = last == before_.end() || last->second.folder != patient.folder;
  const bool passed = !is_new && now > last->second.at;
  JobVitals made;
  made.lost_output = shepherd::lost_output(patient.folder);
  if (patient.shepherd < 0) return made;  // it runs on boxes, or has just ended
  const process::Usage usage = process::usage_of(patient.shepherd);
  made.memory_gb = usage.memory_gb;
  sight.memory_gb = usage.memory_gb;
  found = is_new ? Found{.folder = patient.folder, .word = perf::OwnWord(now)} : last->second;
  found.at = now;
  found.cpu_s = usage.cpu_s;
  if (passed) {
    sight.cores_busy = perf::rate(last->second.at, last->second.cpu_s, now, usage.cpu_s);
    made.cores_busy = sight.cores_busy->value;
  }
  if (traffic_) {
    found.moved_gb = traffic_->moved_gb(group_of(patient));
    if (passed && found.moved_gb && last->second.moved_gb) {
      sight.bandwidth_gbs =
          perf::rate(last->second.at, *last->second.moved_gb, now, *found.moved_gb);
    }
  }

  const process::Descriptor file(::open((patient.folder + shepherd::kProgressFile).c_str(),
                                        O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file) {
    const auto said = found.word.look(file.get(), now);
    if (passed) sight.gpu_use = said;
    sight.progress = found.word.progress();
    sight.reported = found.word.reported();
    empty_if_large(file.get());
  }
  if (found.word.last()) {
    made.gpu_use = found.word.last();
    return made;
  }
  bool alone = true;
  made.gpu_use = use_by_driver(patient, alone);
  if (passed && made.gpu_use && alone) {
    sight.gpu_use = perf::Stretch{last->second.at, now, *made.gpu_use};
  }
  return made;
}

void Vitals::add_up_gpus(Sight& sight) const {
  double use = 0;
  int used = 0;
  for (const auto& [place, sample] : samples_) {
    if (sample.use) {
      use += *sample.use;
      ++used;
    }
    if (sample.power_w) sight.gpu_w[place] = *sample.power_w;
  }
  if (used > 0) sight.gpu_use = use / used;
  sight.all_gpus_tell = true;
  for (std::uint32_t node = 0; node < machine_.cluster.nodes.size(); ++node) {
    for (int gpu = 0; gpu < machine_.cluster.gpus(NodeId{node}); ++gpu) {
      const auto sample = samples_.find({NodeId{node}, gpu});
      if (sample == samples_.end() || !sample->second.use) sight.all_gpus_tell = false;
    }
  }
}

void Vitals::count_traffic(const Patients& patients, Sight& sight) {
  if (!traffic_) return;
  std::set<std::string> groups;
  for (const Patient& patient : patients.all) {
    if (patient.shepherd < 0) continue;
    std::vector<pid_t> processes = process::descendants(patient.shepherd);
    processes.push_back(patient.shepherd);  // what it starts later is counted from the start
    const std::string name = group_of(patient);
    // Without a group, since the processor has no more, this job is not measured.
    if (traffic_->follow(name, processes)) groups.insert(name);
  }
  traffic_->keep_only(groups);
  const auto moved = traffic_->moved_gb();
  if (moved && moved_before_ && patients.now > moved_before_->first) {
    sight.bandwidth_gbs =
        perf::rate(moved_before_->first, moved_before_->second, patients.now, *moved);
  }
  moved_before_ = moved ? std::optional(std::pair(patients.now, *moved)) : std::nullopt;
}

void Vitals::work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    look_at_gpus();
    Sight sight;
    add_up_gpus(sight);
    const Patients patients = look_();
    count_traffic(patients, sight);
    std::map<JobNumber, JobVitals> vitals;
    std::map<JobNumber, Found> found;
    for (const Patient& patient : patients.all) {
      Sight::OfJob& of_job = sight.jobs.emplace_back();
      of_job.job = patient.job;
      vitals[patient.job] = look_at(patient, patients.now, found[patient.job], of_job);
    }
    before_ = std::move(found);
    if (driver_) {
      GpuMemory memory = look_at_gpu_memory(*driver_, machine_, patients.all);
      for (const auto& [job, held_gb] : memory.held_gb) vitals[job].gpu_memory_gb = held_gb;
      sight.excesses = std::move(memory.excesses);
    }
    lock.lock();
    vitals_ = std::move(vitals);
    told_ = samples_;
    lock.unlock();
    seen_(sight);
    lock.lock();
    news_.wait_for(lock, every_, [&] { return stop_; });
  }
}

}  // namespace almanac::machine
