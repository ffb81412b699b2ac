// SPDX-License-Identifier: Apache-2.0
#include "steer/control.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "service/lock.h"
#include "table/output_file.h"

namespace nlohmann {

/// null = there is none.
template <typename Value>
struct adl_serializer<std::optional<Value>> {
  static void to_json(json& into, const std::optional<Value>& value) {
    into = value ? json(*value) : json();
  }
  static void from_json(const json& from, std::optional<Value>& value) {
    if (!from.is_null()) value = from.get<Value>();
  }
};

}  // namespace nlohmann

namespace almanac::service {

NLOHMANN_JSON_SERIALIZE_ENUM(service::Switch, {{service::Switch::off, "off"},
                                               {service::Switch::dry, "dry"},
                                               {service::Switch::on, "on"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(service::LeverView, name, how, rests, wanted, next, done, failed,
                                   refused)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(service::AgentView, node, load, cpu_pressure, memory_pressure,
                                   io_pressure, bandwidth_gbs, jobs, held)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(service::Manager, name, cluster, version, way, trouble, excluded,
                                   round_s, news_s, changes_per_s, levers, agents)

}  // namespace almanac::service

namespace almanac::steer {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Status, process, manager, policy, waiting, running, warnings,
                                   canary, left)

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string levers_file(const std::string& state) { return state + "/levers.json"; }
std::string undo_file(const std::string& state) { return state + "/undo"; }
std::string status_file(const std::string& state) { return state + "/status.json"; }

std::optional<std::string> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<Switches> read_switches(const std::string& state) {
  Switches made;
  const auto text = content(levers_file(state));
  if (!text) return made;
  try {
    const Json json = Json::parse(*text);
    for (const auto& [name, word] : json.items()) {
      const auto how = parse_switch(word.get<std::string>());
      if (!how) {
        return fail(Code::corrupt, how.error().message, {.file = levers_file(state)});
      }
      made[name] = *how;
    }
  } catch (const Json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = levers_file(state)},
                "almanac slurm levers LEVER SWITCH writes it again");
  }
  return made;
}

Result<void> change_switches(const std::string& state,
                             const std::function<void(Switches&)>& change) {
  const auto lock = service::Lock::briefly(state);
  if (!lock) return tl::unexpected(lock.error());
  Switches switches = read_switches(state).value_or(Switches{});
  change(switches);
  Json made = Json::object();
  for (const auto& [name, how] : switches) made[name] = to_string(how);
  return table::write_file(levers_file(state), made.dump() + '\n');
}

Result<void> ask_for_undo(const std::string& state, const Retreat& how) {
  const Json made{{"levers", to_string(how.levers)}, {"why", how.why}};
  return table::write_file(undo_file(state), made.dump() + '\n');
}

std::optional<Retreat> asked_undo(const std::string& state) {
  const auto text = content(undo_file(state));
  if (!text) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return Retreat{};
  return Retreat{parse_switch(json.value("levers", "off")).value_or(service::Switch::off),
                 json.value("why", Retreat{}.why)};
}

void undo_is_done(const std::string& state) {
  std::error_code ignored;  // then it is done once more, and finds nothing
  fs::remove(undo_file(state), ignored);
}

Result<void> write_status(const std::string& state, const Status& status) {
  Json made = status;
  made["at_s"] = seconds(status.at);
  return table::write_file(status_file(state),
                           made.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

Result<Status> read_status(const std::string& state) {
  const auto text = content(status_file(state));
  if (!text) {
    return fail(Code::not_found, "no Almanac service for Slurm uses this folder", {.file = state},
                "start one with almanac serve --engine slurm --state DIR");
  }
  try {
    Json json = Json::parse(*text);
    Json& manager = json.at("manager");
    if (manager.contains("aside")) manager["excluded"] = manager["aside"];  // of the release before
    auto made = json.get<Status>();
    made.at = Time{Duration{static_cast<std::int64_t>(json.at("at_s").get<double>() * 1e3)}};
    return made;
  } catch (const Json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = status_file(state)});
  }
}

}  // namespace almanac::steer
