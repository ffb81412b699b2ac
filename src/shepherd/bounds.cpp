// SPDX-License-Identifier: Apache-2.0
#include "shepherd/bounds.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "process/below.h"
#include "process/device_fence.h"
#include "process/tree.h"

namespace almanac::shepherd {

Bounds::Bounds(const Spec& spec) : memory_gb_(spec.memory_gb) {
  const process::CgroupLimits all{spec.cpus, spec.memory_gb, spec.io_mbs};
  const process::CgroupTree tree = process::cgroup_tree();
  // Two shepherds never have one number at a time; what a killed one left is not in our way.
  const std::string name = fmt::format("almanac-{}-{}", spec.id, ::getpid());
  // All, or as many as can be: memory counts before cores, which affinity holds too, and disks.
  constexpr unsigned kMemory = 4;
  constexpr unsigned kCores = 2;
  constexpr unsigned kDisks = 1;
  for (unsigned kept = kMemory | kCores | kDisks; kept > 0 && !group_; --kept) {
    process::CgroupLimits some;
    if ((kept & kMemory) != 0) some.memory_gb = all.memory_gb;
    if ((kept & kCores) != 0) some.cpus = all.cpus;
    if ((kept & kDisks) != 0) some.io_mbs = all.io_mbs;
    if (some == process::CgroupLimits{}) continue;
    auto made = process::Cgroup::create(tree, name, some);
    if (!made) continue;
    group_ = std::move(*made);
    held_ = some;
  }
  // One without limits ends what has wiped its environment, should the shepherd be killed.
  if (!group_) {
    if (auto made = process::Cgroup::create(tree, name, {})) group_ = std::move(*made);
  }
  constexpr const char* kGroup = "cgroup v2";
  if (spec.gpus) {
    // Device numbers of NVIDIA's driver: 0 to 253 are GPUs; all jobs with a GPU must open 254 and
    // 255 (Documentation/admin-guide/devices.txt).
    const process::DeviceFence fence{.major = 195, .end = 254, .open = *spec.gpus};
    const bool is_held = group_ && process::close_devices(group_->path(), fence);
    means_.gpus = is_held ? kGroup : kTold;
  }
  if (all.cpus) means_.cpus = held_.cpus ? kGroup : "affinity";
  if (all.memory_gb) means_.memory = held_.memory_gb ? kGroup : "watched";
  if (all.io_mbs) means_.io = held_.io_mbs ? kGroup : "not held";
}

void Bounds::set(const Limits& limits) {
  if (!limits.cores.empty()) process::bind_all_below(limits.cores);
  memory_gb_ = limits.limits.memory_gb;
  if (!group_) return;
  process::CgroupLimits wanted = limits.limits;
  if (!held_.cpus) wanted.cpus.reset();
  if (!held_.memory_gb) wanted.memory_gb.reset();
  group_->set(wanted);
}

bool Bounds::too_much() {
  const pid_t own = ::getpid();
  const double resident_gb = process::usage_of(own).memory_gb;
  // What several share counts for each there: an upper bound, and cheap.
  const bool may_be = memory_gb_ && resident_gb > *memory_gb_;
  const double used_gb = may_be ? process::proportional_memory_gb(own) : resident_gb;
  seen_gb_ = std::max(seen_gb_, used_gb);
  return may_be && used_gb > *memory_gb_;
}

double Bounds::peak_memory_gb() const {
  return std::max(seen_gb_, group_ ? group_->peak_memory_gb().value_or(0) : 0);
}

}  // namespace almanac::shepherd
