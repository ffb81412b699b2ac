// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac rerun: repeats a run from its run.json and checks whether the schedules are equal.
#include "cli/rerun.h"

#include <memory>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/run_policies.h"
#include "cli/value_check.h"
#include "experiment/run_directory.h"
#include "report/comparison.h"

namespace almanac::cli {

Result<experiment::Prepared> prepare_again(const std::string& run) {
  const auto record = experiment::read_run(run);
  if (!record) return tl::unexpected(record.error());
  auto prepared = experiment::prepare(record->experiment);
  if (!prepared) return prepared;
  if (prepared->trace.sha256 != record->trace_sha256) {
    return fail(Code::conflict, "the trace has changed since the run",
                {.file = record->experiment.trace});
  }
  if (experiment::configuration_hash(*prepared) != record->configuration_hash) {
    return fail(Code::conflict, "the cluster, a policy file or the model has changed since the run",
                {.file = run});
  }
  return prepared;
}

namespace {

struct RerunOptions {
  std::string run;
  std::string out;
  ListOptions list;
  int threads = 0;
};

Result<int> rerun(const RerunOptions& options, const std::vector<std::string>& command) {
  if (auto known = options.list.check(report::comparison_columns()); !known) {
    return tl::unexpected(known.error());
  }
  const auto record = experiment::read_run(options.run);
  if (!record) return tl::unexpected(record.error());
  const auto before = experiment::read_summaries(options.run);
  if (!before) return tl::unexpected(before.error());
  const auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto report = run_policies(*prepared, options.out, options.threads, command);
  if (!report) return tl::unexpected(report.error());
  const Result<int> shown = show_summaries(report->summaries, options.list);
  if (!shown) return shown;
  note_run(options.out);
  if (report->interrupted) return kInterrupted;
  if (!record->complete) {
    note(fmt::format("{} was interrupted, so there are no complete schedules to compare with",
                     options.run));
    return kDone;
  }
  int differ = 0;
  for (std::size_t at = 0; at < before->size() && at < report->summaries.size(); ++at) {
    if ((*before)[at].signature == report->summaries[at].signature) continue;
    note(fmt::format("{}: the schedule differs from {}", (*before)[at].policy, options.run));
    ++differ;
  }
  if (differ > 0) return kCheckFailed;
  note(fmt::format("all schedules are the same as in {}", options.run));
  return kDone;
}

}  // namespace

void register_rerun(Program& program) {
  CLI::App& command = program.command(Purpose::simulate, "rerun",
                                      "Repeat a run and check that its schedules are the same");
  const auto options = std::make_shared<RerunOptions>();
  command.add_option("RUN", options->run, "Run directory")->required();
  command.add_option("--out", options->out, "Run directory to write, with report.html")
      ->type_name("DIR")
      ->group(heading(Group::output));
  command
      .add_option("--threads", options->threads,
                  "Policies to simulate at once (default 0: one per core)")
      ->type_name("N")
      ->check(whole_number(0, kMostThreads))
      ->capture_default_str()
      ->group(heading(Group::simulation));
  options->list.add_to(command);
  add_example(command, "almanac rerun out/run");
  add_exit_status(command, "1", "A schedule differs");
  program.on(command, [options, &program] { return rerun(*options, program.command_line); });
}

}  // namespace almanac::cli
