// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy the GPUs of jobs are, by size and ending.
///
/// Source   Jeon et al., ATC'19, Table 3 and Figure 5.
#include <array>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/gpu_use.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_table3(Figures& registry);

namespace {

Drawing draw_philly_table3(const Study& study) {
  const GpuUse& use = *study.measured().gpu;
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "GPU utilization in percent, one sample per GPU and minute of every attempt.";
  auto& size = figure.text("gpus", "GPUs");
  auto& ending = figure.text("ending", "Final state");
  auto& samples = figure.number("samples", "GPU minutes");
  auto& mean = figure.number("mean_percent", "Mean", figure::Unit::percent);
  auto& median = figure.number("p50_percent", "Median", figure::Unit::percent);
  auto& zeros = figure.number("zero_fraction", "Samples at 0", figure::Unit::fraction);
  PercentHistogram everything;
  const auto add = [&](const std::string& name, const GpuUse::OfEndings& endings) {
    PercentHistogram all;
    const auto row = [&](std::string_view what, const PercentHistogram& one) {
      size.add(name);
      ending.add(std::string(what));
      samples.add(static_cast<double>(one.count()));
      mean.add(one.mean());
      median.add(one.quantile(0.5));
      zeros.add(one.zeros());
    };
    for (const Ending each : kEndings) {
      const PercentHistogram& one = endings[static_cast<std::size_t>(each)];
      if (!is_published(each) && one.count() == 0) continue;
      row(to_string(each), one);
      all.add(one);
    }
    row("all", all);
    everything = all;  // the last row is that of all sizes
  };
  for (std::size_t each = 0; each < kUseSizes.size(); ++each) {
    add(fmt::format("{}", kUseSizes[each]), use.of_size[each]);
  }
  add("all", use.of_all);
  figure.n = everything.count();
  figure.charts.push_back({.kind = "bar", .x = "gpus", .y = {"mean_percent"}, .by = "ending"});
  if (everything.count() == 0 || !use.known_for_most()) return drawing;
  constexpr double kBusy_percent = 75;
  drawing.findings.push_back(
      {.headline =
           fmt::format("Mean utilization of the allocated GPUs is {:.0f} %; {} of the minutes are "
                       "idle.",
                       everything.mean(), text::human_share(everything.zeros())),
       .advice = everything.mean() < kBusy_percent
                     ? "Look at the CPU cores that feed the GPUs of the idlest jobs."
                     : "",
       .published = "Philly: 52 %, because GPUs wait for input, communication and neighbors."});
  return drawing;
}

}  // namespace

void register_philly_table3(Figures& registry) {
  registry.add({.id = "philly_table3",
                .title = "GPU utilization by size and final state",
                .source = "Jeon et al., ATC'19, Table 3",
                .part = Part::locality,
                .needs = {Need::gpu_utilization},
                .draw = draw_philly_table3});
}

}  // namespace almanac::study
