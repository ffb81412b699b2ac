// SPDX-License-Identifier: Apache-2.0
#include "machine/shares.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/box.h"

namespace almanac::machine {

using store::JobNumber;

namespace {

/// Processors for a job that holds whole ones; empty = it is not pinned.
std::vector<int> cores_for(const State& state, const Entry& entry) {
  std::int32_t milli = 0;
  for (const cluster::Grant& grant : entry.job.held_gpus) milli += grant.cpu_milli;
  const Machine& machine = state.config.machine;
  const auto box_of = [&](const store::Job& job) {
    return machine.boxes.empty() ? "" : machine.boxes[index(job.held_gpus.front().node)];
  };
  if (milli == 0) return {};
  // A job on several boxes has on each as many as it holds there, but not particular ones.
  if (!machine.boxes.empty() && by_box(entry.job.held_gpus, machine).size() > 1) return {};
  const std::vector<int>& all = cores_of(machine, entry.job.held_gpus.front().node);
  if (all.empty()) return {};
  if (milli % 1000 != 0) {
    // A job that shrinks to part of a core must not keep all that it had.
    const auto most = static_cast<std::size_t>(milli / 1000 + 1);
    const std::vector<int>& has = entry.job.cores;
    if (has.size() < most) return {};
    return {has.begin(), has.begin() + static_cast<std::ptrdiff_t>(most)};
  }
  std::set<int> free(all.begin(), all.end());
  const auto keep_out = [&](JobNumber number) {
    const Entry* const other = state.book.find(number);
    if (other == nullptr || other == &entry) return;
    if (other->job.state != trace::JobState::running) return;
    if (other->job.cores.empty() || box_of(other->job) != box_of(entry.job)) return;
    for (const int core : other->job.cores) free.erase(core);
  };
  for (const JobNumber number : state.processes) keep_out(number);
  for (const JobNumber number : state.deeds.start) keep_out(number);
  // The job keeps the processors that it has, as far as possible.
  std::vector<int> chosen;
  const auto wanted = static_cast<std::size_t>(milli / 1000);
  for (const int core : entry.job.cores) {
    if (chosen.size() < wanted && free.erase(core) > 0) chosen.push_back(core);
  }
  for (const int core : free) {
    if (chosen.size() == wanted) break;
    chosen.push_back(core);
  }
  if (chosen.size() < wanted) return {};  // jobs that hold parts of cores have the others
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

Share share_of(const std::vector<cluster::Grant>& held) {
  Share sum;
  for (const cluster::Grant& grant : held) {
    sum.cpus += grant.cpu_milli / 1e3;
    sum.memory_gb += grant.memory_mb / 1e3;
  }
  return sum;
}

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

void pin_jobs(State& state, const Queue& queue) {
  const auto growth = [&](JobId id) {
    const store::Job& job = queue.entry_of(id).job;
    return std::ceil(share_of(job.held_gpus).cpus) - static_cast<double>(job.cores.size());
  };
  // Jobs that release processors come before those that take some.
  std::stable_sort(state.deeds.pin.begin(), state.deeds.pin.end(),
                   [&](JobId a, JobId b) { return growth(a) < growth(b); });
  for (const JobId id : state.deeds.pin) {
    Entry& entry = queue.entry_of(id);
    entry.job.cores = cores_for(state, entry);
  }
  state.deeds.pin.clear();
}

}  // namespace almanac::machine
