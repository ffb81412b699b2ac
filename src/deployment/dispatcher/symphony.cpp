// SPDX-License-Identifier: Apache-2.0

/// \file
/// Batches wait for more requests until one more would be late. It preempts nothing.
///
/// Source   Chen et al., 2023 (Symphony), section 3: the candidate of a model is the largest batch
///          that answers its most urgent request in time. Its window begins when a batch with one
///          request more would be late, and ends when it would be late itself. When its window
///          begins, it goes to an idle GPU, the one with the lowest number, so that GPUs beyond the
///          load stay idle. A GPU that becomes idle takes, of the candidates whose window has
///          begun, the one whose window ends first. A batch that cannot grow does not wait.
/// Differs  All models are loaded, and a batch reaches its GPU without delay.
#include <algorithm>
#include <limits>

#include "deployment/registry.h"

namespace almanac::deployment::dispatcher {
namespace {

class Symphony final : public Dispatcher {
 public:
  std::optional<Dispatched> choose(const DispatchCase& seen) override {
    if (next_ms_ <= seen.now_ms) next_ms_ = kNever;
    if (seen.running != nullptr) return std::nullopt;
    std::optional<Candidate> best;
    for (std::size_t variant = 0; variant < seen.variants.size(); ++variant) {
      const auto candidate = candidate_of(seen, variant);
      if (!candidate) continue;
      if (candidate->begins_ms > seen.now_ms) {
        next_ms_ = std::min(next_ms_, candidate->begins_ms);
      } else if (!best || candidate->ends_ms < best->ends_ms) {
        best = candidate;
      }
    }
    if (!best) return std::nullopt;
    Dispatched made{.variant = best->variant};
    for (std::size_t each = 0; each < best->size; ++each) {
      made.requests.push_back(seen.queue(best->variant)[each].request);
    }
    return made;
  }
  double next_ms() const override { return next_ms_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Candidate {
    std::size_t variant = 0, size = 0;
    double begins_ms = 0, ends_ms = 0;  // its window
  };

  static std::optional<Candidate> candidate_of(const DispatchCase& seen, std::size_t variant) {
    const auto& queue = seen.queue(variant);
    const Variant& it = seen.variants[variant];
    if (queue.empty()) return std::nullopt;
    constexpr double kRounding_ms = 1e-6;
    const auto latest_start_ms = [&](std::size_t size) {
      return queue.front().deadline_ms - it.batch_ms(static_cast<double>(size), 1) - kRounding_ms;
    };
    const std::size_t most = std::min(queue.size(), static_cast<std::size_t>(it.most_batch));
    std::size_t size = 1;
    while (size < most && latest_start_ms(size + 1) >= seen.now_ms) ++size;
    const bool is_full = size == static_cast<std::size_t>(it.most_batch);
    return Candidate{variant, size, is_full ? seen.now_ms : latest_start_ms(size + 1),
                     latest_start_ms(size)};
  }

  double next_ms_ = kNever;  // when the next window begins
};

}  // namespace

void register_symphony(Registry& registry) {
  registry.dispatchers.add({.name = "symphony",
                            .summary = "batches wait for more requests until one more would be "
                                       "late",
                            .source = "Chen et al. 2023 (Symphony) §3",
                            .make = [] { return std::make_unique<Symphony>(); }});
}

}  // namespace almanac::deployment::dispatcher
