// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac tune cancel: ends all trials of a tuning run.
#include <memory>

#include <fmt/format.h>

#include "cli/change_jobs.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "serve/leaderboard.h"

namespace almanac::cli {
namespace {

struct TuneCancelOptions {
  ServiceOptions service;
  std::string name;
  bool now = false;
};

Result<int> cancel_tuning(const TuneCancelOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto tuning = serve::look_at_tuning(*client, options.name);
  if (!tuning) return tl::unexpected(tuning.error());
  std::vector<std::string> unfinished;
  for (const serve::ListedTrial& trial : tuning->trials) {
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

void register_tune_cancel(Program& program) {
  const auto options = std::make_shared<TuneCancelOptions>();
  CLI::App& command =
      *program.noun(Purpose::jobs, "tune", "Search for hyperparameters with jobs of the service")
           .add_subcommand("cancel", "Cancel the pending and running trials of a tuning run");
  command
      .add_option("NAME", options->name, "Name of the tuning run, which is the --group of its jobs")
      ->required();
  command.add_flag("--now", options->now, "Kill immediately, without SIGTERM and grace period");
  options->service.add_to(command);
  add_example(command, "almanac tune cancel mnist");
  program.on(command, [options] { return cancel_tuning(*options); });
}

}  // namespace almanac::cli
