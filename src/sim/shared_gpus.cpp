// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_gpus.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace almanac::sim {
namespace {

template <typename Visit>
void for_each_gpu(std::span<const cluster::Grant> held, Visit&& visit) {
  for (const cluster::Grant& grant : held) {
    for (cluster::GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
      visit(std::pair(grant.node, std::countr_zero(rest)));
    }
  }
}

}  // namespace

bool SharedGpus::has_parts(std::span<const cluster::Grant> held) {
  return std::any_of(held.begin(), held.end(), [](const cluster::Grant& grant) {
    return grant.gpus != 0 && grant.gpu_milli < cluster::kWholeGpu &&
           grant.profile == slices::kNoProfile;
  });
}

int SharedGpus::asked_milli(JobId job) const {
  return static_cast<int>(
      std::lround(trace_.jobs[index(job)].request.gpu_part() * cluster::kWholeGpu));
}

void SharedGpus::enter(JobId job, std::span<const cluster::Grant> held) {
  if (!has_parts(held)) return;
  held_[job].assign(held.begin(), held.end());
  for_each_gpu(held, [&](const Key& key) {
    Gpu& gpu = gpus_[key];
    gpu.jobs.insert(std::lower_bound(gpu.jobs.begin(), gpu.jobs.end(), job), job);
    gpu.asked_milli += asked_milli(job);
  });
}

void SharedGpus::leave(JobId job) {
  const auto own = held_.find(job);
  if (own == held_.end()) return;
  for_each_gpu(own->second, [&](const Key& key) {
    const auto gpu = gpus_.find(key);
    std::erase(gpu->second.jobs, job);
    gpu->second.asked_milli -= asked_milli(job);
    if (gpu->second.jobs.empty()) gpus_.erase(gpu);
  });
  held_.erase(own);
}

std::vector<SharedGpus::Crowd> SharedGpus::crowds(JobId job) const {
  std::vector<Crowd> found;
  if (!has(job)) return found;
  for_each_gpu(held(job), [&](const Key& key) {
    const Gpu& gpu = gpus_.at(key);
    const cluster::Sharing how = sharing(key.first);
    const bool is_felt = how == cluster::Sharing::mps || how == cluster::Sharing::time;
    if (gpu.asked_milli <= cluster::kWholeGpu && !is_felt) return;
    Crowd others{gpu.jobs, how};
    std::erase(others.jobs, job);
    if (others.jobs.empty() || std::find(found.begin(), found.end(), others) != found.end()) return;
    found.push_back(std::move(others));
  });
  return found;
}

std::vector<JobId> SharedGpus::neighbours(JobId job) const {
  std::vector<JobId> found;
  for (const Crowd& crowd : crowds(job)) {
    found.insert(found.end(), crowd.jobs.begin(), crowd.jobs.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

GpuUnits SharedGpus::add_use(JobId job, GpuUnits use) {
  GpuUnits more = 0;
  for_each_gpu(held(job), [&](const Key& key) {
    Gpu& gpu = gpus_.at(key);
    more -= std::min(kGpuUnit, gpu.use);
    gpu.use += use;
    more += std::min(kGpuUnit, gpu.use);
  });
  return more;
}

}  // namespace almanac::sim
