// SPDX-License-Identifier: Apache-2.0

/// \file
/// Synergy's tables: speed by cores and memory per GPU.
///
/// Source   Mohan et al., OSDI'22, the artifact's simulator/models: a V100 server of 8 GPUs, 24
///          cores, 500 GB. 1 = the speed with a proportional share, 3 cores and 62.5 GB.
/// Differs  A 0 means that an allocation is not allowed, not that the job stands still; it is left
///          out.
#include "perf/model_name.h"
#include "perf/source/source.h"

namespace almanac::perf::source {

Profile read_synergy(Rows rows) {
  Profile profile{.source = "synergy", .rows = {}};
  while (rows.next()) {
    Measurement made;
    made.model = model_name(rows.text("model"));
    made.gpu_type = "V100";
    made.gpus = rows.whole("gpus", 1, 1024);
    made.nodes = (made.gpus + 7) / 8;
    made.cpus_per_gpu = rows.number("cpus", 1e-3, 1e6);
    made.memory_gb_per_gpu = rows.number("mem_gb", 1e-3, 1e6);
    made.throughput = rows.number("norm_throughput", 0, 1e6) * made.gpus;
    if (made.throughput > 0) profile.rows.push_back(std::move(made));
  }
  return profile;
}

}  // namespace almanac::perf::source
