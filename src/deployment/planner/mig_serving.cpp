// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs are divided into MIG instances, one at a time, each with the division and the services that
/// complete the most.
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/rng.h"
#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

/// The best that an instance with a number of slices can do for a service.
struct Use {
  std::size_t variant = 0;
  int batch = 0;    ///< 0 = nothing fits, or is in time.
  double part = 0;  ///< Of the service's rate.
};

/// A GPU: its instances, and the service of each.
struct ServedGpu {
  std::vector<int> slices{};
  std::vector<std::size_t> services{};
};

/// Source   Tan et al., 2021 (Serving DNN models with multi-instance GPUs): a service's completion
///          rate is 1 when it has its throughput. A GPU's utility for a service is the completion
///          that it adds. Greedily takes the GPU with the highest utility, weighted by what each
///          service lacks, with at most two services while one lacks more than a GPU gives. Then,
///          in rounds, drops some GPUs and plans them again, and keeps the best plan.
/// Differs  Throughput beyond a service's objective does not count. 64 rounds each drop a random
///          third. Instead of a tree search, every service is tried on every instance to find what
///          one GPU can complete. Instances are not moved from an older deployment.
class MigServing {
 public:
  explicit MigServing(const PlanningCase& asked) : asked_(asked), rng_(asked.seed) {
    for (const TaskService& service : asked.services) {
      std::vector<Use>& uses = uses_.emplace_back(8);
      double& most = part_of_slice_.emplace_back(0);
      for (int slices = 1; slices <= 7; ++slices) {
        uses[index(slices)] = best_use(service, slices);
        most = std::max(most, uses[index(slices)].part / slices);
      }
    }
  }

  Result<Deployment> plan() {
    for (std::size_t service = 0; service < uses_.size(); ++service) {
      const bool none = std::all_of(uses_[service].begin(), uses_[service].end(),
                                    [](const Use& use) { return use.batch == 0; });
      if (none) return tl::unexpected(no_variant(asked_.services[service]));
    }
    std::vector<ServedGpu> best = complete({});
    constexpr int kRounds = 64;
    for (int round = 0; round < kRounds && best.size() > 1; ++round) {
      std::vector<ServedGpu> kept;
      for (const ServedGpu& each : best) {
        if (rng_.below(3) > 0) kept.push_back(each);
      }
      std::vector<ServedGpu> tried = complete(std::move(kept));
      if (tried.size() < best.size()) best = std::move(tried);
    }
    if (best.size() > static_cast<std::size_t>(asked_.fleet.gpus)) {
      return tl::unexpected(too_few_gpus(asked_, asked_.services.front()));
    }
    return deployment_of(best);
  }

 private:
  static std::size_t index(int slices) { return static_cast<std::size_t>(slices); }

  Use best_use(const TaskService& service, int slices) const {
    const double share = slices / 7.0;
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

  std::vector<double> completion(const std::vector<ServedGpu>& gpus) const {
    std::vector<double> made(uses_.size());
    for (const ServedGpu& gpu : gpus) {
      for (std::size_t each = 0; each < gpu.slices.size(); ++each) {
        made[gpu.services[each]] += uses_[gpu.services[each]][index(gpu.slices[each])].part;
      }
    }
    return made;
  }

  /// Fills instances one by one, each for the service of `allowed` whose lack it reduces most.
  std::pair<ServedGpu, double> filled(const std::vector<int>& slices, std::vector<double> lacking,
                                      const std::vector<std::size_t>& allowed) const {
    ServedGpu gpu;
    double score = 0;
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
      score += most;
      gpu.slices.push_back(each);
      gpu.services.push_back(*best);
      lacking[*best] -= std::min(lacking[*best], uses_[*best][index(each)].part);
    }
    return {std::move(gpu), score};
  }

