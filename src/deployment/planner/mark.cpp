// SPDX-License-Identifier: Apache-2.0

/// \file
/// Adds the part of a GPU that serves a request at the least cost until the rate is served.
#include <algorithm>
#include <optional>

#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

constexpr int kParts = 10;
constexpr double kHorizon_s = 360;  // over which the load of an instance is paid

/// Source   Zhang et al., ATC'19 (MArk), section 4.2: while demand exceeds capacity, adds the
///          instance with the least (price x time + cost of its launch) / requests that it serves.
/// Differs  The instances are variants on tenths of a GPU, up to their knee; the launch costs their
///          load time. GPUs have one price, which therefore does not matter.
class MarkPlan {
 public:
  explicit MarkPlan(const PlanningCase& asked) : asked_(asked) {}

  Result<Deployment> made() {
    for (std::size_t number = 0; number < asked_.services.size(); ++number) {
      const TaskService& service = asked_.services[number];
      const auto variants = eligible(asked_, service, service.accuracy);
      constexpr double kNothing = 1e-9;
      for (double left = service.rate; left > kNothing * service.rate;) {
        const auto cheapest = cheapest_for(number, variants, left);
        if (!cheapest) return tl::unexpected(no_variant(asked_, service));
        if (!add_by_best_fit(asked_, cheapest->instance, 1, made_)) {
          return tl::unexpected(too_few_gpus(asked_, service));
        }
        left -= cheapest->rate;
      }
    }
    return std::move(made_);
  }

 private:
  struct Offer {
    Instance instance{};
    double rate = 0;
    double cost = 0;  ///< GPU-seconds a request.
  };

  std::optional<Offer> cheapest_for(std::size_t service, const std::vector<std::size_t>& variants,
                                    double left) const {
    std::optional<Offer> best;
    for (const std::size_t variant : variants) {
      const Variant& it = asked_.variants[variant];
      for (int tenths = 1; tenths <= kParts; ++tenths) {
        const double share = tenths / static_cast<double>(kParts);
        const int batch =
            batch_in_time(it, share, asked_.services[service].slo_ms, asked_.fleet.beside);
        if (batch > 0) {
          const double rate = throughput(it, share, batch, asked_.fleet.beside);
          const double cost =
              share * (kHorizon_s + it.load_s) / (kHorizon_s * std::min(rate, left));
          if (!best || cost < best->cost) {
            best = {{.share = share, .service = service, .variant = variant, .batch = batch},
                    rate,
                    cost};
          }
        }
        if (share >= it.knee) break;
      }
    }
    return best;
  }

  const PlanningCase& asked_;
  Deployment made_;
};

}  // namespace

void register_mark(Registry& registry) {
  registry.planners.add(
      {.name = "mark",
       .summary = "the part of a GPU that serves a request at the least cost, again and again",
       .source = "Zhang et al. ATC'19 §4.2",
       .make = {[](const PlanningCase& asked) { return MarkPlan(asked).made(); }, false,
                line_with_headroom}});
}

}  // namespace almanac::deployment::planner
