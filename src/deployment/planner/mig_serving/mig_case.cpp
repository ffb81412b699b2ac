// SPDX-License-Identifier: Apache-2.0

#include "deployment/planner/mig_serving/mig_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace almanac::deployment::planner {
namespace {

constexpr double kDone = 1e-9;
constexpr int kSlices = 7;

std::size_t index(int slices) { return static_cast<std::size_t>(slices); }

}  // namespace

MigCase::MigCase(const PlanningCase& asked) : asked_(asked) {
  for (const TaskService& service : asked.services) {
    std::vector<Use>& uses = uses_.emplace_back(kSlices + 1);
    double& most = part_of_slice_.emplace_back(0);
    for (int slices = 1; slices <= kSlices; ++slices) {
      uses[index(slices)] = best_use(service, slices);
      if (fits_mig_gpu({slices})) most = std::max(most, uses[index(slices)].part / slices);
    }
  }
}

Result<void> MigCase::check() const {
  for (std::size_t service = 0; service < uses_.size(); ++service) {
    if (part_of_slice_[service] > 0) continue;
    return tl::unexpected(no_variant(asked_, asked_.services[service]));
  }
  return {};
}

MigCase::Use MigCase::best_use(const TaskService& service, int slices) const {
  const double share = slices / static_cast<double>(kSlices);
  Use best;
  for (std::size_t each = 0; each < asked_.variants.size(); ++each) {
    const Variant& variant = asked_.variants[each];
    if (variant.task != service.task || variant.accuracy < service.accuracy ||
        variant.memory_gib > mig_memory(slices) * asked_.fleet.memory_gib) {
      continue;
    }
    const int batch = batch_in_time(variant, share, service.slo_ms);
    if (batch == 0) continue;
    const double part = throughput(variant, share, batch) / service.rate;
    if (part > best.part) best = {each, batch, part};
  }
  return best;
}

Lacking MigCase::lacking(const std::vector<ServedGpu>& gpus) const {
  Lacking made(uses_.size(), 1);
  for (const ServedGpu& gpu : gpus) give(gpu, made);
  return made;
}

bool MigCase::is_done(const Lacking& lacking) {
  return std::all_of(lacking.begin(), lacking.end(), [](double each) { return each <= kDone; });
}

std::size_t MigCase::least_gpus(const Lacking& lacking) const {
  double slices = 0;  // each as good as the best
  for (std::size_t each = 0; each < lacking.size(); ++each) {
    if (lacking[each] > kDone) slices += lacking[each] / part_of_slice_[each];
  }
  return static_cast<std::size_t>(std::ceil(slices / kSlices - kDone));
}

void MigCase::give(const ServedGpu& gpu, Lacking& lacking) const {
  for (std::size_t each = 0; each < gpu.slices.size(); ++each) {
    double& left = lacking[gpu.services[each]];
    left = std::max(0.0, left - uses_[gpu.services[each]][index(gpu.slices[each])].part);
  }
}

/// Fills instances one by one, each for the service of `allowed` whose lack it reduces most.
MigCase::Scored MigCase::filled(const std::vector<int>& slices, Lacking lacking,
                                const std::vector<std::size_t>& allowed) const {
  Scored made{0, {}};
  for (const int each : slices) {
    std::optional<std::size_t> best;
    double most = 0;
    for (const std::size_t service : allowed) {
      const double part = uses_[service][index(each)].part;
      const double gain = std::min(part, lacking[service]) * lacking[service];
      if (gain > most) {
        most = gain;
        best = service;
      }
    }
    if (!best) continue;
    made.first += most;
    made.second.slices.push_back(each);
    made.second.services.push_back(*best);
    lacking[*best] -= std::min(lacking[*best], uses_[*best][index(each)].part);
  }
  return made;
}

