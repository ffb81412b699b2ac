// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any bytes as a profile: an error with a place, or measurements that make sense and can be
/// fitted.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "base/check.h"
#include "perf/fit.h"
#include "perf/measurement.h"
#include "support/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace almanac;
  static const TemporaryFolder folder;
  const std::string path =
      folder.write("traces_m_placements.csv", {reinterpret_cast<const char*>(data), size});
  const auto profile = perf::read_profile(path);
  if (!profile) {
    ALMANAC_CHECK(!profile.error().message.empty() && !profile.error().where.file.empty(),
                  "an error without a message or a place");
    return 0;
  }
  for (const perf::Measurement& row : profile->rows) {
    ALMANAC_CHECK(!row.model.empty() && row.gpus >= 1 && row.nodes >= 1 && row.nodes <= row.gpus &&
                      row.batch > 0 && row.throughput >= 0 && std::isfinite(row.throughput),
                  "{}: {} GPUs on {} nodes, batch {}, throughput {}", row.model, row.gpus,
                  row.nodes, row.batch, row.throughput);
  }
  if (profile->rows.size() > 40) return 0;  // fits of more take too long for a fuzzer
  const auto fit = perf::fit({*profile});
  if (!fit) return 0;
  for (const perf::Model& model : fit->catalogue.models) {
    for (const perf::Board& board : model.boards) {
      const double step_s = board.step(board.usual_batch(), 8, 2);
      ALMANAC_CHECK(step_s > 0 && std::isfinite(step_s), "a step of {} s", step_s);
    }
    for (const auto& task : {model.training, model.inference}) {
      const double rate = task ? task->rate(task->most_batch, {2, 4}) : 1;
      ALMANAC_CHECK(rate > 0 && std::isfinite(rate), "{} samples a second", rate);
    }
  }
  return 0;
}
