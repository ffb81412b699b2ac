// SPDX-License-Identifier: Apache-2.0

/// \file
/// A replica that has the requested adapter, otherwise one with a free slot for it.
///
/// Source   Kubernetes' Gateway API Inference Extension, scheduler of v0.3: considers replicas with
///          short queues (at most 128 requests); among these, those that have the adapter,
///          otherwise those with a free slot, otherwise all; among these, those with the shortest
///          queues; and takes the one with the most free KV memory.
/// Differs  The original sends one request in a thousand to a replica with a free slot although
///          others have the adapter. Of equal replicas the first is taken; the original draws one.
#include <algorithm>
#include <iterator>
#include <vector>

#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

class AdapterAffinity final : public Router {
 public:
  std::size_t choose(RequestId request, std::span<Replica* const> replicas) override {
    std::vector<std::size_t> left(replicas.size());
    for (std::size_t each = 0; each < left.size(); ++each) left[each] = each;
    const auto keep = [&](const auto& which) {
      std::vector<std::size_t> kept;
      std::copy_if(left.begin(), left.end(), std::back_inserter(kept),
                   [&](std::size_t each) { return which(*replicas[each]); });
      if (kept.empty()) return false;
      left = std::move(kept);
      return true;
    };
    keep([](const Replica& each) { return each.waiting() <= kShort; });
    const bool found = keep([&](const Replica& each) { return each.knows_adapter(request); });
    if (!found) keep([](const Replica& each) { return each.has_adapter_place(); });
    std::size_t shortest = replicas[left.front()]->waiting(), longest = shortest;
    for (const std::size_t each : left) {
      shortest = std::min(shortest, replicas[each]->waiting());
      longest = std::max(longest, replicas[each]->waiting());
    }
    const std::size_t most = shortest + (longest - shortest) / left.size();
    keep([&](const Replica& each) { return each.waiting() <= most; });
    return *std::min_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
      return use(*replicas[a]) < use(*replicas[b]);
    });
  }

 private:
  static constexpr std::size_t kShort = 128;
  static double use(const Replica& replica) {
    return 1 - static_cast<double>(replica.cache().free()) / replica.cache().size();
  }
};

}  // namespace

void register_adapter_affinity(Registry& registry) {
  registry.routers.add({.name = "adapter_affinity",
                        .summary = "a replica that has the adapter loaded, else one with a free "
                                   "slot for it; shorter queues first",
                        .source = "Kubernetes Gateway API Inference Extension v0.3, scheduler",
                        .make = [](std::uint64_t) { return std::make_unique<AdapterAffinity>(); }});
}

}  // namespace almanac::inference::router
