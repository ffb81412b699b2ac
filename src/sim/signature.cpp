// SPDX-License-Identifier: Apache-2.0
#include "sim/signature.h"

#include <array>
#include <memory>

#include <xxhash.h>

namespace almanac::sim {

std::uint64_t signature(const trace::Trace& trace, const Schedule& schedule) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (std::size_t job = 0; job < schedule.jobs.size(); ++job) {
    const JobResult& record = schedule.jobs[job];
    if (record.phase == policy::Phase::unknown) continue;
    std::array<unsigned char, 32> bytes{};
    const std::array<std::uint64_t, 4> values = {
        job, static_cast<std::uint64_t>(record.start.time_since_epoch().count()),
        static_cast<std::uint64_t>(record.end.time_since_epoch().count()),
        static_cast<std::uint64_t>(trace.jobs[job].request.gpus)};
    for (std::size_t value = 0; value < values.size(); ++value) {
      for (std::size_t byte = 0; byte < 8; ++byte) {
        bytes[8 * value + byte] = static_cast<unsigned char>(values[value] >> (8 * byte));
      }
    }
    XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
  }
  return XXH3_64bits_digest(state.get());
}

}  // namespace almanac::sim
