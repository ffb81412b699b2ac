// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rubick's traces: seconds per step with one global batch, by placement and execution plan.
///
/// Source   Zhang et al., MLSys'25, the artifact: 8 nodes of 8 A800. The file's name has the model.
/// Differs  For each placement, only the fastest plan counts, as Rubick's scheduler would choose
///          it. Plans that offload to the host are left out, because they measure the host. The
///          batch size is not published, so a batch is read as one sample. A time of 0 is a failed
///          run.
#include <filesystem>
#include <map>

#include "perf/model_name.h"
#include "perf/source/source.h"

namespace almanac::perf::source {
namespace {

/// "traces_gpt2_placements.csv" measures gpt2.
std::string model_of(const std::string& path) {
  std::string stem = std::filesystem::path(path).filename().string();
  stem = stem.substr(0, stem.find('.'));
  if (stem.starts_with("traces_")) stem = stem.substr(7);
  if (stem.ends_with("_placements")) stem.resize(stem.size() - 11);
  return model_name(stem);
}

}  // namespace

Profile read_rubick(Rows rows, const std::string& path) {
  std::map<std::pair<int, int>, double> fastest_s;
  while (rows.next()) {
    const auto placement = placement_of(rows, rows.text("placement"));
    const double step_s = rows.number("iter_time", 0);
    const bool offloads = rows.text("exec_plan").find("offload") != std::string_view::npos;
    if (step_s == 0 || offloads) continue;
    const auto [at, first] = fastest_s.try_emplace(placement, step_s);
    if (!first) at->second = std::min(at->second, step_s);
  }
  Profile profile{.source = "rubick", .rows = {}};
  for (const auto& [placement, step_s] : fastest_s) {
    Measurement made;
    made.model = model_of(path);
    made.gpu_type = "A800";
    made.gpus = placement.first;
    made.nodes = placement.second;
    made.throughput = 1 / step_s;
    profile.rows.push_back(std::move(made));
  }
  return profile;
}

}  // namespace almanac::perf::source
