// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fullest replica that has room, so that others become idle.
#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

/// Source   Chen et al., MLSys'24 (Punica), section 5: a request goes to the GPU with the largest
///          batch that has memory for its KV cache and is not full, among equals to the one with
///          the highest number. From time to time requests move from GPUs with small batches to
///          those with larger ones.
/// Differs  If no GPU has room, it waits at the one with the fewest requests instead of in a common
///          queue. A GPU has no room if all of its places for adapters are needed. One request per
///          second moves, with its KV cache, from the smallest batch to the largest with room.
class Punica final : public Router {
 public:
  std::size_t choose(RequestId request, std::span<Replica* const> replicas) override {
    std::size_t best = replicas.size();
    for (std::size_t each = 0; each < replicas.size(); ++each) {
      const Replica& it = *replicas[each];
      const bool has_adapter = it.knows_adapter(request) || it.has_adapter_place();
      if (!has_adapter || !has_room(it, it.blocks_of_prompt(request))) continue;
      if (best == replicas.size() || present(it) >= present(*replicas[best])) best = each;
    }
    if (best < replicas.size()) return best;
    return least(replicas, [](const Replica& replica) { return present(replica); });
  }
  Micros period() const override { return 1e6; }
  std::vector<Move> moves(std::span<Replica* const> replicas) override {
    std::size_t from = replicas.size();
    for (std::size_t each = 0; each < replicas.size(); ++each) {
      if (replicas[each]->running() == 0) continue;
      if (from == replicas.size() || present(*replicas[each]) < present(*replicas[from])) {
        from = each;
      }
    }
    if (from == replicas.size()) return {};
    for (const Replica::Slot slot : replicas[from]->run()) {
      const Replica::Sequence& sequence = replicas[from]->at(slot);
      if (sequence.prefilling() || sequence.leaves) continue;
      std::size_t to = from;
      for (std::size_t each = 0; each < replicas.size(); ++each) {
        const Replica& it = *replicas[each];
        if (each == from || present(it) < present(*replicas[from]) ||
            !has_room(it, it.blocks_for(sequence.done + 1))) {
          continue;
        }
        if (to == from || present(it) >= present(*replicas[to])) to = each;
      }
      if (to != from) return {{sequence.request, from, to}};
    }
    return {};
  }

 private:
  static std::size_t present(const Replica& replica) {
    return replica.waiting() + replica.running();
  }
  static bool has_room(const Replica& replica, std::int32_t blocks) {
    return present(replica) < static_cast<std::size_t>(replica.limits().sequences) &&
           replica.wanted_blocks() + blocks <= replica.cache().free();
  }
};

}  // namespace

void register_punica(Registry& registry) {
  registry.routers.add(
      {.name = "punica",
       .summary = "the fullest replica that has room; moves requests to fuller ones",
       .source = "Chen et al. MLSys'24 (Punica) §5",
       .make = [](std::uint64_t) { return std::make_unique<Punica>(); }});
}

}  // namespace almanac::inference::router
