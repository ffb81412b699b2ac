// SPDX-License-Identifier: Apache-2.0

/// \file
/// How busy the processors and the memory of machines are.
///
/// Source   Jeon et al., ATC'19, Figure 7.
#include <utility>

#include <fmt/format.h>

#include "study/figures.h"
#include "study/host_use.h"

namespace almanac::study {

void register_philly_fig7(Figures& registry);

namespace {

Drawing draw_philly_fig7(const Study& study) {
  const HostUse& use = *study.measured().host;
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.caption = "Percentiles over machines and minutes.";
  auto& resource = figure.text("resource", "Resource");
  auto& percentile = figure.number("percentile", "Minutes so busy or less", figure::Unit::percent);
  auto& percent = figure.number("used_percent", "In use", figure::Unit::percent);
  for (const auto& [name, of] : {std::pair{"CPU", &use.cpu}, std::pair{"memory", &use.memory}}) {
    if (of->count() == 0) continue;
    for (int p = 1; p <= 99; ++p) {
      resource.add(std::string(name));
      percentile.add(p);
      percent.add(of->quantile(p / 100.0));
    }
  }
  figure.n = use.cpu.count() + use.memory.count();
  figure.charts.push_back(
      {.kind = "line", .x = "used_percent", .y = {"percentile"}, .by = "resource"});
  if (use.cpu.count() > 0 && use.memory.count() > 0) {
    drawing.findings.push_back(
        {.headline = fmt::format(
             "Half of the time machines use at most {:.0f} % of their CPUs and {:.0f} % "
             "of their memory.",
             use.cpu.quantile(0.5), use.memory.quantile(0.5)),
         .published =
             "Philly: 29 % of the CPUs and 97 % of the memory, so memory keeps a second job "
             "off a machine."});
  }
  return drawing;
}

}  // namespace

void register_philly_fig7(Figures& registry) {
  registry.add({.id = "philly_fig7",
                .title = "CPU and memory use of machines",
                .source = "Jeon et al., ATC'19, Figure 7",
                .part = Part::locality,
                .needs = {Need::host_utilization},
                .draw = draw_philly_fig7});
}

}  // namespace almanac::study
