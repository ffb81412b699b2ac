// SPDX-License-Identifier: Apache-2.0

#include "inference/tenants.h"

#include <algorithm>

namespace almanac::inference {

std::vector<TenantSeen> by_tenant(const Requests& requests, const std::vector<Outcome>& outcomes,
                                  const Objective& objective) {
  struct Part {
    Requests requests{};
    std::vector<Outcome> outcomes{};
    Micros computed = 0;
  };
  std::vector<Part> parts(requests.tenants.size());
  Micros computed = 0;
  for (RequestId id = 0; id < requests.size() && !parts.empty(); ++id) {
    Part& part = parts[requests[id].tenant];
    part.requests.all.push_back(requests[id]);
    part.outcomes.push_back(outcomes[id]);
    part.computed += outcomes[id].computed;
    computed += outcomes[id].computed;
  }
  std::vector<TenantSeen> made;
  for (std::size_t each = 0; each < parts.size(); ++each) {
    made.push_back({.tenant = requests.tenants[each],
                    .seen = summarize(parts[each].requests, parts[each].outcomes, objective),
                    .gpu_share = computed > 0 ? parts[each].computed / computed : 0});
  }
  std::stable_sort(made.begin(), made.end(), [](const TenantSeen& a, const TenantSeen& b) {
    return a.seen.attainment() < b.seen.attainment();
  });
  return made;
}

}  // namespace almanac::inference
