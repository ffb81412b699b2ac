// SPDX-License-Identifier: Apache-2.0
#include "trace/shares.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/human.h"
#include "trace/held_nodes.h"

namespace almanac::trace {
namespace {

/// slurm.conf has multiples of 100 for each GPU, as percents of its threads.
constexpr int kMpsPerGpu = 100;

bool has_parts(const Request& request) { return request.shards > 0 || request.mps > 0; }

bool has_whole_gpus(const Request& request) { return request.gpus > 0 && request.gpu_share == 1; }

/// The shards of each GPU by jobs that hold both; 0 = none tells, or they differ.
int told_by_pairs(const Trace& trace) {
  int told = 0;
  for (const Job& job : trace.jobs) {
    const Request& request = job.request;
    if (!has_whole_gpus(request) || request.shards < request.gpus) continue;
    if (request.shards % request.gpus != 0) return 0;
    const int each = request.shards / request.gpus;
    if (told != 0 && told != each) return 0;
    told = each;
  }
  return told;
}

/// The most shards that were held at once on one node; 0 = no job with shards names its nodes.
int most_at_once(const Trace& trace) {
  const HeldNodes held(trace);
  struct Change {
    Time at{};
    int shards = 0;
  };
  std::map<std::uint32_t, std::vector<Change>> nodes;
  for (const Stay& stay : held.stays()) {
    const Request& request = trace.jobs[stay.job].request;
    if (request.shards == 0 || request.gpus > 0 || !stay.steady) continue;
    const int each = request.shards / static_cast<int>(stay.count);
    for (const Held& node : held.held_in(stay)) {
      nodes[node.node].push_back({stay.from, each});
      nodes[node.node].push_back({stay.to, -each});
    }
  }
  int most = 0;
  for (auto& [node, changes] : nodes) {
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return a.at != b.at ? a.at < b.at : a.shards < b.shards;
    });
    int now = 0;
    for (const Change& change : changes) most = std::max(most, now += change.shards);
  }
  return most;
}

}  // namespace

std::int64_t share_gpus(Trace& trace, const std::function<PartsPerGpu(const Job&)>& parts) {
  std::int64_t count = 0;
  for (Job& job : trace.jobs) {
    Request& request = job.request;
    if (!has_parts(request)) continue;
    const PartsPerGpu of = parts(job);
    const bool by_shards = request.shards > 0;
    const int held = by_shards ? request.shards : request.mps;
    const int each = by_shards ? of.shards : of.mps;
    if (each <= 0) continue;
    request.gpus = (held + each - 1) / each;
    request.gpu_share = request.gpus == 1 ? static_cast<float>(held) / static_cast<float>(each) : 1;
    ++count;
  }
  return count;
}

void share_gpus(Trace& trace) {
  std::int64_t with_shards = 0;
  std::int64_t with_mps = 0;
  int largest = 0;
  for (const Job& job : trace.jobs) {
    const Request& request = job.request;
    if (!has_parts(request) || request.gpus > 0) continue;
    with_shards += request.shards > 0 ? 1 : 0;
    with_mps += request.shards == 0 ? 1 : 0;
    largest = std::max(largest, request.shards);
  }
  const int by_pairs = told_by_pairs(trace);
  for (Job& job : trace.jobs) {
    if (has_whole_gpus(job.request)) job.request.shards = job.request.mps = 0;  // part of them
  }
  if (with_shards + with_mps == 0) return;
  const int at_once = by_pairs > 0 ? 0 : most_at_once(trace);
  const int shards = by_pairs > 0 ? by_pairs : std::max(largest, at_once);
  share_gpus(trace, [&](const Job& job) {
    return job.request.gpus > 0 ? PartsPerGpu{} : PartsPerGpu{shards, kMpsPerGpu};
  });
  const auto hold = [](std::int64_t count) {
    return text::counted(static_cast<std::uint64_t>(count), "job") +
           (count == 1 ? " holds" : " hold");
  };
  if (with_shards > 0 && by_pairs > 0) {
    trace.notes.push_back(
        fmt::format("{} shards: {} shards per GPU, according to jobs that use both GPUs and shards",
                    hold(with_shards), by_pairs));
  } else if (with_shards > 0) {
    trace.notes.push_back(fmt::format(
        "{} shards: the log does not say how many make a GPU; assumed {} shards per GPU, {}; set "
        "shards_per_gpu in the --cluster file, or pass slurm.conf",
        hold(with_shards), shards,
        at_once > largest ? "the most in use at once on one node, so their GPU use is a lower bound"
                          : "the most in use by one job, so their GPU use is an upper bound"));
  }
  if (with_mps > 0) {
    trace.notes.push_back(fmt::format(
        "{} gres/mps: assumed {} per GPU; set mps_per_gpu in the --cluster file, or pass "
        "slurm.conf",
        hold(with_mps), kMpsPerGpu));
  }
}

}  // namespace almanac::trace
