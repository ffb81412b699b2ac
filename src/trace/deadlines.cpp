// SPDX-License-Identifier: Apache-2.0
#include "trace/deadlines.h"

#include <vector>

namespace almanac::trace {

DeadlineLottery::DeadlineLottery(const DeadlineMix& mix, Names& names)
    : classes_(std::vector<double>{mix.urgent, mix.prior, mix.normal}),
      names_{names.intern("urgent"), names.intern("prior"), names.intern("normal")} {}

void DeadlineLottery::draw(Duration alone, Rng& rng, Request& request) const {
  const std::size_t drawn = classes_.draw(rng);
  // How many times as long as on one GPU it may take: 0, 1, 2.
  request.deadline = request.submit + static_cast<std::int64_t>(drawn) * alone;
  request.qos = names_[drawn];
}

}  // namespace almanac::trace
