// SPDX-License-Identifier: Apache-2.0

/// \file
/// Batch, share and copies of a variant, each step tried in a replay of random requests.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "deployment/registry.h"
#include "deployment/replay.h"

namespace almanac::deployment::planner {
namespace {

constexpr double kInTime = 0.99;    // of the requests, so that p99 is within the objective
constexpr double kRequests = 3000;  // of a replay
constexpr double kShareStep = 0.1;
constexpr int kMostCopies = 1000;

/// The configuration of one service.
struct Setting {
  double share = 1;
  int batch = 1;
  int copies = 1;
  double cost() const { return share * copies; }
};

/// Source   Crankshaw et al., SoCC'20 (InferLine), section 4: starts on the best hardware with
///          batches of 1 and as many replicas as are feasible; then takes, again and again, the
///          step that saves the most: twice the batch, a replica less, weaker hardware. An
///          estimator replays requests and accepts a step if p99 is within the objective.
/// Differs  One stage, whose hardware is a share of a GPU: first the knee, then a tenth less each
///          time. The requests are random at the rate of the service. Twice the batch and weaker
///          hardware come with as few replicas as are feasible. Rates for which batches of 1 need
///          more than kMostCopies start with the smallest batch that is feasible.
class Estimated {
 public:
  Estimated(const PlanningCase& asked, std::size_t service, std::size_t variant)
      : alone_{.variants = {asked.variants[variant]},
               .services = {asked.services[service]},
               .fleet = {.gpus = kMostCopies, .memory_gib = asked.fleet.memory_gib, .beside = 1},
               .seed = asked.seed} {
    // Each copy may get neighbors.
    alone_.variants[0].fixed_ms *= asked.fleet.beside;
    alone_.variants[0].item_ms *= asked.fleet.beside;
    arrivals_ = poisson_arrivals(alone_.services, kRequests / alone_.services[0].rate, asked.seed);
  }

  /// Nothing: no number of copies up to kMostCopies keeps p99 within the objective.
  std::optional<Setting> best() const {
    Setting first{.share = alone_.variants[0].knee};
    auto now = fewest(first);
    while (!now && (first.batch *= 2) <= alone_.variants[0].most_batch) now = fewest(first);
    while (now) {
      std::optional<Setting> next;
      const auto consider = [&](const std::optional<Setting>& each) {
        if (each && each->cost() < (next ? next->cost() : now->cost()) - 1e-9) next = each;
      };
      Setting larger = *now, weaker = *now;
      for (larger.batch *= 2; larger.batch <= alone_.variants[0].most_batch; larger.batch *= 2) {
        consider(fewest(larger));
      }
      weaker.share = now->share - kShareStep;
      if (weaker.share > 1e-9) consider(fewest(weaker));
      if (!next) return now;
      now = next;
    }
    return now;
  }

 private:
  bool is_feasible(const Setting& setting) const {
    Deployment copies;
    for (int each = 0; each < setting.copies; ++each) {
      copies.instances.push_back({.gpu = each, .share = setting.share, .batch = setting.batch});
    }
    return play_deployment(alone_, copies, arrivals_).worst() >= kInTime;
  }

  /// The setting with the fewest copies that are feasible.
  std::optional<Setting> fewest(Setting setting) const {
    const Variant& it = alone_.variants[0];
    const double slo_ms = alone_.services[0].slo_ms;
    if (2 * it.batch_ms(setting.batch, setting.share) > slo_ms * (1 + 1e-9)) return std::nullopt;
    const double most = throughput(it, setting.share, setting.batch);
    const double least = std::max(1.0, std::ceil(alone_.services[0].rate / most - 1e-9));
    if (least > kMostCopies / 2) return std::nullopt;
    for (setting.copies = static_cast<int>(least); setting.copies <= 2 * least; ++setting.copies) {
      if (is_feasible(setting)) return setting;
    }
    return std::nullopt;
  }

  PlanningCase alone_;
  std::vector<TaskArrival> arrivals_;
};

/// The variant is in time for a single request, so only its rate can be too high.
Error too_many_copies(const Variant& variant, const TaskService& service) {
  return {
      Code::unavailable,
      fmt::format("up to {} copies of {} do not answer {} requests/s of {} with p99 within {} ms",
                  kMostCopies, variant.name, service.rate, service.task, service.slo_ms),
      {},
      "use a longer objective or less accuracy, or split the service"};
}

Result<Deployment> plan_inferline(const PlanningCase& asked) {
  Deployment made;
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    const auto variant = most_accurate(asked, service);
    if (!variant) return tl::unexpected(variant.error());
    const auto setting = Estimated(asked, number, *variant).best();
    if (!setting) return tl::unexpected(too_many_copies(asked.variants[*variant], service));
    const Instance instance{
        .share = setting->share, .service = number, .variant = *variant, .batch = setting->batch};
    if (!add_by_best_fit(asked, instance, setting->copies, made)) {
      return tl::unexpected(too_few_gpus(asked, service));
    }
  }
  return made;
}

}  // namespace

void register_inferline(Registry& registry) {
  registry.planners.add({.name = "inferline",
                         .summary = "batch, share and copies, each step tried in a replay",
                         .source = "Crankshaw et al. SoCC'20 §4",
                         .make = {plan_inferline, false, envelope}});
}

}  // namespace almanac::deployment::planner
