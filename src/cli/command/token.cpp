// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac token: tokens with which a user's page, program or other machine may use the service
/// over TCP.
#include <cctype>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pwd.h>

#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/value_check.h"
#include "text/duration.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

using nlohmann::json;

struct TokenOptions {
  ServiceOptions service;
  std::string scope = "own";
  std::string name;
  std::string expires = "90d";
  std::string user;
  ListOptions list;
  std::vector<std::string> ids;
};

Result<std::uint32_t> user_called(const std::string& name) {
  if (const passwd* const entry = ::getpwnam(name.c_str())) return entry->pw_uid;
  std::uint32_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (error == std::errc() && end == name.data() + name.size()) return uid;
  return fail(Code::usage, fmt::format("--user: unknown user {}", name));
}

std::string user_name(std::uint32_t uid) {
  const passwd* const entry = ::getpwuid(uid);
  return entry == nullptr ? std::to_string(uid) : entry->pw_name;
}

Time expiry_of(const json& token) {
  return Time(Duration(static_cast<std::int64_t>(token.value("expires_s", 0.0) * 1e3)));
}

/// Text of the service, as JSON; it is ours, so what it lacks is its fault.
Result<json> read(const std::string& text) {
  json made = json::parse(text, nullptr, false);
  if (made.is_discarded()) return fail(Code::unavailable, "the service's answer is not JSON");
  return made;
}

Result<int> create(const TokenOptions& options) {
  const auto lasts = text::parse_duration(options.expires);
  if (!lasts || *lasts <= Duration{0}) {
    return fail(Code::usage,
                fmt::format("--expires must be a time such as 90d, found {}", options.expires));
  }
  json asked{{"scope", options.scope}, {"name", options.name}, {"lifetime_s", seconds(*lasts)}};
  if (!options.user.empty()) {
    const auto uid = user_called(options.user);
    if (!uid) return tl::unexpected(uid.error());
    asked["uid"] = *uid;
  }
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const auto said = client->post("/v1/tokens", asked.dump());
  if (!said) return tl::unexpected(said.error());
  const auto made = read(said->body);
  if (!made) return tl::unexpected(made.error());
  fmt::print("{}\n", made->value("token", ""));
  note(
      fmt::format("the token is not shown again. User {1}, scope {0}, valid until {2}; almanac "
                  "token revoke {3} ends it earlier",
                  options.scope, user_name(made->value("uid", 0U)), text::moment(expiry_of(*made)),
                  made->value("id", "")));
  return kDone;
}

Result<int> list(const TokenOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.list.wants_document()) return relay_answer(*client, "/v1/tokens");
  const auto said = client->get("/v1/tokens");
  if (!said) return tl::unexpected(said.error());
  const auto found = read(said->body);
  if (!found) return tl::unexpected(found.error());
  const std::vector<json> tokens = found->value("tokens", std::vector<json>());
  figure::Rows rows(tokens);
  const auto text_of = [](const char* key) {
    return [key](const json& each) { return each.value(key, ""); };
  };
  rows.add("id", "ID", text_of("id"));
  rows.add("name", "NAME", text_of("name"));
  rows.add("user", "USER", [](const json& each) { return user_name(each.value("uid", 0U)); });
  rows.add("scope", "MAY", text_of("scope"));
  rows.add("expires_s", "EXPIRES", [](const json& each) { return expiry_of(each); });
  return options.list.print(std::move(rows));
}

Result<int> revoke(const TokenOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  for (const std::string& id : options.ids) {
    const auto said = client->post(fmt::format("/v1/tokens/{}/revoke", id));
    if (!said) return tl::unexpected(said.error());
    fmt::print("token {} revoked\n", id);
  }
  return kDone;
}

}  // namespace

void register_token(Program& program) {
  CLI::App& noun = program.noun(Purpose::jobs, "token", "Create, list and revoke API tokens");
  const auto options = std::make_shared<TokenOptions>();
  CLI::App& creates = *noun.add_subcommand("create", "Create a token and print it");
  creates
      .add_option(
          "--scope", options->scope,
          "Permission. read: only read; own: also submit jobs and change the user's own; operate: "
          "also change all jobs, nodes and policies (root only); agent: join as the box called "
          "--name (root only)")
      ->check(one_of({"agent", "read", "own", "operate"}))
      ->capture_default_str();
  creates.add_option("--name", options->name, "Name, to recognize it in the list")
      ->type_name("TEXT");
  creates.add_option("--expires", options->expires, "Lifetime, at most 366d")
      ->type_name("TIME")
      ->capture_default_str();
  creates
      .add_option("--user", options->user, "User of the token (default: you; others: root only)")
      ->type_name("NAME");
  options->service.add_to(creates);
  add_example(creates, "export ALMANAC_TOKEN=$(almanac token create --name laptop --expires 30d)");
  add_example(creates, "almanac token create --scope read --name prometheus --user prometheus");
  program.on(creates, [options] { return create(*options); });

  CLI::App& lists = *noun.add_subcommand("list", "List your tokens; root sees all");
  options->list.add_to(lists);
  options->service.add_to(lists);
  add_example(lists, "almanac token list");
  options->list.on(program, lists, [options] { return list(*options); });

  CLI::App& revokes = *noun.add_subcommand("revoke", "Revoke tokens");
  revokes.add_option("ID", options->ids, "Id of a token, from almanac token list")->required();
  options->service.add_to(revokes);
  add_example(revokes, "almanac token revoke 5f1c09aa");
  program.on(revokes, [options] { return revoke(*options); });
}

}  // namespace almanac::cli
