// SPDX-License-Identifier: Apache-2.0
#include "boxes/wire.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "shepherd/remote.h"

namespace almanac::boxes {
namespace {

using nlohmann::json;

std::string text_of(const json& made) {
  return made.dump(-1, ' ', false, json::error_handler_t::replace);
}

tl::unexpected<Error> misread(const char* what, const json::exception& error) {
  return fail(Code::invalid, fmt::format("not {}: {}", what, error.what()), {},
              "use the same release on the head and on all boxes");
}

/// So that no difference of two times overflows.
bool is_sensible(Time time) {
  constexpr Duration kLatest = 24h * 365 * 230;  // since 1970
  return time >= Time{} && time.time_since_epoch() <= kLatest;
}

bool is_hexadecimal(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

}  // namespace

bool is_box_name(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

bool is_box_id(std::string_view text) { return is_hexadecimal(text, 64); }

std::string to_string(const RunKey& key) { return key.run + "-" + key.nonce; }

std::optional<RunKey> parse_key(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  RunKey made{std::string(text.substr(0, dash)), std::string(text.substr(dash + 1))};
  const bool is_run =
      !made.run.empty() && made.run.front() != '.' && made.run.size() < 64 &&
      std::all_of(made.run.begin(), made.run.end(),
                  [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; }) &&
      std::count(made.run.begin(), made.run.end(), '.') == 1;
  return is_run && is_hexadecimal(made.nonce, 32) ? std::optional(std::move(made)) : std::nullopt;
}

std::string to_json(const Report& report) {
  json runs = json::array();
  for (const RunReport& each : report.runs) {
    json run{{"key", each.key}, {"waits", each.waits}};
    if (each.outcome) run["outcome"] = shepherd::to_json(*each.outcome);
    runs.push_back(std::move(run));
  }
  return text_of({{"id", report.id},
                  {"now_ms", report.now.time_since_epoch().count()},
                  {"hardware", report.hardware},
                  {"runs", std::move(runs)}});
}

std::string to_json(const Orders& orders) {
  json runs = json::array();
  for (const RunOrder& each : orders.runs) {
    runs.push_back({{"key", each.key},
                    {"spec", each.spec},
                    {"may_start", each.may_start},
                    {"order", each.order},
                    {"limits", each.limits}});
  }
  return text_of({{"is_gone", orders.is_gone}, {"runs", std::move(runs)}});
}

std::string to_json(const Logs& logs) {
  return text_of({{"are_open", logs.are_open}, {"trouble", logs.trouble}});
}

Result<Report> read_report(std::string_view text) try {
  const json read = json::parse(text);
  Report made{.id = read.at("id").get<std::string>(),
              .now = Time{Duration{read.at("now_ms").get<std::int64_t>()}},
              .hardware = read.at("hardware").get<std::string>()};
  if (!is_box_id(made.id)) return fail(Code::invalid, "the report of a box has no id");
  if (!is_sensible(made.now)) return fail(Code::invalid, "the clock of the box is wrong");
  for (const json& each : read.at("runs")) {
    RunReport& run = made.runs.emplace_back();
    run.key = each.at("key").get<std::string>();
    run.waits = each.at("waits").get<bool>();
    if (!each.contains("outcome")) continue;
    auto outcome = shepherd::parse_outcome(each.at("outcome").get<std::string>());
    if (!outcome) return tl::unexpected(outcome.error());
    const auto& exit = outcome->exit;
    if (exit && !(is_sensible(exit->start) && is_sensible(exit->end))) {
      return fail(Code::invalid, fmt::format("run {} ended at no sensible time", run.key));
    }
    run.outcome = *std::move(outcome);
  }
  return made;
} catch (const json::exception& error) {
  return misread("the report of a box", error);
}

Result<Orders> read_orders(std::string_view text) try {
  const json read = json::parse(text);
  Orders made{.is_gone = read.at("is_gone").get<bool>()};
  for (const json& each : read.at("runs")) {
    made.runs.push_back({.key = each.at("key").get<std::string>(),
                         .spec = each.at("spec").get<std::string>(),
                         .may_start = each.at("may_start").get<bool>(),
                         .order = each.at("order").get<std::string>(),
                         .limits = each.at("limits").get<std::string>()});
  }
  return made;
} catch (const json::exception& error) {
  return misread("the answer of a head", error);
}

Result<Logs> read_logs(std::string_view text) try {
  const json read = json::parse(text);
  return Logs{.are_open = read.at("are_open").get<bool>(),
              .trouble = read.at("trouble").get<std::string>()};
} catch (const json::exception& error) {
  return misread("the answer of a head", error);
}

}  // namespace almanac::boxes
