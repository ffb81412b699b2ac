// SPDX-License-Identifier: Apache-2.0
#include "report/recommendation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "policy/recommended.h"

namespace almanac::report {
namespace {

using experiment::Summary;

bool lists_need(const Summary& summary, std::string_view what) {
  return std::find(summary.needs.begin(), summary.needs.end(), what) != summary.needs.end();
}

/// Whether jobs under `one` wait no longer than under `best`, but for differences that mean
/// nothing.
bool is_as_good(const Summary& one, const Summary& best) {
  return one.avg_jct_s - best.avg_jct_s <= policy::kSameWait * best.avg_wait_s;
}

template <class May>
std::optional<std::size_t> best_deployable(const SummaryRows& policies, May may) {
  std::optional<std::size_t> best;
  std::optional<std::size_t> ours;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const Summary* const each : policies) {
    if (is_deployable(*each)) fewest = std::min(fewest, each->never_ended);
  }
  for (std::size_t at = 0; at < policies.size(); ++at) {
    const Summary& each = *policies[at];
    if (!is_deployable(each) || std::isnan(each.avg_jct_s) || !may(each)) continue;
    if (each.never_ended > fewest) continue;
    if (policy::is_recommended(each.policy) && !ours) ours = at;
    if (!best || each.avg_jct_s < policies[*best]->avg_jct_s) best = at;
  }
  return ours && is_as_good(*policies[*ours], *policies[*best]) ? ours : best;
}

}  // namespace

bool is_deployable(const Summary& summary) {
  return !summary.bound && summary.complete && !summary.recorded;
}

bool are_comparable(const Summary& one, const Summary& other) {
  return one.finished == other.finished && one.never_ended == other.never_ended;
}

bool needs_checkpoints(const Summary& summary) {
  return lists_need(summary, "checkpoints") && !lists_need(summary, "training");
}

std::optional<std::size_t> recommendation(const SummaryRows& policies) {
  const auto without =
      best_deployable(policies, [](const Summary& each) { return !needs_checkpoints(each); });
  return without ? without : best_deployable(policies, [](const Summary&) { return true; });
}

const Summary* faster_with_checkpoints(const SummaryRows& policies, const Summary& best) {
  if (best.bound || needs_checkpoints(best)) return nullptr;
  const auto fastest = best_deployable(policies, needs_checkpoints);
  if (!fastest || !(policies[*fastest]->avg_jct_s < best.avg_jct_s)) return nullptr;
  return policies[*fastest];
}

}  // namespace almanac::report
