// SPDX-License-Identifier: Apache-2.0

/// \file
/// Variants that take turns on a GPU, or on a part of one: each has a batch in every duty cycle.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "deployment/deployment.h"

namespace almanac::deployment::planner {

/// The share of one variant in the turns.
struct Turn {
  std::size_t service = 0, variant = 0;
  double rate = 0;  ///< Requests a second.
  int batch = 1;
};

/// Variants that share a part of a GPU.
struct Turns {
  double share = 1;
  std::vector<Turn> all{};
  double duty_ms = 0;
  double busy_ms = 0;  ///< Per duty cycle.
  double occupancy() const { return duty_ms > 0 ? busy_ms / duty_ms : 0; }
};

/// Returns the longest duty cycle, and the batch, with which a request that has just missed its
/// turn is still in time, for its own rate alone. Nothing if there is none.
inline std::optional<std::pair<double, int>> longest_duty(const PlanningCase& asked,
                                                          const Turn& turn, double share,
                                                          double slower) {
  const Variant& variant = asked.variants[turn.variant];
  const double slo_ms = asked.services[turn.service].slo_ms;
  std::optional<std::pair<double, int>> best;
  for (int batch = 1; batch <= variant.most_batch; ++batch) {
    const double takes_ms = slower * variant.batch_ms(batch, share);
    const double duty_ms = std::min(slo_ms - takes_ms, 1000 * batch / turn.rate);
    if (duty_ms < takes_ms || 1000 * batch / duty_ms < turn.rate * (1 - 1e-9)) continue;
    if (!best || duty_ms > best->first) best = {duty_ms, batch};
  }
  return best;
}

/// Combines turns in one duty cycle, the shortest of theirs; nothing if they do not fit, or a
/// request would be late.
///
/// Source   Shen et al., SOSP'19 (Nexus), section 4.1: nodes are merged at the shorter duty cycle,
///          and batches hold the requests of one cycle.
inline std::optional<Turns> in_turns(const PlanningCase& asked, double share, double slower,
                                     std::vector<Turn> all) {
  Turns made{.share = share, .all = std::move(all), .duty_ms = std::numeric_limits<double>::max()};
  for (const Turn& each : made.all) {
    const auto own = longest_duty(asked, each, share, slower);
    if (!own) return std::nullopt;
    made.duty_ms = std::min(made.duty_ms, own->first);
  }
  for (Turn& each : made.all) {
    const Variant& variant = asked.variants[each.variant];
    constexpr double kRounding = 1e-9;
    each.batch =
        std::max(1, static_cast<int>(std::ceil(made.duty_ms * each.rate / 1000 - kRounding)));
    const double takes_ms = slower * variant.batch_ms(each.batch, share);
    made.busy_ms += takes_ms;
    const double slo_ms = asked.services[each.service].slo_ms;
    if (each.batch > variant.most_batch || takes_ms + made.duty_ms > slo_ms * (1 + kRounding)) {
      return std::nullopt;
    }
  }
  if (made.busy_ms > made.duty_ms * (1 + 1e-9)) return std::nullopt;
  return made;
}

/// GiB of all of them.
inline double memory_of(const PlanningCase& asked, const std::vector<Turn>& turns) {
  double sum = 0;
  for (const Turn& each : turns) sum += asked.variants[each.variant].memory_gib;
  return sum;
}

/// Adds the instances of part `part` of a GPU.
inline void add_turns(const Turns& turns, int gpu, int part, Deployment& deployment) {
  for (const Turn& each : turns.all) {
    deployment.instances.push_back({.gpu = gpu,
                                    .share = turns.share,
                                    .service = each.service,
                                    .variant = each.variant,
                                    .batch = each.batch,
                                    .part = part,
                                    .duty_ms = turns.duty_ms});
  }
}

}  // namespace almanac::deployment::planner
