// SPDX-License-Identifier: Apache-2.0

/// \file
/// Virtual clusters compared: how busy they are, how large their jobs are, how long these run and
/// wait.
///
/// Source   Hu et al., SC'21, Figure 4: the ten largest. Boxes are over the minutes of the
///          utilization, with interpolated quartiles and whiskers at the last value within 1.5
///          interquartile ranges. Mean duration and mean wait are scaled to 0..1 between the
///          smallest and the largest of the ten.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "study/box_columns.h"
#include "study/figures.h"
#include "study/minutes.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig4(Figures& registry);

namespace {

constexpr std::size_t kShown = 10;

struct Vc {
  VcId id{};
  std::string name;
  int gpus = 0;
  Box box{};
  double jobs = 0, mean_gpus = 0, mean_duration_s = 0, mean_wait_s = 0;
};

/// The box of the minutes in which the virtual cluster had GPUs.
Box box_of(const Study& study, Minutes minutes, VcId vc, std::span<const std::uint32_t> jobs) {
  const auto running = gpus_in_use(study, minutes, jobs);
  const auto there = gpus_there(study.cluster(), minutes, vc);
  std::vector<double> use;
  use.reserve(running.size());
  for (std::size_t minute = 0; minute < running.size(); ++minute) {
    const double each = use_of(std::min(running[minute], there[minute]), there[minute]);
    if (!std::isnan(each)) use.push_back(each);
  }
  return box(use);
}

/// GPU jobs by the name of their virtual cluster.
std::vector<std::vector<std::uint32_t>> jobs_by_name(const Study& study) {
  std::vector<std::vector<std::uint32_t>> jobs(study.trace().names.size());
  for (const std::uint32_t at : study.gpu_jobs()) {
    jobs[index(study.job(at).request.vc)].push_back(at);
  }
  return jobs;
}

void fill(const Study& study, Minutes minutes, std::span<const std::uint32_t> jobs, Vc& vc) {
  double waits = 0;
  for (const std::uint32_t at : jobs) {
    const trace::Job& job = study.job(at);
    vc.mean_gpus += job.request.gpus;
    vc.mean_duration_s += seconds(duration_of(job));
    if (const double wait = wait_s(job); !std::isnan(wait)) {
      vc.mean_wait_s += wait;
      ++waits;
    }
  }
  vc.jobs = static_cast<double>(jobs.size());
  vc.mean_gpus /= vc.jobs;
  vc.mean_duration_s /= vc.jobs;
  vc.mean_wait_s /= waits > 0 ? waits : 1;
  vc.box = box_of(study, minutes, vc.id, jobs);
}

std::vector<Vc> vcs_of(const Study& study) {
  const cluster::Cluster& cluster = study.cluster();
  std::vector<Vc> vcs;
  for (std::uint32_t v = 0; v < cluster.vcs.size(); ++v) {
    vcs.push_back({.id = VcId{v}, .name = cluster.vcs[v].name, .gpus = cluster.gpus(VcId{v})});
  }
  std::stable_sort(vcs.begin(), vcs.end(),
                   [](const Vc& a, const Vc& b) { return a.gpus > b.gpus; });
  if (vcs.size() > kShown) vcs.resize(kShown);
  const Minutes minutes = minutes_of(study);
  const auto jobs = jobs_by_name(study);
  for (Vc& vc : vcs) {
    const auto name = study.trace().names.find(vc.name);
    if (name && !jobs[index(*name)].empty()) fill(study, minutes, jobs[index(*name)], vc);
  }
  std::erase_if(vcs, [](const Vc& vc) { return vc.jobs == 0; });
  return vcs;
}

std::vector<double> scaled(const std::vector<Vc>& vcs, double Vc::*field) {
  const auto [low, high] = std::minmax_element(
      vcs.begin(), vcs.end(), [&](const Vc& a, const Vc& b) { return a.*field < b.*field; });
  std::vector<double> values;
  for (const Vc& vc : vcs) {
    const double range = (*high).*field - (*low).*field;
    values.push_back(range > 0 ? (vc.*field - (*low).*field) / range : 0);
  }
  return values;
}

Drawing draw_helios_fig4(const Study& study) {
  const std::vector<Vc> vcs = vcs_of(study);
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  auto& name = figure.text("vc", "Virtual cluster");
  auto& gpus = figure.number("gpus", "GPUs", figure::Unit::gpus);
  auto& jobs = figure.number("jobs", "GPU jobs", figure::Unit::jobs);
  BoxColumns boxes(figure, figure::Unit::fraction);
  auto& mean_gpus = figure.number("mean_gpus", "Mean GPUs per job", figure::Unit::gpus);
  auto& duration = figure.number("mean_duration_s", "Mean duration", figure::Unit::seconds);
  auto& wait = figure.number("mean_wait_s", "Mean wait", figure::Unit::seconds);
  auto& norm_duration =
      figure.number("normalized_duration", "Mean duration, scaled", figure::Unit::fraction);
  auto& norm_wait = figure.number("normalized_wait", "Mean wait, scaled", figure::Unit::fraction);
  if (vcs.empty()) {
    figure.caption = "No job names a virtual cluster of this cluster.";
    return drawing;
  }
  double all = 0;
  for (const Vc& vc : vcs) {
    name.add(vc.name);
    gpus.add(vc.gpus);
    jobs.add(vc.jobs);
    boxes.add(vc.box);
    mean_gpus.add(vc.mean_gpus);
    duration.add(vc.mean_duration_s);
    wait.add(vc.mean_wait_s);
    all += vc.jobs;
  }
  norm_duration.numbers = scaled(vcs, &Vc::mean_duration_s);
  norm_wait.numbers = scaled(vcs, &Vc::mean_wait_s);
  figure.n = static_cast<std::int64_t>(all);
  figure.caption =
      "The ten virtual clusters with most GPUs. Boxes: share of GPUs in use, minute by minute. "
      "Bars: mean duration and mean wait of GPU jobs, scaled from the smallest (0) to the largest "
      "(1).";
  figure.charts.push_back({.kind = "box", .x = "vc", .box = boxes.names()});
  figure.charts.push_back(
      {.kind = "bar", .x = "vc", .y = {"normalized_duration", "normalized_wait"}});
  if (vcs.size() < 2) return drawing;
  const auto less = [](const Vc& a, const Vc& b) { return a.box.mean < b.box.mean; };
  const auto [idlest, busiest] = std::minmax_element(vcs.begin(), vcs.end(), less);
  const auto longest = std::max_element(vcs.begin(), vcs.end(), [](const Vc& a, const Vc& b) {
    return a.mean_wait_s < b.mean_wait_s;
  });
  // The borders are at fault where jobs wait in one that is busy while another has room.
  constexpr double kRoom = 0.1;
  constexpr double kNoTrouble_s = 60;
  const bool guessed = study.cluster().inferred;
  const bool apart = !guessed && busiest->box.mean - idlest->box.mean >= kRoom &&
                     longest->box.mean - idlest->box.mean >= kRoom &&
                     longest->mean_wait_s > kNoTrouble_s;
  const bool is_bound = study.cluster().lower_bound;
  const std::string waits = fmt::format("obs wait longest in {}: {} on average.", longest->name,
                                        text::human_time(longest->mean_wait_s));
  drawing.findings.push_back(
      {.headline = is_bound ? "J" + waits
                            : fmt::format("{} uses {} of its GPUs, {} uses {}; j{}", busiest->name,
                                          text::human_share(busiest->box.mean), idlest->name,
                                          text::human_share(idlest->box.mean), waits),
       .detail =
           is_bound
               ? "The GPUs of each virtual cluster are inferred from the log, as the most ever "
                 "in use at once. Shared GPUs are not visible."
           : guessed ? "The GPUs of each virtual cluster are those of the nodes that ran its jobs."
           : apart   ? "Fixed virtual clusters leave GPUs idle in one while jobs queue in another."
                     : "",
       .advice = apart ? "Let other virtual clusters use idle GPUs, or resize the virtual clusters."
                       : ""});
  return drawing;
}

}  // namespace

void register_helios_fig4(Figures& registry) {
  registry.add({.id = "helios_fig4",
                .title = "Virtual clusters compared",
                .source = "Hu et al., SC'21, Figure 4, implication 3",
                .part = Part::vcs,
                .needs = {Need::gpu_jobs, Need::vc, Need::start},
                .draw = draw_helios_fig4});
}

}  // namespace almanac::study
