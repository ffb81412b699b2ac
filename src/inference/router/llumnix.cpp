// SPDX-License-Identifier: Apache-2.0

/// \file
/// The replica with the most free KV memory per request. Migrates requests from replicas that run
/// out of memory.
#include <algorithm>

#include "inference/registry.h"

namespace almanac::inference::router {
namespace {

/// Source   Sun et al., OSDI'24 (Llumnix), and the defaults of its released code. A replica's load
///          is its remaining steps, (free blocks - blocks that waiting requests need) / requests.
///          Every 50 ms the replica with the fewest, if fewer than 3, is paired with the one that
///          has the most. The shortest running request moves if that makes the difference smaller
///          and leaves the other replica at 3 or more. For this, only the first waiting request
///          counts.
/// Differs  A migration copies in one stage during iterations and in one between two of them, and
///          reserves no memory before the second stage.
class Llumnix final : public Router {
 public:
  std::size_t choose(RequestId, std::span<Replica* const> replicas) override {
    return least(replicas, [](const Replica& replica) {
      const auto present = static_cast<double>(replica.waiting() + replica.running());
      const double free = replica.cache().free() - static_cast<double>(replica.wanted_blocks());
      // Among empty replicas the first is chosen. A request that fits nowhere goes where the least
      // is missing.
      return -free / std::max(present, 0.5);
    });
  }
  Micros period() const override { return 50e3; }
  std::vector<Move> moves(std::span<Replica* const> replicas) override {
    const std::size_t from = least(replicas, [](const Replica& each) { return steps(each, 0); });
    const std::size_t to = least(replicas, [](const Replica& each) { return -steps(each, 0); });
    if (steps(*replicas[from], 0) >= kEnough) return {};
    const Replica::Sequence* shortest = nullptr;
    for (const Replica::Slot slot : replicas[from]->run()) {
      const Replica::Sequence& each = replicas[from]->at(slot);
      if (each.prefilling() || each.leaves) continue;
      if (shortest == nullptr || each.done < shortest->done) shortest = &each;
    }
    if (shortest == nullptr) return {};
    const std::int32_t blocks = replicas[from]->blocks_for(shortest->done + 1);
    const double before = steps(*replicas[to], 0) - steps(*replicas[from], 0);
    const double left = steps(*replicas[to], blocks);
    const double after = left - steps(*replicas[from], -blocks);
    if (left < kEnough || after <= 0 || after >= before) return {};
    return {{shortest->request, from, to}};
  }

 private:
  static constexpr double kEnough = 3;
  /// Returns the remaining steps if the replica held `more` blocks and one request more, or fewer.
  static double steps(const Replica& replica, std::int32_t more) {
    const double waiting =
        replica.next() == nullptr ? 0 : replica.blocks_for(replica.next()->prompt);
    const double free = replica.cache().free() - waiting - more;
    const double sequences = static_cast<double>(replica.running()) +
                             (replica.next() == nullptr ? 0 : 1) + (more > 0) - (more < 0);
    return free / std::max(sequences, 1.0);
  }
};

}  // namespace

void register_llumnix(Registry& registry) {
  registry.routers.add(
      {.name = "llumnix",
       .summary =
           "most free KV memory per request, after what waiting requests need; migrates requests",
       .source = "Sun et al. OSDI'24",
       .make = [](std::uint64_t) { return std::make_unique<Llumnix>(); }});
}

}  // namespace almanac::inference::router
