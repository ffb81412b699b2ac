// SPDX-License-Identifier: Apache-2.0
#include "submission/trials/job.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "submission/trials/placeholders.h"

namespace almanac::trials {

std::string job_name(const std::string& tuning, const Trial& trial) {
  return fmt::format("{}-{}", tuning, trial.number);
}

std::vector<std::string> parameters(const Space& space, const Trial& trial) {
  std::vector<std::string> made;
  for (std::size_t at = 0; at < space.parameters.size(); ++at) {
    made.push_back(fmt::format("{}={}", space.parameters[at].name, trial.values[at]));
  }
  return made;
}

std::optional<Trial> trial_of(const Space& space, const std::string& tuning,
                              std::string_view job_name, std::span<const std::string> parameters) {
  const std::string before = tuning + "-";
  Trial made;
  if (!job_name.starts_with(before) || parameters.size() != space.parameters.size()) return {};
  const char* const end = job_name.data() + job_name.size();
  const auto read = std::from_chars(job_name.data() + before.size(), end, made.number);
  if (read.ec != std::errc() || read.ptr != end || made.number < 1 || made.number > space.trials) {
    return {};
  }
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    const std::string name = space.parameters[at].name + "=";
    if (!parameters[at].starts_with(name)) return {};
    made.values.push_back(parameters[at].substr(name.size()));
    if (!has_value(space.parameters[at], made.values.back())) return {};
  }
  return made;
}

store::Submission to_job(const Space& space, const std::string& tuning, const Trial& trial,
                         store::Submission base) {
  base.name = job_name(tuning, trial);
  base.group = tuning;
  base.parameters = parameters(space, trial);
  base.smaller_is_better = space.smaller_is_better;
  base.steps = space.steps;
  base.key = fmt::format("sweep/{}/{}", tuning, trial.number);
  std::string flags;
  for (const std::string& each : base.parameters) flags += (flags.empty() ? "--" : " --") + each;
  const auto value = [&](const std::string& name) {
    if (name == "trial") return std::to_string(trial.number);
    if (name == "flags") return flags;
    std::size_t at = 0;
    while (space.parameters[at].name != name) ++at;
    return trial.values[at];
  };
  base.argv.clear();
  for (const std::string& word : space.command) {
    if (word != "{flags}") {
      base.argv.push_back(filled(word, value));
      continue;
    }
    for (const std::string& each : base.parameters) base.argv.push_back("--" + each);
  }
  const auto set = [&](const std::string& name, const std::string& to) {
    std::erase_if(base.environment,
                  [&](const std::string& each) { return each.starts_with(name + "="); });
    base.environment.push_back(name + "=" + to);
  };
  set("ALMANAC_SWEEP", tuning);
  set("ALMANAC_TRIAL", std::to_string(trial.number));
  for (std::size_t at = 0; at < space.parameters.size(); ++at) {
    set("ALMANAC_PARAMETER_" + space.parameters[at].name, trial.values[at]);
  }
  return base;
}

}  // namespace almanac::trials
