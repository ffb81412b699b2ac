// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac queue: running and waiting jobs, in the words of Slurm's squeue.
#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>

#include "cli/job_list.h"
#include "cli/job_words.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"

namespace almanac::cli {
namespace {

struct QueueOptions {
  ServiceOptions service;
  std::string user;
  std::string state;
  ListOptions list;
};

/// Sort key: running jobs, then waiting jobs in the order of the policy, then held jobs.
auto order(const serve::ListedJob& job) {
  const bool runs = job.view.job.state == trace::JobState::running;
  const std::int64_t place =
      job.view.place > 0 ? job.view.place : std::numeric_limits<std::int64_t>::max();
  return std::tuple(!runs, runs ? 0 : place, job.view.job.number);
}

Result<int> queue(const QueueOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  serve::Client::Query query;
  if (!options.user.empty()) query.emplace_back("user", options.user);
  if (!options.state.empty()) query.emplace_back("state", options.state);
  if (options.list.wants_document()) return relay_jobs(*client, query);
  auto jobs = list_jobs(*client, query);
  if (!jobs) return tl::unexpected(jobs.error());
  std::sort(jobs->begin(), jobs->end(),
            [](const auto& a, const auto& b) { return order(a) < order(b); });
  return options.list.print(job_rows(*jobs, wall_clock(), JobList::queue));
}

}  // namespace

void register_queue(Program& program) {
  CLI::App& command = program.command(Purpose::jobs, "queue",
                                      "Show pending and running jobs, with expected start and end");
  const auto options = std::make_shared<QueueOptions>();
  command.add_option("-u,--user", options->user, "Only jobs of this user")
      ->type_name("NAME")
      ->group(heading(Group::input));
  command
      .add_option("-t,--state", options->state,
                  "Only jobs in this state: PD (pending) or R (running)")
      ->type_name("STATE")
      ->group(heading(Group::input));
  options->list.add_to(command);
  options->service.add_to(command);
  add_example(command, "almanac queue -o wide");
  options->list.on(program, command, [options] { return queue(*options); });
}

}  // namespace almanac::cli
