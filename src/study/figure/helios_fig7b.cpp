// SPDX-License-Identifier: Apache-2.0

/// \file
/// How GPU jobs end, by the number of GPUs that they request.
///
/// Source   Hu et al., SC'21, Figure 7(b): exactly 1, 2, 4, 8, 16 and 32 GPUs, and 64 or more.
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

#include "study/coverage.h"
#include "study/figures.h"

namespace almanac::study {

void register_helios_fig7b(Figures& registry);

namespace {

struct Size {
  std::string_view name;
  int from, to;
};

constexpr std::array<Size, 7> kExact{{{"1", 1, 1},
                                      {"2", 2, 2},
                                      {"4", 4, 4},
                                      {"8", 8, 8},
                                      {"16", 16, 16},
                                      {"32", 32, 32},
                                      {">=64", 64, std::numeric_limits<int>::max()}}};

Drawing draw_helios_fig7b(const Study& study) {
  std::array<std::array<double, kEndings.size()>, kExact.size()> counts{};
  std::int64_t known = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const auto ending = ending_of(job);
    if (!ending) continue;
    for (std::size_t size = 0; size < kExact.size(); ++size) {
      if (job.request.gpus < kExact[size].from || job.request.gpus > kExact[size].to) continue;
      ++counts[size][static_cast<std::size_t>(*ending)];
      ++known;
    }
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = known;
  figure.caption = "GPU jobs whose final state is known, by the number of requested GPUs.";
  figure.caption += failed_caption(study);
  auto& gpus = figure.text("gpus", "Requested GPUs");
  auto& jobs = figure.number("jobs", "Jobs", figure::Unit::jobs);
  std::array<figure::Column*, kEndings.size()> shares{
      &figure.number("completed", "Completed", figure::Unit::fraction),
      &figure.number("cancelled", "Cancelled", figure::Unit::fraction),
      &figure.number("failed", "Failed", figure::Unit::fraction),
      &figure.number("timed_out", "Timed out", figure::Unit::fraction),
      &figure.number("preempted", "Preempted", figure::Unit::fraction)};
  for (std::size_t size = 0; size < kExact.size(); ++size) {
    const double sum = std::accumulate(counts[size].begin(), counts[size].end(), 0.0);
    if (sum == 0) continue;
    gpus.add(std::string(kExact[size].name));
    jobs.add(sum);
    for (std::size_t ending = 0; ending < kEndings.size(); ++ending) {
      shares[ending]->add(counts[size][ending] / sum);
    }
  }
  figure.charts.push_back({.kind = "bar",
                           .x = "gpus",
                           .y = {"completed", "cancelled", "failed", "timed_out", "preempted"},
                           .stacked = true});
  return drawing;
}

}  // namespace

void register_helios_fig7b(Figures& registry) {
  registry.add({.id = "helios_fig7b",
                .title = "Final states of jobs, by size",
                .source = "Hu et al., SC'21, Figure 7(b)",
                .part = Part::jobs,
                .needs = {Need::gpu_jobs, Need::state},
                .draw = draw_helios_fig7b});
}

}  // namespace almanac::study
