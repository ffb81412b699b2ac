// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac compare: the summaries of several runs in one table.
#include <memory>

#include <fmt/format.h>

#include "cli/compare_jobs.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/run_policies.h"
#include "cli/show_document.h"
#include "experiment/run_directory.h"
#include "report/document_directory.h"
#include "report/runs_document.h"

namespace almanac::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> runs;
  std::string out;
  ListOptions list;
  std::string against;  ///< A policy that the others are held against, job by job; "" = none.
};

/// The report on the runs, and where it is.
Result<void> write_report(const CompareOptions& options, const std::vector<std::string>& command) {
  if (auto opened = report::open_document_directory(options.out, "runs"); !opened) return opened;
  std::vector<report::ReadRun> runs;
  for (const std::string& run : options.runs) {
    auto read = report::read_whole_run(run, options.runs.size() > 1);
    if (!read) return tl::unexpected(read.error());
    runs.push_back(std::move(*read));
  }
  const auto written = report::write_document(options.out, report::runs_document(runs, command));
  if (!written) return written;
  note_report(options.out);
  return {};
}

Result<int> compare(const CompareOptions& options, const std::vector<std::string>& command) {
  std::vector<experiment::Summary> all;
  std::vector<report::PairedPolicy> policies;
  std::string trace;
  for (const std::string& run : options.runs) {
    const auto record = experiment::read_run(run);
    if (!record) return tl::unexpected(record.error());
    auto summaries = experiment::read_summaries(run);
    if (!summaries) return tl::unexpected(summaries.error());
    if (!record->complete)
      note(fmt::format("{} was interrupted, so its averages are incomplete", run));
    if (!trace.empty() && trace != record->trace_sha256) {
      note(fmt::format("{} and {} are runs of different traces", run, options.runs.front()));
    }
    trace = record->trace_sha256;
    for (experiment::Summary& summary : *summaries) {
      const std::string jobs = fmt::format("{}/{}/jobs.csv", run, summary.policy);
      if (options.runs.size() > 1) summary.policy = fmt::format("{}:{}", run, summary.policy);
      if (summary.complete && !summary.recorded) policies.push_back({summary.policy, jobs});
      all.push_back(std::move(summary));
    }
  }
  if (!options.out.empty()) {
    if (auto written = write_report(options, command); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (!options.against.empty()) return compare_jobs(options.against, policies, options.list);
  return show_summaries(all, options.list);
}

}  // namespace

void register_compare(Program& program) {
  CLI::App& command = program.command(Purpose::simulate, "compare", "Compare the results of runs");
  const auto options = std::make_shared<CompareOptions>();
  command.add_option("RUN", options->runs, "Run directory")->required();
  command
      .add_option("--out", options->out,
                  "Directory for report.html and each figure as CSV and JSON")
      ->type_name("DIR")
      ->group(heading(Group::output));
  command
      .add_option("--against", options->against,
                  "Compare every policy with this one, job by job, with confidence intervals")
      ->type_name("POLICY");
  options->list.add_to(command);
  add_example(command, "almanac compare out/before out/after -o csv");
  add_example(command, "almanac compare out/run --against fifo");
  add_example(command, "almanac compare out/before out/after --out out/compared");
  options->list.on(program, command,
                   [options, &program] { return compare(*options, program.command_line); });
}

}  // namespace almanac::cli
