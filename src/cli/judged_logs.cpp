// SPDX-License-Identifier: Apache-2.0
#include "cli/judged_logs.h"

#include <utility>

#include "cli/program.h"

namespace almanac::cli {

Result<JudgedLogs> judge_logs(const std::string& folder, const std::string& rules,
                              const trace::Trace* trace) {
  auto loaded =
      rules.empty() ? Result<failure::Rules>(failure::builtin_rules()) : failure::load_rules(rules);
  if (!loaded) return tl::unexpected(loaded.error());
  auto set = failure::RuleSet::compile(std::move(*loaded));
  if (!set) return tl::unexpected(set.error());
  auto logs = failure::judge_folder(folder, *set);
  if (!logs) return tl::unexpected(logs.error());
  for (const failure::JudgedLog& log : *logs) {
    if (!log.trouble.empty()) note(log.path + ": " + log.trouble);
  }
  study::FailureTrials trials = study::join_failures(*logs, *set, trace);
  study::Drawing drawing = study::draw_failure_table(trials, *logs, *set, trace);
  return JudgedLogs{std::move(*set), std::move(*logs), std::move(trials), std::move(drawing)};
}

}  // namespace almanac::cli
