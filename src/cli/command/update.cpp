// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac update: changes the requests of jobs.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/change_jobs.h"
#include "cli/draft_submission.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/terminal.h"
#include "cli/value_check.h"
#include "serve/submission_json.h"

namespace almanac::cli {
namespace {

struct UpdateOptions {
  ServiceOptions service;
  std::vector<std::string> jobs;
  std::string gpus;
  std::string time;
  std::optional<std::int32_t> at_once;
};

Result<store::Amended> wanted_by(const UpdateOptions& options) {
  std::vector<std::string> asked;
  if (!options.gpus.empty()) asked.push_back("--gpus=" + options.gpus);
  if (!options.time.empty()) asked.push_back("--time=" + options.time);
  if (asked.empty() && !options.at_once) {
    return fail(Code::usage, "nothing to change is given", {}, "use --time, --gpus or --at-once");
  }
  const auto read = with_asked({.directory = "/"}, asked);
  if (!read) return tl::unexpected(read.error());
  if (!read->gpu_type.empty()) {
    return fail(Code::usage, fmt::format("--gpus must be a number, found {}", options.gpus), {},
                "the GPU type cannot change");
  }
  store::Amended made{.time_limit = read->time_limit, .at_once = options.at_once};
  if (!options.gpus.empty()) made.gpus = read->gpus;
  if (!options.time.empty() && made.time_limit == kNoDuration) {
    return fail(Code::usage, "--time must be a length; a time limit cannot be removed", {},
                "for example --time 2:00:00");
  }
  return made;
}

Result<int> update(const UpdateOptions& options) {
  const auto wanted = wanted_by(options);
  if (!wanted) return tl::unexpected(wanted.error());
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  int status = kDone;
  for (const std::string& job : options.jobs) {
    const auto said = client->post(fmt::format("/v1/jobs/{}/update", job), serve::to_json(*wanted));
    if (said) {
      fmt::print("job {} changed\n", job);
      continue;
    }
    if (options.jobs.size() == 1) return tl::unexpected(said.error());
    print_message("almanac: " + refusal_of(job, to_string(said.error())));
    status = exit_status(said.error().code);
  }
  return status;
}

}  // namespace

void register_update(Program& program) {
  CLI::App& command = program.command(Purpose::jobs, "update", "Change pending and running jobs");
  const auto options = std::make_shared<UpdateOptions>();
  command
      .add_option("JOB", options->jobs, "Job id: 17; 12 for all tasks of an array, 12_3 for one")
      ->required();
  command
      .add_option("--time", options->time,
                  "New time limit; only an operator may raise that of a running job")
      ->type_name("[D-]HH:MM:SS");
  command.add_option("--gpus", options->gpus, "New number of GPUs, for a pending job")
      ->type_name("N");
  command
      .add_option("--at-once", options->at_once,
                  "New limit on the tasks of an array that run at once; 0: none")
      ->type_name("N")
      ->check(whole_number(0, kLargestCount));
  options->service.add_to(command);
  add_example(command, "almanac update 17 --time 1:00:00");
  add_example(command, "almanac update 12 --at-once 4");
  program.on(command, [options] { return update(*options); });
}

}  // namespace almanac::cli
