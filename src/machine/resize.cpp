// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs hold beside their GPUs while they run: changed as the policy has it, held by
/// processors of their own, and said.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/core.h"
#include "service/log.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// Beside its GPUs, of all nodes.
struct Share {
  double cpus = 0;
  double memory_gb = 0;
};

Share share_of(const std::vector<cluster::Grant>& held) {
  Share sum;
  for (const cluster::Grant& grant : held) {
    sum.cpus += grant.cpu_milli / 1e3;
    sum.memory_gb += grant.memory_mb / 1e3;
  }
  return sum;
}

/// "4 cores to 2"; "" = the same.
std::string change_text(const Share& before, const Share& after) {
  std::vector<std::string> parts;
  if (before.cpus != after.cpus) {
    parts.push_back(
        fmt::format("{:g} core{} to {:g}", before.cpus, before.cpus == 1 ? "" : "s", after.cpus));
  }
  if (before.memory_gb != after.memory_gb) {
    parts.push_back(fmt::format("{:.1f} GB to {:.1f}", before.memory_gb, after.memory_gb));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void Core::resize(JobId id) {
  Entry& entry = entry_of(id);
  const auto held = round_->grants(id);
  const Share before = share_of(entry.job.held_gpus);
  entry.job.held_gpus.assign(held.begin(), held.end());
  const std::string change = change_text(before, share_of(entry.job.held_gpus));
  if (!change.empty()) {
    const auto use = entry.of_runs->gpu_use.mean();
    const std::string seen =
        use ? fmt::format("; its GPUs were {:.0f} % busy", 100 * *use) : std::string();
    note(entry.job, kResized, change + seen);
  }
  touch(entry);
  heed_batch(entry);
  deeds_.pin.push_back(id);
  if (entry.is_starting()) return;
  entry.of_runs.change().gpu_use.change(now_);
  measured_.change(now_);
  deeds_.resize.push_back(entry.job.number);
}

void Core::resize_process(Entry& entry) {
  const Share share = share_of(entry.job.held_gpus);
  const auto limit = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  // Whoever is not pinned any more may use all.
  const std::vector<int>& cores = entry.job.cores.empty() ? config_.machine.cores : entry.job.cores;
  const auto resized = entry.run->resize(cores, limit(share.cpus), limit(share.memory_gb),
                                         entry.job.asked->time_limit);
  if (!resized) {
    service::log_warning(fmt::format("job {}: {}", entry.job.number, to_string(resized.error())));
  }
}

void Core::pin() {
  const auto growth = [&](JobId id) {
    const store::Job& job = entry_of(id).job;
    return std::ceil(share_of(job.held_gpus).cpus) - static_cast<double>(job.cores.size());
  };
  // What lets go comes before what takes.
  std::stable_sort(deeds_.pin.begin(), deeds_.pin.end(),
                   [&](JobId a, JobId b) { return growth(a) < growth(b); });
  for (const JobId id : deeds_.pin) {
    Entry& entry = entry_of(id);
    entry.job.cores = cores_for(entry);
  }
  deeds_.pin.clear();
}

std::vector<int> Core::cores_for(const Entry& entry) const {
  std::int32_t milli = 0;
  for (const cluster::Grant& grant : entry.job.held_gpus) milli += grant.cpu_milli;
  if (config_.machine.cores.empty() || milli == 0) return {};
  if (milli % 1000 != 0) {
    // Whoever shrinks to a part of a core shall not have all of them for it.
    const auto most = static_cast<std::size_t>(milli / 1000 + 1);
    const std::vector<int>& has = entry.job.cores;
    if (has.size() < most) return {};
    return {has.begin(), has.begin() + static_cast<std::ptrdiff_t>(most)};
  }
  std::set<int> free(config_.machine.cores.begin(), config_.machine.cores.end());
  const auto keep_out = [&](JobNumber number) {
    const Entry* const other = book_.find(number);
    if (other == nullptr || other == &entry) return;
    if (other->job.state != trace::JobState::running) return;
    for (const int core : other->job.cores) free.erase(core);
  };
  for (const JobNumber number : processes_) keep_out(number);
  for (const JobNumber number : deeds_.start) keep_out(number);
  // What it has it keeps, as far as it goes.
  std::vector<int> chosen;
  const auto wanted = static_cast<std::size_t>(milli / 1000);
  for (const int core : entry.job.cores) {
    if (chosen.size() < wanted && free.erase(core) > 0) chosen.push_back(core);
  }
  for (const int core : free) {
    if (chosen.size() == wanted) break;
    chosen.push_back(core);
  }
  if (chosen.size() < wanted) return {};  // jobs of parts of cores are among them
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace almanac::machine
