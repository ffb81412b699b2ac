// SPDX-License-Identifier: Apache-2.0
#include "steer/control.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/lock.h"
#include "table/output_file.h"

namespace almanac::steer {
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

template <typename Value>
void put_known(Json& into, const char* name, const std::optional<Value>& value) {
  if (value) into[name] = *value;
}

std::optional<double> number(const Json& from, const char* name) {
  const auto found = from.find(name);
  return found == from.end() ? std::nullopt : std::optional(found->get<double>());
}

Json json_of(const NodeSaid& node) {
  Json made{{"name", node.name}, {"load", node.load}, {"jobs", node.jobs}, {"held", node.held}};
  put_known(made, "cpu_pressure", node.cpu_pressure);
  put_known(made, "memory_pressure", node.memory_pressure);
  put_known(made, "io_pressure", node.io_pressure);
  put_known(made, "gb_s", node.bandwidth_gbs);
  return made;
}

NodeSaid node_of(const Json& json) {
  return {.name = json.at("name"),
          .load = json.at("load"),
          .cpu_pressure = number(json, "cpu_pressure"),
          .memory_pressure = number(json, "memory_pressure"),
          .io_pressure = number(json, "io_pressure"),
          .bandwidth_gbs = number(json, "gb_s"),
          .jobs = json.at("jobs"),
          .held = json.at("held")};
}

Json json_of(const LeverState& lever) {
  return {{"name", lever.name},     {"switch", to_string(lever.how)},
          {"rests", lever.rests},   {"wanted", lever.wanted},
          {"next", lever.next},     {"done", lever.done},
          {"failed", lever.failed}, {"refused", lever.refused}};
}

LeverState lever_of(const Json& json) {
  const auto how = parse_switch(json.at("switch").get<std::string>());
  return {.name = json.at("name"),
          .how = how ? *how : Switch::off,
          .rests = json.at("rests"),
          .wanted = json.at("wanted"),
          .next = json.at("next"),
          .done = json.at("done"),
          .failed = json.at("failed"),
          .refused = json.at("refused")};
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
                "almanac slurm levers LEVER SWITCH writes it anew");
  }
  return made;
}

Result<void> change_switches(const std::string& state,
                             const std::function<void(Switches&)>& change) {
  const auto lock = Lock::briefly(state);
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
  return Retreat{parse_switch(json.value("levers", "off")).value_or(Switch::off),
                 json.value("why", Retreat{}.why)};
}

void undo_is_done(const std::string& state) {
  std::error_code ignored;  // then it is done once more, and finds nothing
  fs::remove(undo_file(state), ignored);
}

Result<void> write_status(const std::string& state, const Status& status) {
  Json made{{"at_s", seconds(status.at)},
            {"process", status.process},
            {"cluster", status.cluster},
            {"way", status.way},
            {"version", status.version},
            {"trouble", status.trouble},
            {"policy", status.policy},
            {"waiting", status.waiting},
            {"aside", status.aside},
            {"running", status.running},
            {"round_s", status.round_s},
            {"news_s", status.news_s},
            {"changes_per_s", status.changes_per_s},
            {"warnings", status.warnings},
            {"canary", status.canary},
            {"left", status.left},
            {"levers", Json::array()},
            {"nodes", Json::array()}};
  for (const NodeSaid& each : status.nodes) made["nodes"].push_back(json_of(each));
  for (const LeverState& each : status.levers) made["levers"].push_back(json_of(each));
  return table::write_file(status_file(state),
                           made.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

Result<Status> read_status(const std::string& state) {
  const auto text = content(status_file(state));
  if (!text) {
    return fail(Code::not_found, "no almanac steers a Slurm from this folder", {.file = state},
                "almanac serve --engine slurm --state DIR does");
  }
  try {
    const Json json = Json::parse(*text);
    Status made{
        .at = Time{Duration{static_cast<std::int64_t>(json.at("at_s").get<double>() * 1e3)}},
        .process = json.at("process"),
        .cluster = json.at("cluster"),
        .way = json.at("way"),
        .version = json.at("version"),
        .trouble = json.at("trouble"),
        .policy = json.at("policy"),
        .waiting = json.at("waiting"),
        .aside = json.at("aside"),
        .running = json.at("running"),
        .round_s = json.at("round_s"),
        .news_s = json.at("news_s"),
        .changes_per_s = json.at("changes_per_s"),
        .warnings = json.at("warnings"),
        .canary = json.value("canary", ""),
        .left = json.value("left", std::vector<std::string>())};
    for (const Json& each : json.value("nodes", Json::array())) made.nodes.push_back(node_of(each));
    for (const Json& each : json.at("levers")) made.levers.push_back(lever_of(each));
    return made;
  } catch (const Json::exception& error) {
    return fail(Code::corrupt, error.what(), {.file = status_file(state)});
  }
}

}  // namespace almanac::steer
