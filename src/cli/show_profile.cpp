// SPDX-License-Identifier: Apache-2.0
#include "cli/show_profile.h"

#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/human.h"

namespace almanac::cli {
namespace {

using nlohmann::ordered_json;
using namespace profiling;

figure::Listing rows_of(const Survey& survey) {
  using figure::Cell;
  using figure::Decimals;
  figure::Rows rows(survey.runs);
  const auto at = [](auto field) {
    return [field](const Measured& run) { return run.condition.*field; };
  };
  // A run that did not start has no numbers.
  const auto add = [&](const char* name, const char* label, auto get, auto show) {
    rows.add(
        name, label,
        [get](const Measured& run) {
          return run.throughput > 0 ? std::optional<double>(std::invoke(get, run)) : std::nullopt;
        },
        [show](const std::optional<double>& value) { return value ? show(*value) : "-"; });
  };
  const auto known = [](const std::optional<double>& value) {
    return value.value_or(std::nan(""));
  };
  rows.add("batch", at(&Condition::batch));
  rows.add("gpus", "GPUs", at(&Condition::gpus));
  rows.add("cpus", "cores", at(&Condition::cpus));
  rows.add("memory_gb", "memory", [](const Measured& run) {
    const auto gb = run.condition.memory_gb;
    return gb > 0 ? Cell(gb, fmt::format("{} GB", gb)) : Cell::nothing("");
  });
  rows.add("beside", at(&Condition::beside), [](bool is) { return is ? "yes" : ""; });
  add("throughput", "samples/s", &Measured::throughput,
      [](double value) { return fmt::format("{:.4g}", value); });
  add(
      "throughput_error", "+-",
      [](const Measured& run) { return (run.high - run.low) / 2 / run.throughput; },
      text::human_share);
  add(
      "steps", "steps", [](const Measured& run) { return static_cast<double>(run.steps); },
      Decimals{0});
  rows.add("run_s", "s", &Measured::seconds, Decimals{1});
  add(
      "cpus_used", "cores used", [](const Measured& run) { return run.use.cpus; }, Decimals{2});
  add(
      "memory_used_gb", "GB used", [](const Measured& run) { return run.use.memory_gb; },
      Decimals{2});
  add(
      "read_mb_per_s", "MB/s read", [](const Measured& run) { return run.use.read_mb_s; },
      Decimals{1});
  add(
      "gpu_use", "GPU use", [=](const Measured& run) { return known(run.use.gpu_use); },
      text::human_share);
  add(
      "gpu_memory_used_gb", "GPU GB used",
      [=](const Measured& run) { return known(run.use.gpu_memory_gb); }, Decimals{1});
  return rows;
}

ordered_json known(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json json_of(const Measured& run) {
  const Condition& at = run.condition;
  ordered_json made{{"batch", at.batch}, {"gpus", at.gpus}, {"cpus", at.cpus}};
  made["memory_gb"] = at.memory_gb > 0 ? ordered_json(at.memory_gb) : ordered_json();
  made["beside"] = at.beside;
  made["throughput"] = run.throughput;
  if (run.throughput > 0) {
    made["throughput_low"] = run.low;
    made["throughput_high"] = run.high;
    made["steps"] = run.steps;
  } else {
    made["said"] = run.said;
  }
  made["run_s"] = run.seconds;
  made["cpus_used"] = run.use.cpus;
  made["memory_used_gb"] = run.use.memory_gb;
  made["read_mb_per_s"] = run.use.read_mb_s;
  made["written_mb_per_s"] = run.use.written_mb_s;
  made["gpu_use"] = known(run.use.gpu_use);
  made["gpu_memory_used_gb"] = known(run.use.gpu_memory_gb);
  return made;
}

std::string to_json(const Survey& survey, const Findings& findings, const ProfileTitle& title) {
  ordered_json made{{"model", title.model}, {"file", title.file}, {"progress", title.read_as}};
  for (const Measured& run : survey.runs) made["runs"].push_back(json_of(run));
  ordered_json& found = made["found"];
  found["cpus_per_gpu"] = findings.cores ? ordered_json(*findings.cores) : ordered_json();
  found["wants_more_cpus"] = findings.wants_more_cores;
  found["saturation_batch"] = known(findings.saturation);
  found["more_gpus"] = ordered_json::array();
  for (const auto& [gpus, times] : findings.more_gpus) {
    found["more_gpus"].push_back({{"gpus", gpus}, {"speed", times}});
  }
  found["memory"] = ordered_json::array();
  for (const auto& [gb, part] : findings.memories) {
    found["memory"].push_back({{"memory_gb", gb}, {"speed", part}});
  }
  found["beside"] = known(findings.beside);
  made["words"] = sentences(findings);
  return made.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<int> show_profile(const Survey& survey, const Findings& findings, const ProfileTitle& title,
                         const ListOptions& list) {
  if (list.wants_document()) {
    fmt::print("{}", to_json(survey, findings, title));
    return kDone;
  }
  std::string found = fmt::format("\n{}:\n", title.model);
  for (const std::string& sentence : sentences(findings)) found += fmt::format("  {}\n", sentence);
  return list.print(rows_of(survey), found);
}

}  // namespace almanac::cli