  /// Puts services on the instances from `at` on until no service lacks anything. Returns false if
  /// no combination does that. Gives up after `left` tries.
  bool finish(const std::vector<int>& slices, std::size_t at, const std::vector<double>& lacking,
              int& left, ServedGpu& gpu) const {
    constexpr double kDone = 1e-9;
    if (std::all_of(lacking.begin(), lacking.end(), [](double each) { return each <= kDone; })) {
      return true;
    }
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
      std::vector<double> after = lacking;
      after[service] = std::max(0.0, after[service] - part);
      gpu.slices.push_back(slices[at]);
      gpu.services.push_back(service);
      if (finish(slices, at + 1, after, left, gpu)) return true;
      gpu.slices.pop_back();
      gpu.services.pop_back();
    }
    return finish(slices, at + 1, lacking, left, gpu);  // this instance stays empty
  }

  /// Returns one GPU that gives services all that they lack; nothing = none was found.
  std::optional<ServedGpu> last_gpu(const std::vector<double>& lacking) const {
    constexpr int kTries = 20'000;
    for (const auto& split : mig_splits()) {
      ServedGpu gpu;
      int left = kTries;
      if (finish(split, 0, lacking, left, gpu)) return gpu;
    }
    return std::nullopt;
  }

  std::vector<ServedGpu> complete(std::vector<ServedGpu> gpus) const {
    constexpr double kDone = 1e-9;
    std::vector<std::size_t> all(uses_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    while (true) {
      std::vector<double> lacking = completion(gpus);
      for (double& each : lacking) each = std::max(0.0, 1 - each);
      std::erase_if(all, [&](std::size_t each) { return lacking[each] <= kDone; });
      const bool is_too_many = gpus.size() > static_cast<std::size_t>(asked_.fleet.gpus);
      if (all.empty() || is_too_many) return gpus;
      if (auto last = last_gpu(lacking)) {
        gpus.push_back(*std::move(last));
        return gpus;
      }
      std::pair<ServedGpu, double> best{{}, 0};
      const auto consider = [&](const std::vector<std::size_t>& allowed) {
        for (const auto& split : mig_splits()) {
          auto tried = filled(split, lacking, allowed);
          if (tried.second > best.second * (1 + kDone)) best = std::move(tried);
        }
      };
      for (std::size_t one = 0; one < all.size(); ++one) {
        consider({all[one]});
        for (std::size_t other = one + 1; other < all.size(); ++other) {
          consider({all[one], all[other]});
        }
      }
      // The tails of many services go together on one GPU.
      const bool is_late = std::all_of(all.begin(), all.end(), [&](std::size_t each) {
        return uses_[each][7].part >= lacking[each];
      });
      if (is_late) consider(all);
      gpus.push_back(std::move(best.first));
    }
  }

  Deployment deployment_of(const std::vector<ServedGpu>& gpus) const {
    Deployment made;
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      for (std::size_t each = 0; each < gpus[gpu].slices.size(); ++each) {
        const std::size_t service = gpus[gpu].services[each];
        const Use& use = uses_[service][index(gpus[gpu].slices[each])];
        made.instances.push_back({.gpu = static_cast<int>(gpu),
                                  .share = gpus[gpu].slices[each] / 7.0,
                                  .service = service,
                                  .variant = use.variant,
                                  .batch = use.batch});
      }
    }
    return made;
  }

  const PlanningCase& asked_;
  Rng rng_;
  std::vector<std::vector<Use>> uses_;  // by service, then slices
  std::vector<double> part_of_slice_;   // by service: the most that one slice of an instance adds
};

}  // namespace

void register_mig_serving(Registry& registry) {
  registry.planners.add(
      {.name = "mig_serving",
       .summary = "MIG partitions that serve all requests with the fewest GPUs",
       .source = "Tan et al. 2021 (MIG-Serving)",
       .make = {[](const PlanningCase& asked) { return MigServing(asked).plan(); }, true}});
}

}  // namespace almanac::deployment::planner
