// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac sweep cancel: ends all trials of a sweep.
#include <memory>

#include <fmt/format.h>

#include "cli/change_jobs.h"
#include "cli/leaderboard.h"
#include "cli/program.h"
#include "cli/service_options.h"

namespace almanac::cli {
namespace {

struct SweepCancelOptions {
  ServiceOptions service;
  std::string name;
  bool now = false;
};

Result<int> cancel_sweep(const SweepCancelOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto sweep = look_at_sweep(*client, options.name);
  if (!sweep) return tl::unexpected(sweep.error());
  std::vector<std::string> unfinished;
  for (const serve::ListedTrial& trial : sweep->trials) {
    const trace::JobState state = trial.job.view.job.state;
    if (state == trace::JobState::pending || state == trace::JobState::running) {
      unfinished.push_back(trial.job.id);
    }
  }
  if (unfinished.empty()) {
    fmt::print("all trials of {} have ended\n", options.name);
    return kDone;
  }
  return change_jobs(options.service, {.jobs = std::move(unfinished), .now = options.now}, "cancel",
                     "cancelled");
}

}  // namespace

void register_sweep_cancel(Program& program) {
  const auto options = std::make_shared<SweepCancelOptions>();
  CLI::App& command = *program.noun(Purpose::choose, "sweep", "")
                           .add_subcommand("cancel", "End the trials of a sweep that wait or run");
  command.add_option("NAME", options->name, "The sweep; of jobs their --group")->required();
  command.add_flag("--now", options->now, "Kill them: without SIGTERM and grace");
  options->service.add_to(command);
  command.footer("");  // not those of sweep
  add_example(command, "almanac sweep cancel mnist");
  program.on(command, [options] { return cancel_sweep(*options); });
}

}  // namespace almanac::cli
