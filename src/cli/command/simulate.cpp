// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac simulate: simulates a job log under several policies.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/experiment_options.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/run_policies.h"
#include "cli/value_check.h"
#include "cli/with_requests.h"
#include "report/comparison.h"
#include "report/with_service.h"
#include "script/introduction.h"

namespace almanac::cli {
namespace {

struct SimulateOptions {
  ExperimentOptions experiment{};
  WithRequests with{};
  std::string out;
  ListOptions list;
  int threads = 0;
};

/// The program that decides policy "-" is at the other end of standard input and output.
Result<script::Guest> meet_guest(const std::string& trace) {
  if (::isatty(STDIN_FILENO) != 0 || ::isatty(STDOUT_FILENO) != 0 || trace == "-") {
    return fail(Code::usage,
                fmt::format("policy - is decided by a program connected to standard input and "
                            "output, but standard input is {}",
                            trace == "-" ? "the trace" : "a terminal"),
                {}, "see docs/guide/python.md");
  }
  return script::meet(STDIN_FILENO, STDOUT_FILENO);
}

bool can_run_nothing(const experiment::Summary& summary) {
  return summary.complete && !summary.recorded && summary.finished == 0 &&
         summary.withdrawn_jobs == 0 && summary.never_startable == summary.jobs;
}

Result<int> simulate(const SimulateOptions& options, const std::vector<std::string>& command) {
  const bool has_service = !options.with.requests.empty();
  if (auto known = options.list.check(has_service ? report::with_service_rows({})
                                                  : report::comparison_columns());
      !known) {
    return tl::unexpected(known.error());
  }
  if (has_service && !options.out.empty()) {
    return fail(Code::usage, "--with writes no run directory", {}, "leave out --out or --with");
  }
  if (!options.experiment.timeline.empty() && options.out.empty()) {
    return fail(Code::usage, "--timeline requires --out, the directory of timeline.csv", {},
                "add --out DIR, or leave out --timeline");
  }
  Result<experiment::Experiment> experiment = options.experiment.parse();
  if (!experiment) return tl::unexpected(experiment.error());
  const auto& names = experiment->policies;
  if (std::find(names.begin(), names.end(), "-") != names.end()) {
    Result<script::Guest> guest = meet_guest(experiment->trace);
    if (!guest) return tl::unexpected(guest.error());
    experiment->guest = std::move(*guest);
  }
  const Result<experiment::Prepared> prepared = experiment::prepare(*experiment);
  if (!prepared) return tl::unexpected(prepared.error());
  for (const std::string& text : prepared->notes) note(text);
  if (has_service) return simulate_with_requests(options.with, *prepared, options.list);
  const Result<report::RunReport> report =
      run_policies(*prepared, options.out, options.threads, command);
  if (!report) return tl::unexpected(report.error());
  if (std::all_of(report->summaries.begin(), report->summaries.end(), can_run_nothing)) {
    return fail(Code::unavailable, "no job of the log can run on this cluster", {},
                "use a larger --cluster, or a log whose jobs fit on its nodes and queues");
  }
  const Result<int> shown = show_summaries(report->summaries, options.list);
  if (!shown) return shown;
  note_run(options.out);
  if (!report->interrupted) return kDone;
  note("interrupted; results so far are marked as incomplete");
  return kInterrupted;
}

}  // namespace

void register_simulate(Program& program) {
  CLI::App& command = program.command(
      Purpose::simulate, "simulate", "Replay a job log under scheduling policies and compare them");
  const auto options = std::make_shared<SimulateOptions>();
  options->experiment.add_to(command);
  options->experiment.add_single_run_to(command);
  options->with.add_to(command);
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
  add_example(command, "almanac simulate log.csv --cluster 20x8 --policy easy,qssf --out out/run");
  add_example(command, "almanac simulate log.csv --policy easy+gpu_time+best_fit");
  add_example(command, "almanac simulate log.csv --policy easy --failures rsc1 --out out/run");
  add_example(command,
              "almanac simulate log.csv --policy easy --with requests.csv --service "
              "model=llama-3.1-8b,replicas=1..4,ttft=500ms");
  program.on(command, [options, &program] { return simulate(*options, program.command_line); });
}

}  // namespace almanac::cli
