// SPDX-License-Identifier: Apache-2.0
#include "sim/signature.h"

#include <array>
#include <memory>

#include <xxhash.h>

namespace almanac::sim {
namespace {

class Digest {
 public:
  Digest() : state_(XXH3_createState(), XXH3_freeState) { XXH3_64bits_reset(state_.get()); }

  template <typename... Value>
  void add(Value... values) {
    std::array<unsigned char, 8 * sizeof...(values)> bytes;
    std::size_t at = 0;
    // Byte by byte, lowest first: the same on every machine.
    const auto append = [&](std::uint64_t value) {
      for (int byte = 0; byte < 8; ++byte) {
        bytes[at++] = static_cast<unsigned char>(value >> (8 * byte));
      }
    };
    (append(static_cast<std::uint64_t>(values)), ...);
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }

  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

}  // namespace

std::uint64_t signature(const trace::Trace& trace, const Schedule& schedule) {
  Digest digest;
  for (std::size_t job = 0; job < schedule.jobs.size(); ++job) {
    const JobResult record = schedule.jobs[job];
    if (record.phase == policy::Phase::unknown) continue;
    digest.add(job, record.phase, record.start.time_since_epoch().count(),
               record.end.time_since_epoch().count(), record.ran.count(), record.preemptions,
               trace.jobs[job].request.gpus, record.num_grants);
    for (std::uint32_t at = 0; at < record.num_grants; ++at) {
      const cluster::Grant& grant = schedule.grants[record.first_grant + at];
      digest.add(index(grant.node), grant.gpus, grant.gpu_milli, grant.cpu_milli, grant.memory_mb);
      if (grant.profile != slices::kNoProfile) digest.add(grant.profile, grant.slice);
      if (grant.gpu_memory_mb > 0) digest.add(grant.gpu_memory_mb);
    }
  }
  return digest.value();
}

}  // namespace almanac::sim
