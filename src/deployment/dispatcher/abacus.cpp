// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs operators of up to four queries at the same time: all remaining ones of the most urgent
/// query, and of the others as many as leave it in time. It preempts nothing, and a query stays on
/// its first GPU.
///
/// Source   Cui et al., SC'21 (Abacus); overlap.h.
/// Differs  The duration of a group is not learned. It is the longer of its longest part and of the
///          time that all parts take if each fills its variant's knee of the GPU. Batches have one
///          query.
#include <algorithm>

#include "deployment/overlap.h"
#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class Abacus final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    if (seen.running != nullptr) return std::nullopt;
    std::vector<const Variant*> of;
    std::vector<std::size_t> requests;
    std::vector<OverlapQuery> queries;
    for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
      const Variant& it = seen.variants[variant];
      const double each_ms = it.batch_ms(1, 1) / it.operators;
      for (const Queued& each : seen.queue(variant)) {
        if (each.gpu >= 0 && each.gpu != seen.gpu) continue;
        of.push_back(&it);
        requests.push_back(each.request);
        queries.push_back(
            {.headroom_ms = each.deadline_ms - seen.now_ms,
             .left_ms = std::vector(static_cast<std::size_t>(it.operators - each.done), each_ms)});
      }
    }
    if (queries.empty()) return std::nullopt;
    const OverlapTime together = [&](const std::vector<std::size_t>& operators) {
      double longest = 0, filled = 0;
      for (std::size_t each = 0; each < operators.size(); ++each) {
        if (operators[each] == 0) continue;
        const double ms = queries[each].left_ms.front() * static_cast<double>(operators[each]);
        longest = std::max(longest, ms);
        filled += ms * of[each]->knee;
      }
      return std::max(longest, filled);
    };
    const auto group = overlapped_group(queries, together);
    Dispatched made{.takes_ms = together(group)};
    for (std::size_t each = 0; each < group.size(); ++each) {
      if (group[each] == 0) continue;
      made.requests.push_back(requests[each]);
      made.operators.push_back(static_cast<int>(group[each]));
    }
    if (made.requests.empty()) return std::nullopt;
    return made;
  }
};

}  // namespace

void register_abacus(Registry& registry) {
  registry.dispatchers.add(
      {.name = "abacus",
       .summary = "operators of four queries at a time, so that the most urgent finishes in time",
       .source = "Cui et al. SC'21",
       .make = [] { return std::make_unique<Abacus>(); }});
}

}  // namespace almanac::deployment::dispatcher
