// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac maintenance: times in which no job may run.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "submission/argument.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

using nlohmann::json;

struct MaintenanceOptions {
  ServiceOptions service;
  std::string from;
  std::string to;
  std::string why;
  ListOptions list;
  std::vector<std::string> numbers;
};

Result<double> moment_of(const char* option, const std::string& text) {
  const auto read = submission::read_moment(text, floor<std::chrono::seconds>(wall_clock()));
  if (read) return seconds(read->time_since_epoch());
  return fail(Code::usage,
              fmt::format("{} must be {}, found {}", option, read.error().message, text));
}

Time time_of(const json& window, const char* key) {
  return Time(Duration(static_cast<std::int64_t>(window.value(key, 0.0) * 1e3)));
}

Result<int> announce(const MaintenanceOptions& options) {
  const auto from = moment_of("--from", options.from);
  if (!from) return tl::unexpected(from.error());
  const auto to = moment_of("--to", options.to);
  if (!to) return tl::unexpected(to.error());
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const json asked{{"from_s", *from}, {"to_s", *to}, {"why", options.why}};
  const auto said = client->post("/v1/maintenance", asked.dump());
  if (!said) return tl::unexpected(said.error());
  const json made = json::parse(said->body, nullptr, false);
  fmt::print("maintenance {} from {} to {}: jobs that would not end before it do not start\n",
             made.value("number", 0), text::moment(time_of(made, "from_s")),
             text::moment(time_of(made, "to_s")));
  return kDone;
}

Result<int> list(const MaintenanceOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.list.wants_document()) return relay_answer(*client, "/v1/maintenance");
  const auto said = client->get("/v1/maintenance");
  if (!said) return tl::unexpected(said.error());
  const json found = json::parse(said->body, nullptr, false);
  const std::vector<json> windows = found.value("windows", std::vector<json>());
  figure::Rows rows(windows);
  rows.add("number", "NUMBER", [](const json& each) { return each.value("number", 0); }).left();
  rows.add("from_s", "FROM", [](const json& each) { return time_of(each, "from_s"); });
  rows.add("to_s", "TO", [](const json& each) { return time_of(each, "to_s"); });
  rows.add("why", "WHY", [](const json& each) { return each.value("why", ""); });
  return options.list.print(std::move(rows));
}

Result<int> cancel(const MaintenanceOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  for (const std::string& number : options.numbers) {
    const auto said = client->post(fmt::format("/v1/maintenance/{}/cancel", number));
    if (!said) return tl::unexpected(said.error());
    fmt::print("maintenance {} cancelled\n", number);
  }
  return kDone;
}

}  // namespace

void register_maintenance(Program& program) {
  CLI::App& noun =
      program.noun(Purpose::run, "maintenance", "Announce, list and cancel maintenance windows");
  const auto options = std::make_shared<MaintenanceOptions>();
  CLI::App& announces = *noun.add_subcommand(
      "announce", "Announce a window; jobs that would not end before it do not start");
  announces.add_option("--from", options->from, "Start: 2026-11-22T08:00, 18:00, now+2hours")
      ->type_name("TIME")
      ->required();
  announces.add_option("--to", options->to, "End")->type_name("TIME")->required();
  announces.add_option("--why", options->why, "Message to users")->type_name("TEXT");
  options->service.add_to(announces);
  add_example(announces, "almanac maintenance announce --from 18:00 --to 20:00 --why 'new driver'");
  program.on(announces, [options] { return announce(*options); });

  CLI::App& lists = *noun.add_subcommand("list", "List announced windows that are not over");
  options->list.add_to(lists);
  options->service.add_to(lists);
  add_example(lists, "almanac maintenance list");
  options->list.on(program, lists, [options] { return list(*options); });

  CLI::App& cancels = *noun.add_subcommand("cancel", "Cancel windows");
  cancels.add_option("NUMBER", options->numbers, "Id of a window, from almanac maintenance list")
      ->required();
  options->service.add_to(cancels);
  add_example(cancels, "almanac maintenance cancel 3");
  program.on(cancels, [options] { return cancel(*options); });
}

}  // namespace almanac::cli
