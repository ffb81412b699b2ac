// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac history: ended jobs; as CSV, a job log that study, predict and simulate read.
#include <cstdio>
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

struct HistoryOptions {
  ServiceOptions service;
  std::string since = "7d";
  std::string until;
  std::string user;
  ListOptions list;
};

Result<int> history(const HistoryOptions& options) {
  const Time now = wall_clock();
  const auto since = parse_since("--since", options.since, now);
  if (!since) return tl::unexpected(since.error());
  serve::Client::Query query{{"since", fmt::format("{}", seconds(*since))}};
  if (!options.until.empty()) {
    const auto until = parse_since("--until", options.until, now);
    if (!until) return tl::unexpected(until.error());
    query.emplace_back("until", fmt::format("{}", seconds(*until)));
  }
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const bool wants_log =
      options.list.output == "csv" && options.list.fields.empty() && options.list.sort.empty();
  if (wants_log) {
    if (!options.user.empty()) {
      return fail(Code::usage, "a job log has all users, so --user cannot be used with -o csv");
    }
    query.emplace_back("format", "csv");
    const auto said = client->get("/v1/history", query);
    if (!said) return tl::unexpected(said.error());
    std::fwrite(said->body.data(), 1, said->body.size(), stdout);
    return kDone;
  }
  if (!options.user.empty()) query.emplace_back("user", options.user);
  if (options.list.wants_document()) return relay_answer(*client, "/v1/history", query);
  const auto said = client->get("/v1/history", query);
  if (!said) return tl::unexpected(said.error());
  const auto page = serve::read_jobs(said->body);
  if (!page) return tl::unexpected(page.error());
  if (page->next) note("there are more jobs; -o csv prints all, --until earlier ones");
  return options.list.print(job_rows(page->jobs, now, JobList::past));
}

}  // namespace

void register_history(Program& program) {
  CLI::App& command =
      program.command(Purpose::jobs, "history", "List ended jobs, or export them as a job log");
  const auto options = std::make_shared<HistoryOptions>();
  command.add_option("--since", options->since, "Only jobs that ended since then: 7d, 2026-11-22")
      ->type_name("TIME")
      ->capture_default_str()
      ->group(heading(Group::input));
  command.add_option("--until", options->until, "Only jobs that ended before then")
      ->type_name("TIME")
      ->group(heading(Group::input));
  command.add_option("-u,--user", options->user, "Only jobs of this user")
      ->type_name("NAME")
      ->group(heading(Group::input));
  options->list.add_to(command);
  options->service.add_to(command);
  add_example(command, "almanac history --since 7d");
  add_example(command, "almanac history --since 2026-01-01 -o csv > log.csv");
  options->list.on(program, command, [options] { return history(*options); });
}

}  // namespace almanac::cli
