// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/size_choices.h"

#include <algorithm>
#include <array>

#include "policy/size/share.h"

namespace almanac::policy {
namespace {

/// Less is not worth a choice.
constexpr double kWorthIt = 0.005;
constexpr std::int32_t kWholeCore = 1'000;
/// Memory, in thirds of the proportional share.
constexpr std::array<std::int32_t, 8> kThirds{1, 2, 3, 4, 5, 6, 9, 12};

/// Returns the most cores and memory that each of `gpus` GPUs can have on one node of `vc`, or on
/// several full ones.
cluster::Amount most_of_gpu(const cluster::Cluster& cluster, VcId vc, int gpus) {
  const cluster::VirtualCluster& owner = cluster.vcs[index(vc)];
  cluster::Amount found{};
  for (std::uint32_t offset = 0; offset < owner.num_nodes; ++offset) {
    const cluster::Node& node = cluster.nodes[index(owner.first) + offset];
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    if (make.gpus == 0) continue;
    const int together = std::min(gpus, make.gpus);
    found = most(found, {1, cluster::cpu_milli(make.cpus) / together,
                         cluster::memory_mb(make.memory_gb) / together});
  }
  return found;
}

std::vector<std::int32_t> cores_to_ask(std::int32_t share, std::int32_t most) {
  std::vector<std::int32_t> asked{share};
  for (std::int32_t cores = kWholeCore; cores <= most; cores += kWholeCore) asked.push_back(cores);
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  return asked;
}

std::vector<std::int32_t> memory_to_ask(std::int32_t share, std::int32_t most) {
  std::vector<std::int32_t> asked;
  for (const std::int32_t thirds : kThirds) {
    const std::int32_t memory = share / 3 * thirds + share % 3 * thirds / 3;
    if (memory <= std::max(share, most)) asked.push_back(memory);
    if (share == 0) break;
  }
  return asked;
}

/// Whether `a` is as good as `b` for no more, near enough.
bool serves_for(const SizeChoice& a, const SizeChoice& b) {
  return a.cpu_milli <= b.cpu_milli && a.memory_mb <= b.memory_mb &&
         a.throughput >= b.throughput - kWorthIt;
}

JobChoices choices_of(JobId job, const View& view, VcId vc) {
  const cluster::Amount share = size::share_of_gpu(view.cluster, vc);
  const SizeChoice fair{share.cpu_milli, share.memory_mb, 1};
  if (view.speeds == nullptr || share.cpu_milli == 0) return {.all = {fair}};
  const cluster::Amount most = most_of_gpu(view.cluster, vc, view.request(job).gpus);
  const double with_share = view.speeds->rate(job, share);
  // The cheapest first, so that each needs to be held against those before it only.
  JobChoices made;
  made.all.push_back(fair);
  for (const std::int32_t cpu_milli : cores_to_ask(share.cpu_milli, most.cpu_milli)) {
    for (const std::int32_t memory_mb : memory_to_ask(share.memory_mb, most.memory_mb)) {
      const double throughput = view.speeds->rate(job, {1, cpu_milli, memory_mb}) / with_share;
      const SizeChoice choice{cpu_milli, memory_mb, throughput};
      if (throughput < 1 - kWorthIt) continue;
      const bool served =
          std::any_of(made.all.begin(), made.all.end(),
                      [&](const SizeChoice& known) { return serves_for(known, choice); });
      if (!served) made.all.push_back(choice);
    }
  }
  // What turned out to cost more than one that came later for nothing.
  std::vector<SizeChoice> kept;
  for (std::size_t at = 0; at < made.all.size(); ++at) {
    bool served = false;
    for (std::size_t later = at + 1; later < made.all.size(); ++later) {
      served = served || serves_for(made.all[later], made.all[at]);
    }
    if (!served) kept.push_back(made.all[at]);
  }
  made.all = std::move(kept);
  std::stable_sort(made.all.begin(), made.all.end(), [](const SizeChoice& a, const SizeChoice& b) {
    return a.cpu_milli < b.cpu_milli;
  });
  const auto within_share = [&](const SizeChoice& choice) {
    return choice.cpu_milli <= share.cpu_milli && choice.memory_mb <= share.memory_mb;
  };
  made.least = static_cast<std::size_t>(
      std::find_if(made.all.begin(), made.all.end(), within_share) - made.all.begin());
  for (std::size_t at = 0; at < made.all.size(); ++at) {
    if (made.all[at].throughput > made.all[made.best].throughput + kWorthIt) made.best = at;
  }
  return made;
}

}  // namespace

const JobChoices& SizeChoices::of(JobId job, const View& view) {
  const trace::Request& request = view.request(job);
  const VcId vc = view.progress(job).vc;
  const SpeedModelId model = view.speeds == nullptr ? kNoSpeedModel : view.speeds->model(job);
  const Alike alike{model, request.gpus, request.nodes, vc};
  const auto found = known_.find(alike);
  if (found != known_.end()) return found->second;
  return known_.emplace(alike, choices_of(job, view, vc)).first->second;
}

}  // namespace almanac::policy
