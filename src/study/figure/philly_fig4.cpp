// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long jobs wait, by the number of machines on which they run.
///
/// Source   Jeon et al., ATC'19, Figure 4, and the notebook of the philly-traces release: jobs of 5
///          GPUs and more, the machines of the first attempt, the first wait.
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "study/box_columns.h"
#include "study/figures.h"
#include "study/size_bucket.h"
#include "text/human.h"

namespace almanac::study {

void register_philly_fig4(Figures& registry);

namespace {

Drawing draw_philly_fig4(const Study& study) {
  std::map<std::pair<std::size_t, int>, std::vector<double>> waits;
  std::int64_t jobs = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    const bool counts =
        job.request.gpus >= 5 && job.request.nodes > 0 && job.outcome.start != kNoTime;
    if (!counts) continue;
    ++jobs;
    waits[{size_of(job.request.gpus), job.request.nodes}].push_back(wait_s(job));
  }
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = jobs;
  figure.caption =
      "First wait of jobs with 5 GPUs and more, by the number of machines "
      "that they ran on. Boxes: quartiles, and the last values within 1.5 of their range.";
  auto& size = figure.text("size", "Size");
  auto& nodes = figure.text("nodes", "Machines");
  auto& count = figure.number("jobs", "Jobs", figure::Unit::jobs);
  BoxColumns boxes(figure, figure::Unit::seconds, "_s");
  for (auto& [key, values] : waits) {
    const Box each = box(values);
    size.add(std::string(kSizes[key.first]));
    nodes.add(fmt::format("{}", key.second));
    count.add(static_cast<double>(values.size()));
    boxes.add(each);
  }
  figure.charts.push_back({.kind = "box", .x = "nodes", .choose = {"size"}, .box = boxes.names()});
  return drawing;
}

}  // namespace

void register_philly_fig4(Figures& registry) {
  registry.add({.id = "philly_fig4",
                .title = "Waiting by spread over machines",
                .source = "Jeon et al., ATC'19, Figure 4",
                .part = Part::locality,
                .needs = {Need::gpu_jobs, Need::start, Need::nodes},
                .draw = draw_philly_fig4});
}

}  // namespace almanac::study
