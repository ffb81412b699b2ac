// SPDX-License-Identifier: Apache-2.0

#include "deployment/super_kernel.h"

#include <algorithm>

namespace almanac::deployment {

std::vector<KernelQuery> kernel_queries(const DispatchCase& seen) {
  std::vector<KernelQuery> made;
  for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
    const Variant& it = seen.variants[variant];
    for (const Queued& each : seen.queue(variant)) {
      if (each.gpu >= 0 && each.gpu != seen.gpu) continue;
      const int left = it.operators - each.done;
      const double headroom_ms = each.deadline_ms - seen.now_ms;
      made.push_back({.request = each.request,
                      .variant = variant,
                      .done = each.done,
                      .left = left,
                      .headroom_ms = headroom_ms,
                      .slack_ms = headroom_ms - it.batch_ms(1, 1) * left / it.operators});
    }
  }
  std::stable_sort(made.begin(), made.end(), [](const KernelQuery& a, const KernelQuery& b) {
    return a.slack_ms < b.slack_ms;
  });
  return made;
}

bool SuperKernel::add(const KernelQuery& query) {
  constexpr double kAlmost = 1e-9;
  int& batch = batches_[{query.variant, query.done}];
  if (batch == variants_[query.variant].most_batch) return false;
  ++batch;
  queries_.push_back(query);
  const double takes = takes_ms();
  const bool in_time = std::all_of(queries_.begin(), queries_.end(), [&](const KernelQuery& each) {
    return takes * each.left <= each.headroom_ms * (1 + kAlmost);
  });
  if (in_time) return true;
  queries_.pop_back();
  if (--batch == 0) batches_.erase({query.variant, query.done});
  return false;
}

std::optional<Dispatched> SuperKernel::dispatched() const {
  if (queries_.empty()) return std::nullopt;
  Dispatched made{.variant = queries_.front().variant, .takes_ms = takes_ms()};
  for (const KernelQuery& each : queries_) made.requests.push_back(each.request);
  made.operators.assign(made.requests.size(), 1);
  return made;
}

double SuperKernel::takes_ms() const {
  double longest = 0, filled = 0;
  for (const auto& [kernel, batch] : batches_) {
    const Variant& it = variants_[kernel.first];
    const double ms = it.batch_ms(batch, 1) / it.operators;
    longest = std::max(longest, ms);
    filled += ms * it.knee;
  }
  return std::max(longest, filled);
}

}  // namespace almanac::deployment
