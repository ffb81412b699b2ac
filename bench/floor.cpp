// SPDX-License-Identifier: Apache-2.0
#include "floor.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace almanac::bench {

Duration floor_fifo(const trace::Trace& trace, std::int64_t gpus) {
  struct End {
    Time at;
    std::int32_t gpus;
    bool operator>(const End& other) const { return at > other.at; }
  };
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::int64_t free = gpus;
  Time now{};
  Duration waited{0};
  for (const trace::Job& job : trace.jobs) {
    now = std::max(now, job.request.submit);
    while (!ends.empty() && ends.top().at <= now) {
      free += ends.top().gpus;
      ends.pop();
    }
    while (free < job.request.gpus) {
      now = ends.top().at;
      free += ends.top().gpus;
      ends.pop();
    }
    free -= job.request.gpus;
    ends.push({now + job.outcome.run, job.request.gpus});
    waited += now - job.request.submit;
  }
  return waited;
}

}  // namespace almanac::bench
