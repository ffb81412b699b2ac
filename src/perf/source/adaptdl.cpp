// SPDX-License-Identifier: Apache-2.0

/// \file
/// AdaptDL's (Pollux's) traces: seconds per step by placement and batch per GPU.
///
/// Source   Qiao et al., OSDI'21, the artifact's simulator/traces: 16 nodes of 4 T4. The folder
///          names the model or its data set; placements.csv has up to 4 nodes, scalability.csv 16.
#include <filesystem>

#include "perf/model_name.h"
#include "perf/source/source.h"

namespace almanac::perf::source {

Profile read_adaptdl(Rows rows, const std::string& path) {
  Profile profile{.source = "adaptdl", .rows = {}};
  const std::string model =
      model_name(std::filesystem::absolute(path).parent_path().filename().string());
  const bool placed = rows.has("placement");
  while (rows.next()) {
    Measurement made;
    made.model = model;
    made.gpu_type = "T4";
    if (placed) {
      std::tie(made.gpus, made.nodes) = placement_of(rows, rows.text("placement"));
    } else {
      made.gpus = rows.whole("num_replicas", 1, 100'000);
      made.nodes = rows.whole("num_nodes", 1, made.gpus);
    }
    made.batch = made.gpus * rows.number("local_bsz", 1, 1e9);
    made.throughput = made.batch / rows.number("step_time", 1e-9);
    profile.rows.push_back(std::move(made));
  }
  return profile;
}

}  // namespace almanac::perf::source
