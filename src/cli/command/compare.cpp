// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac compare: the summaries of several runs in one table.
#include <memory>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/run_policies.h"
#include "sim/run_directory.h"

namespace almanac::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  std::string output = "table";
};

Result<int> compare(const CompareOptions& options) {
  std::vector<sim::Summary> all;
  std::string trace;
  for (const std::string& run : options.runs) {
    const auto record = sim::read_run(run);
    if (!record) return tl::unexpected(record.error());
    auto summaries = sim::read_summaries(run);
    if (!summaries) return tl::unexpected(summaries.error());
    if (!record->complete) note(fmt::format("{} was interrupted", run));
    if (!trace.empty() && trace != record->trace_sha256) {
      note(fmt::format("{} is of another trace than {}", run, options.runs.front()));
    }
    trace = record->trace_sha256;
    for (sim::Summary& summary : *summaries) {
      if (options.runs.size() > 1) summary.policy = fmt::format("{}:{}", run, summary.policy);
      all.push_back(std::move(summary));
    }
  }
  print_summaries(all, options.output);
  return kDone;
}

}  // namespace

void register_compare(Program& program) {
  CLI::App& command =
      program.command(Purpose::choose, "compare", "Show the summaries of runs side by side");
  const auto options = std::make_shared<CompareOptions>();
  command.add_option("RUN", options->runs, "Run directories")->required();
  add_summary_output(command, options->output);
  add_example(command, "almanac compare out/before out/after -o csv");
  program.on(command, [options] { return compare(*options); });
}

}  // namespace almanac::cli
