// SPDX-License-Identifier: Apache-2.0
#include "replicas/status.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "stats/quantile.h"

namespace almanac::replicas {

std::string status_json(const std::string& service, const Pool& pool, const Tally& tally,
                        const Keeper& keeper) {
  const Tally::Seen seen = tally.seen();
  const inference::Load load = pool.load();
  nlohmann::ordered_json made = {{"service", service},        {"accepted", seen.accepted},
                                 {"answered", seen.fates[0]}, {"refused", seen.fates[1]},
                                 {"broken", seen.fates[2]},   {"client_left", seen.fates[3]},
                                 {"in_hand", seen.in_hand()}, {"tried_again", seen.tried_again},
                                 {"waiting", load.waiting},   {"running", load.running},
                                 {"attained", seen.attained}};
  const auto quantiles = [&](const char* key, std::vector<double> values) {
    if (values.empty()) return;
    made[key] = {{"p50", 1e3 * stats::quantile(values, 0.5)},
                 {"p90", 1e3 * stats::quantile(values, 0.9)},
                 {"p99", 1e3 * stats::quantile(values, 0.99)}};
  };
  quantiles("ttft_ms", seen.first_s);
  quantiles("tpot_ms", seen.each_s);
  made["trouble"] = keeper.trouble();
  made["replicas"] = nlohmann::ordered_json::array();
  for (const Keeper::Seen& each : keeper.seen()) {
    nlohmann::ordered_json row = {
        {"job", each.job}, {"port", each.port}, {"state", each.state}, {"in_hand", each.in_hand}};
    if (each.cold_start_s) row["cold_start_s"] = *each.cold_start_s;
    made["replicas"].push_back(std::move(row));
  }
  return made.dump(2) + "\n";
}

}  // namespace almanac::replicas
