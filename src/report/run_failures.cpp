// SPDX-License-Identifier: Apache-2.0
#include "report/run_failures.h"

#include <limits>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::FailureReport;

std::string gpus_of(const FailureReport::Size& size) {
  if (size.from == size.to) return "1";
  if (size.to == std::numeric_limits<int>::max()) {
    return fmt::format("more than {}", text::grouped(size.from - 1));
  }
  return fmt::format("{}-{}", text::grouped(size.from), text::grouped(size.to));
}

figure::Figure draw_losses_by_cause(const std::vector<PolicyDigest>& policies) {
  figure::Figure figure{
      .id = "run_failure_causes",
      .title = "GPU time lost to failures",
      .caption =
          "Repeated: work since the last checkpoint. Restarting: from the restart until "
          "training continues. Waiting: from a failure until the job runs again. Out of service: "
          "GPUs of nodes under repair, whether anyone wanted them or not."};
  auto& policy = figure.text("policy", "Policy");
  auto& cause = figure.text("cause", "Cause");
  auto& count = figure.number("interruptions", "Interrupted jobs");
  auto& outages = figure.number("outages", "Nodes out of service");
  auto& lost = figure.number("lost_gpu_h", "Repeated, GPU-hours");
  auto& restart = figure.number("restart_gpu_h", "Restarting, GPU-hours");
  auto& waited = figure.number("waited_gpu_h", "Waiting, GPU-hours");
  auto& out = figure.number("out_gpu_h", "Out of service, GPU-hours");
  for (const PolicyDigest& each : policies) {
    for (const FailureReport::Cause& row : each.summary.failures.causes) {
      policy.add(each.summary.policy);
      cause.add(row.name);
      count.add(static_cast<double>(row.interruptions));
      outages.add(static_cast<double>(row.outages));
      lost.add(row.lost_gpu_h);
      restart.add(row.restart_gpu_h);
      waited.add(row.waited_gpu_h);
      out.add(row.out_gpu_h);
    }
  }
  figure.charts.push_back({.kind = "bar",
                           .title = "GPU-hours lost, by cause",
                           .x = "cause",
                           .y = {"lost_gpu_h", "restart_gpu_h", "waited_gpu_h"},
                           .choose = {"policy"},
                           .stacked = true});
  return figure;
}

figure::Figure draw_sizes(const std::vector<PolicyDigest>& policies) {
  using figure::Unit;
  figure::Figure figure{
      .id = "run_failure_sizes",
      .title = "Effective training time by size of job",
      .caption =
          "Effective training time: useful / (useful + writing checkpoints + repeated + restarting "
          "+ waiting after failures), without time in which the policy stopped the job. The "
          "best interval loses least at the model's failure rates; expected values are "
          "without waits for nodes.",
      .source =
          "Llama Team 2024, section 3.3.4; Kokolis et al., HPCA'25, section II-D; Daly, FGCS 2006"};
  auto& policy = figure.text("policy", "Policy");
  auto& gpus = figure.text("gpus", "GPUs");
  const auto add = [&](const char* name, const char* label, Unit unit, auto value) {
    auto& column = figure.number(name, label, unit);
    for (const PolicyDigest& each : policies) {
      for (const FailureReport::Size& row : each.summary.failures.sizes) column.add(value(row));
    }
  };
  for (const PolicyDigest& each : policies) {
    for (const FailureReport::Size& row : each.summary.failures.sizes) {
      policy.add(each.summary.policy);
      gpus.add(gpus_of(row));
    }
  }
  using Size = FailureReport::Size;
  add("jobs", "Jobs", Unit::jobs, [](const Size& s) { return static_cast<double>(s.jobs); });
  add("interruptions", "Interruptions", Unit::none,
      [](const Size& s) { return static_cast<double>(s.interruptions); });
  add("mttf_s", "Time between interruptions", Unit::seconds,
      [](const Size& s) { return 3600 * s.mttf_h; });
  add("expected_mttf_s", "Expected", Unit::seconds,
      [](const Size& s) { return 3600 * s.expected_mttf_h; });
  add("ettr", "Effective training time", Unit::fraction, [](const Size& s) { return s.ettr; });
  add("interval_s", "Checkpoint interval", Unit::seconds,
      [](const Size& s) { return s.interval_s; });
  add("best_interval_s", "Best interval", Unit::seconds,
      [](const Size& s) { return s.best_interval_s; });
  add("ettr_best", "Expected with the best interval", Unit::fraction,
      [](const Size& s) { return s.ettr_best; });
  figure.charts.push_back({.kind = "bar",
                           .title = "Effective training time by number of GPUs",
                           .x = "gpus",
                           .y = {"ettr", "ettr_best"},
                           .choose = {"policy"}});
  return figure;
}

}  // namespace

std::vector<figure::Figure> draw_failures(const std::vector<PolicyDigest>& policies) {
  if (policies.empty() || policies.front().summary.failures.empty()) return {};
  return {draw_losses_by_cause(policies), draw_sizes(policies)};
}

}  // namespace almanac::report
