// SPDX-License-Identifier: Apache-2.0
#include "trace/mark_requeue.h"

#include "base/rng.h"

namespace almanac::trace {

void mark_requeue(Trace& trace, double fraction, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x7265717565756500;  // apart from the streams that make jobs
  Rng rng(seed, kStream);
  for (Job& job : trace.jobs) {
    job.request.requeue = rng.uniform() < fraction ? Requeue::yes : Requeue::unsaid;
  }
}

}  // namespace almanac::trace
