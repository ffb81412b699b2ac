// SPDX-License-Identifier: Apache-2.0
#include "cli/run_policies.h"

#include <fmt/format.h>

#include "base/keep_memory.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "experiment/run_directory.h"
#include "report/comparison.h"
#include "report/page.h"

namespace almanac::cli {

Result<report::RunReport> run_policies(const experiment::Prepared& prepared, const std::string& out,
                                       int threads, const std::vector<std::string>& command) {
  keep_memory();  // from one policy to the next
  const std::atomic<bool>& stop = interrupted();
  report::PolicyRuns runs(prepared, out, command);
  if (auto begun = runs.begin(); !begun) return tl::unexpected(begun.error());
  {
    ProgressBar bar("simulating", [&] { return runs.progress(); });
    const auto played = runs.play(
        threads, stop, {.ready = [&](const std::string& line) { bar.say(line); }, .note = note});
    if (!played) return tl::unexpected(played.error());
  }
  return runs.finish();
}

void note_run(const std::string& out) {
  if (out.empty()) return;
  if (report::has_page()) {
    note(fmt::format("wrote the run to {}; report: {}/report.html", out, out));
  } else {
    note(fmt::format("wrote the run to {}", out));
    note(std::string(report::kNoPage));
  }
}

Result<int> show_summaries(const std::vector<experiment::Summary>& summaries,
                           const ListOptions& list) {
  if (list.wants_document()) {
    fmt::print("{}", experiment::to_json(summaries));
    return kDone;
  }
  return list.print(report::comparison_rows(summaries), report::comparison_notes(summaries));
}

}  // namespace almanac::cli
