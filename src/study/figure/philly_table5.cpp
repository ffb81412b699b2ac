// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPU utilization of 16-GPU jobs by the number of machines on which they run.
///
/// Source   Jeon et al., ATC'19, Table 5.
#include "study/figures.h"
#include "study/gpu_use.h"

namespace almanac::study {

void register_philly_table5(Figures& registry);

namespace {

Drawing draw_philly_table5(const Study& study) {
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "Jobs with 16 GPUs by the number of machines, one sample per GPU and minute.";
  auto& machines = figure.number("nodes", "Machines", figure::Unit::nodes);
  auto& samples = figure.number("samples", "GPU minutes");
  auto& mean = figure.number("mean_percent", "Mean", figure::Unit::percent);
  auto& p50 = figure.number("p50_percent", "Median", figure::Unit::percent);
  auto& p90 = figure.number("p90_percent", "90th percentile", figure::Unit::percent);
  auto& p95 = figure.number("p95_percent", "95th percentile", figure::Unit::percent);
  std::int64_t all = 0;
  for (const auto& [count, of] : study.measured().gpu->of_16_by_machines) {
    all += of.count();
    machines.add(count);
    samples.add(static_cast<double>(of.count()));
    mean.add(of.mean());
    p50.add(of.quantile(0.5));
    p90.add(of.quantile(0.9));
    p95.add(of.quantile(0.95));
  }
  figure.n = all;
  figure.charts.push_back(
      {.kind = "line", .x = "nodes", .y = {"mean_percent", "p50_percent", "p90_percent"}});
  return drawing;
}

}  // namespace

void register_philly_table5(Figures& registry) {
  registry.add({.id = "philly_table5",
                .title = "GPU utilization by spread",
                .source = "Jeon et al., ATC'19, Table 5",
                .part = Part::locality,
                .needs = {Need::gpu_utilization},
                .draw = draw_philly_table5});
}

}  // namespace almanac::study
