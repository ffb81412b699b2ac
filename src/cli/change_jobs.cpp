// SPDX-License-Identifier: Apache-2.0
#include "cli/change_jobs.h"

#include <memory>

#include <fmt/format.h>

namespace almanac::cli {
namespace {

struct ChangeOptions {
  ServiceOptions service;
  std::vector<std::string> jobs;
  bool dry_run = false;
  bool now = false;
};

Result<int> change(const ChangeOptions& options, const std::string& verb, const std::string& done) {
  if (!options.dry_run) {
    return change_jobs(options.service, options.jobs, verb + (options.now ? "?now=1" : ""), done);
  }
  for (const std::string& job : options.jobs) fmt::print("would {} job {}\n", verb, job);
  return kDone;
}

}  // namespace

Result<int> change_jobs(const ServiceOptions& service, const std::vector<std::string>& jobs,
                        const std::string& what, const std::string& done, const std::string& body) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  int status = kDone;
  for (const std::string& job : jobs) {
    const auto said = client->post(fmt::format("/v1/jobs/{}/{}", job, what), body);
    if (said) {
      fmt::print("job {} {}\n", job, done);
      continue;
    }
    if (jobs.size() == 1) return tl::unexpected(said.error());
    fmt::print(stderr, "almanac: job {}: {}\n", job, to_string(said.error()));
    status = exit_status(said.error().code);
  }
  return status;
}

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
