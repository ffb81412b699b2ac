// SPDX-License-Identifier: Apache-2.0
#include "cli/change_jobs.h"

#include <memory>
#include <vector>

#include <fmt/format.h>

#include "cli/service_options.h"

namespace almanac::cli {
namespace {

struct ChangeOptions {
  ServiceOptions service;
  std::vector<std::string> jobs;
  bool dry_run = false;
  bool now = false;
};

/// Goes on after a job that cannot be changed: the others were meant too.
Result<int> change(const ChangeOptions& options, const std::string& verb, const std::string& done) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  int status = kDone;
  for (const std::string& job : options.jobs) {
    if (options.dry_run) {
      fmt::print("would {} job {}\n", verb, job);
      continue;
    }
    const auto said =
        client->post(fmt::format("/v1/jobs/{}/{}{}", job, verb, options.now ? "?now=1" : ""));
    if (said) {
      fmt::print("job {} {}\n", job, done);
      continue;
    }
    if (options.jobs.size() == 1) return tl::unexpected(said.error());
    fmt::print(stderr, "almanac: job {}: {}\n", job, to_string(said.error()));
    status = exit_status(said.error().code);
  }
  return status;
}

}  // namespace

void add_change(Program& program, const std::string& verb, const std::string& description,
                const std::string& done, const std::string& now) {
  CLI::App& command = program.command(Purpose::jobs, verb, description);
  const auto options = std::make_shared<ChangeOptions>();
  command
      .add_option("JOB", options->jobs,
                  "17; of an array 12 for all its tasks, 12_3 for one of them")
      ->required();
  command.add_flag("--dry-run", options->dry_run, "Say what would be done, do nothing");
  if (!now.empty()) command.add_flag("--now", options->now, now);
  options->service.add_to(command);
  add_example(command, "almanac " + verb + " 17");
  program.on(command, [options, verb, done] { return change(*options, verb, done); });
}

}  // namespace almanac::cli
