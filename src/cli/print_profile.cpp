// SPDX-License-Identifier: Apache-2.0
#include "cli/print_profile.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/human.h"

namespace almanac::cli {
namespace {

using nlohmann::ordered_json;
using namespace profiling;

std::string or_blank(const std::optional<double>& share) {
  return share ? text::human_share(*share) : "";
}

void print_table(const Survey& survey, const Findings& findings, const ProfileTitle& title) {
  fmt::print(
      "{:>8} {:>5} {:>6} {:>7} {:>7}  {:>10} {:>7} {:>7} {:>6}  {:>6} {:>7} {:>7} {:>6} {:>7}\n",
      "batch", "GPUs", "cores", "memory", "beside", "samples/s", "+-", "steps", "s", "cores", "GB",
      "MB/s", "GPU", "GPU GB");
  fmt::print(
      "{:>8} {:>5} {:>6} {:>7} {:>7}  {:>10} {:>7} {:>7} {:>6}  {:>6} {:>7} {:>7} {:>6} {:>7}\n",
      "", "", "", "", "", "", "", "", "", "used", "used", "read", "use", "used");
  for (const Measured& run : survey.runs) {
    const Condition& at = run.condition;
    const bool ran = run.throughput > 0;
    const auto number = [&](const char* format, double value) {
      return ran ? fmt::format(fmt::runtime(format), value) : std::string("-");
    };
    fmt::print(
        "{:>8} {:>5} {:>6} {:>7} {:>7}  {:>10} {:>7} {:>7} {:>6.1f}  {:>6} {:>7} {:>7} {:>6} "
        "{:>7}\n",
        at.batch, at.gpus, at.cpus, at.memory_gb > 0 ? fmt::format("{} GB", at.memory_gb) : "",
        at.beside ? "yes" : "", number("{:.4g}", run.throughput),
        ran ? text::human_share((run.high - run.low) / 2 / run.throughput) : "",
        number("{:.0f}", run.steps), run.seconds, number("{:.2f}", run.use.cpus),
        number("{:.2f}", run.use.memory_gb), number("{:.1f}", run.use.read_mb_s),
        or_blank(run.use.gpu_use),
        run.use.gpu_memory_gb ? fmt::format("{:.1f}", *run.use.gpu_memory_gb) : "");
  }
  fmt::print("\n{}:\n", title.model);
  for (const std::string& sentence : sentences(findings)) fmt::print("  {}\n", sentence);
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

void print_json(const Survey& survey, const Findings& findings, const ProfileTitle& title) {
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
  fmt::print("{}\n", made.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace

void print_profile(const Survey& survey, const Findings& findings, const ProfileTitle& title,
                   const std::string& output) {
  output == "json" ? print_json(survey, findings, title) : print_table(survey, findings, title);
}

}  // namespace almanac::cli