std::vector<ServedGpu> MigCase::best_gpus(const Lacking& lacking, std::size_t most) const {
  constexpr std::size_t kServices = 5;
  std::vector<std::size_t> all;
  for (std::size_t each = 0; each < lacking.size(); ++each) {
    if (lacking[each] > kDone) all.push_back(each);
  }
  std::vector<std::size_t> neediest = all;
  std::stable_sort(neediest.begin(), neediest.end(), [&](std::size_t a, std::size_t b) {
    return lacking[a] / part_of_slice_[a] > lacking[b] / part_of_slice_[b];
  });
  neediest.resize(std::min(neediest.size(), kServices));
  std::vector<Scored> scored;
  const auto consider = [&](const std::vector<std::size_t>& allowed) {
    for (const auto& split : mig_splits()) {
      Scored one = filled(split, lacking, allowed);
      if (one.first > 0) scored.push_back(std::move(one));
    }
  };
  for (std::size_t one = 0; one < neediest.size(); ++one) {
    consider({neediest[one]});
    for (std::size_t other = one + 1; other < neediest.size(); ++other) {
      consider({neediest[one], neediest[other]});
    }
  }
  // The tails of many services go together on one GPU.
  const bool is_late = std::all_of(all.begin(), all.end(), [&](std::size_t each) {
    return uses_[each][kSlices].part >= lacking[each];
  });
  if (is_late) consider(all);
  std::stable_sort(scored.begin(), scored.end(),
                   [](const Scored& a, const Scored& b) { return a.first > b.first; });
  std::vector<ServedGpu> made;
  for (Scored& each : scored) {
    if (made.size() == most) break;
    if (std::find(made.begin(), made.end(), each.second) == made.end()) {
      made.push_back(std::move(each.second));
    }
  }
  return made;
}

/// Puts services on the instances from `at` on until no service lacks anything. Returns false if
/// no combination does that. Gives up after `left` tries.
bool MigCase::finish(const std::vector<int>& slices, std::size_t at, const Lacking& lacking,
                     int& left, ServedGpu& gpu) const {
  if (is_done(lacking)) return true;
  if (at == slices.size() || left-- <= 0) return false;
  double needed = 0;  // slices, each as good as the best
  for (std::size_t each = 0; each < lacking.size(); ++each) {
    if (lacking[each] > kDone) needed += lacking[each] / part_of_slice_[each];
  }
  const auto first = slices.begin() + static_cast<std::ptrdiff_t>(at);
  if (needed > std::accumulate(first, slices.end(), 0) + kDone) return false;
  for (std::size_t service = 0; service < lacking.size(); ++service) {
    const double part = uses_[service][index(slices[at])].part;
    if (lacking[service] <= kDone || part <= 0) continue;
    Lacking after = lacking;
    after[service] = std::max(0.0, after[service] - part);
    gpu.slices.push_back(slices[at]);
    gpu.services.push_back(service);
    if (finish(slices, at + 1, after, left, gpu)) return true;
    gpu.slices.pop_back();
    gpu.services.pop_back();
  }
  return finish(slices, at + 1, lacking, left, gpu);  // this instance stays empty
}

std::optional<ServedGpu> MigCase::last_gpu(const Lacking& lacking) const {
  constexpr int kTries = 20'000;
  for (const auto& split : mig_splits()) {
    ServedGpu gpu;
    int left = kTries;
    if (finish(split, 0, lacking, left, gpu)) return gpu;
  }
  return std::nullopt;
}

std::vector<ServedGpu> MigCase::greedy(std::vector<ServedGpu> gpus) const {
  Lacking left = lacking(gpus);
  while (!is_done(left)) {
    auto next = last_gpu(left);
    if (!next) next = best_gpus(left, 1).front();
    give(*next, left);
    gpus.push_back(*std::move(next));
  }
  return gpus;
}

Deployment MigCase::deployment_of(const std::vector<ServedGpu>& gpus) const {
  Deployment made;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    for (std::size_t each = 0; each < gpus[gpu].slices.size(); ++each) {
      const std::size_t service = gpus[gpu].services[each];
      const Use& use = uses_[service][index(gpus[gpu].slices[each])];
      made.instances.push_back({.gpu = static_cast<int>(gpu),
                                .share = gpus[gpu].slices[each] / static_cast<double>(kSlices),
                                .service = service,
                                .variant = use.variant,
                                .batch = use.batch});
    }
  }
  return made;
}

}  // namespace almanac::deployment::planner
