// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac jobs: the jobs of the service, including those that ended recently.
#include <memory>

#include <fmt/format.h>

#include "cli/job_list.h"
#include "cli/job_words.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"

namespace almanac::cli {
namespace {

struct JobsOptions {
  ServiceOptions service;
  std::string user;
  std::string state;
  std::string name;
  std::string since = "1d";
  ListOptions list;
};

Result<int> jobs(const JobsOptions& options) {
  const Time now = wall_clock();
  const auto since = parse_since("--since", options.since, now);
  if (!since) return tl::unexpected(since.error());
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  serve::Client::Query query{{"since", fmt::format("{}", seconds(*since))}};
  if (!options.user.empty()) query.emplace_back("user", options.user);
  if (!options.state.empty()) query.emplace_back("state", options.state);
  if (!options.name.empty()) query.emplace_back("name", options.name);
  if (options.list.wants_document()) return relay_jobs(*client, query);
  const auto found = list_jobs(*client, query);
  if (!found) return tl::unexpected(found.error());
  return options.list.print(job_rows(*found, now, JobList::past));
}

}  // namespace

void register_jobs(Program& program) {
  CLI::App& command =
      program.command(Purpose::jobs, "jobs", "List jobs: pending, running and recently ended");
  const auto options = std::make_shared<JobsOptions>();
  command.add_option("-u,--user", options->user, "Only jobs of this user")
      ->type_name("NAME")
      ->group(heading(Group::input));
  command
      .add_option("-t,--state", options->state, "Only jobs in this state: PD, R, CD, F, CA, TO, NF")
      ->type_name("STATE")
      ->group(heading(Group::input));
  command.add_option("--name", options->name, "Only jobs with this name")
      ->group(heading(Group::input));
  command.add_option("--since", options->since, "Only jobs that ended since then: 7d, 2026-11-22")
      ->type_name("TIME")
      ->capture_default_str()
      ->group(heading(Group::input));
  options->list.add_to(command);
  options->service.add_to(command);
  add_example(command, "almanac jobs --user ann --state F");
  options->list.on(program, command, [options] { return jobs(*options); });
}

}  // namespace almanac::cli
