// SPDX-License-Identifier: Apache-2.0
#include "rules/defrag/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace almanac::defrag {
namespace {

double gpus_of(const cluster::Demand& demand) {
  return demand.gpus * (demand.gpu_milli / double{cluster::kWholeGpu});
}

}  // namespace

Plan make_plan(cluster::Ledger& ledger, std::vector<Resident> residents,
               std::span<const Newcomer> newcomers, const Limits& limits) {
  Plan plan;
  const std::size_t before = ledger.mark();
  std::vector<bool> is_done(newcomers.size(), false);
  for (;;) {
    std::optional<Step> best;
    std::vector<std::size_t> tried;
    const bool is_first_look = plan.steps.empty();
    for (std::size_t at = 0; at < newcomers.size(); ++at) {
      const Newcomer& each = newcomers[at];
      const auto is_alike = [&](std::size_t other) {
        return newcomers[other].vc == each.vc && newcomers[other].demand == each.demand;
      };
      if (is_done[at] || std::any_of(tried.begin(), tried.end(), is_alike)) continue;
      tried.push_back(at);
      Answer answer = make_room(ledger, residents, each.vc, each.demand, limits);
      if (!answer.best || answer.best->moves.empty()) {
        if (is_first_look && answer.best) plan.fit.push_back(at);
        if (is_first_look && !answer.best && !answer.is_proven) plan.given_up.push_back(at);
        for (std::size_t other = at; other < newcomers.size(); ++other) {
          if (is_alike(other)) is_done[other] = true;
        }
        continue;
      }
      Step step{.newcomer = at,
                .compaction = std::move(*answer.best),
                .is_proven = answer.is_proven,
                .gpus = gpus_of(each.demand)};
      if (!best || step.cost_of_a_gpu_s() < best->cost_of_a_gpu_s()) best = std::move(step);
    }
    if (!best) break;
    carry_out(best->compaction, ledger, residents);
    for (const Move& move : best->compaction.moves) residents[move.resident].cost_gpu_s = kStays;
    is_done[best->newcomer] = true;
    plan.steps.push_back(std::move(*best));
  }
  ledger.undo(before);
  return plan;
}

}  // namespace almanac::defrag
