// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nexus: single sessions, sessions offered to one GPU one after another, allocations, and queries
/// of several stages.
#include "serving/nexus.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/sheet.h"
#include "serving/recipe/json_lines.h"
#include "serving/recipe/recipes.h"

namespace almanac::inference {
namespace {

using namespace published;
using nlohmann::json;

NexusSession session_of(const json& told) {
  return {told.at("model").get<std::string>(), told.at("slo_ms").get<double>() * 1e3,
          told.at("rate_rps").get<double>()};
}

Result<void> compare_single(const std::string& path, const NexusProfiles& profiles,
                            Comparison& made) {
  const std::vector<std::string> figures{
      "batch", "max_batch", "forward_us", "max_duty_cycle_us", "throughput_rps", "occupancy"};
  const auto sheet = Sheet::read(
      path, {"case", "profile_multiplier", "model", "slo_ms", "rate_rps", "batch", "max_batch",
             "forward_us", "max_duty_cycle_us", "throughput_rps", "occupancy", "accepted"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const std::string& model = sheet->text("model", row);
    if (!profiles.has(model)) {
      return fail(Code::not_found, fmt::format("no model is called {}", model), {.file = path});
    }
    const auto multiplier = sheet->number("profile_multiplier", row);
    const auto slo = sheet->number("slo_ms", row);
    const auto rate = sheet->number("rate_rps", row);
    const auto accepted = sheet->number("accepted", row);
    for (const auto* cell : {&multiplier, &slo, &rate, &accepted}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    const auto share = alone(profiles, {model, *slo * 1e3, *rate}, *multiplier);
    const std::string what = fmt::format("single {}: ", sheet->text("case", row));
    made.add(what + "accepted", *accepted, share ? 1 : 0);
    if (!share || *accepted == 0) continue;
    const std::vector<double> ours{static_cast<double>(share->batch),
                                   static_cast<double>(share->max_batch),
                                   share->forward,
                                   share->max_duty,
                                   share->throughput,
                                   share->forward / share->max_duty};
    for (std::size_t each = 0; each < figures.size(); ++each) {
      const auto published = sheet->number(figures[each], row);
      if (!published) return tl::unexpected(published.error());
      made.add(what + figures[each], *published, ours[each]);
    }
  }
  return {};
}

std::vector<int> batches(const NexusNode& node) {
  std::vector<int> made;
  for (const NexusShare& each : node.shares()) made.push_back(each.batch);
  return made;
}

void compare_sequence(const json& told, const NexusProfiles& profiles, Comparison& made) {
  NexusNode node(profiles, told.at("profile_multiplier").get<double>());
  std::size_t differ = 0;
  std::vector<double> published, ours;
  for (const json& step : told.at("steps")) {
    const bool accepted = node.add(session_of(step)).has_value();
    differ += accepted != step.at("accepted").get<bool>() ||
              node.overloaded() != step.at("overload").get<bool>() ||
              batches(node) != step.at("batches").get<std::vector<int>>();
    published.push_back(step.at("node_exec_us").get<double>());
    ours.push_back(node.execution());
    published.push_back(step.at("node_duty_us").get<double>());
    ours.push_back(node.duty());
  }
  const std::string what = fmt::format("sequence {}: ", told.at("case").dump());
  made.add_mismatches(what + "steps", differ);
  made.add_column(what + "execution and duty", published, ours, "us");
}

void compare_allocation(const json& told, const NexusProfiles& profiles, Comparison& made) {
  std::vector<NexusNode> nodes(told.at("nodes").get<std::size_t>(),
                               NexusNode(profiles, told.at("profile_multiplier").get<double>()));
  std::vector<NexusSession> sessions;
  for (const json& each : told.at("sessions")) sessions.push_back(session_of(each));
  const auto placed = place_nexus(nodes, sessions);
  const json& theirs = told.at("placements");
  std::size_t differ = placed.size() == theirs.size() ? 0 : 1;
  std::vector<double> published, ours;
  for (std::size_t each = 0; each < std::min(placed.size(), theirs.size()); ++each) {
    const json& step = theirs[each];
    const bool nowhere = step.at("node").is_null();
    differ += step.at("session").get<std::size_t>() != placed[each].session ||
              (nowhere ? -1 : step.at("node").get<int>()) != placed[each].node ||
              (!nowhere && step.at("batch").get<int>() != placed[each].batch);
    published.push_back(step.at(nowhere ? "unserved_rps" : "throughput_rps").get<double>());
    ours.push_back(placed[each].throughput);
  }
  const std::string what = fmt::format("allocation {}: ", told.at("case").dump());
  made.add_column(what + "throughput", published, ours, "requests/s");
  published.clear();
  ours.clear();
  const json& final = told.at("final");
  for (std::size_t node = 0; node < std::min(nodes.size(), final.size()); ++node) {
    differ += batches(nodes[node]) != final[node].at("batches").get<std::vector<int>>();
    published.push_back(final[node].at("exec_us").get<double>());
    ours.push_back(nodes[node].execution());
    published.push_back(final[node].at("duty_us").get<double>());
    ours.push_back(nodes[node].duty());
  }
  made.add_mismatches(what + "placements and GPUs", differ);
  made.add_column(what + "execution and duty", published, ours, "us");
}

void compare_query(const json& told, const NexusProfiles& profiles, Comparison& made) {
  std::vector<NexusStage> stages;
  for (const json& each : told.at("nodes")) {
    stages.push_back({each.at("model").get<std::string>(), each.at("parent").get<int>(),
                      each.at("rate_rps").get<double>()});
  }
  for (const char* variant : {"artifact", "fixed"}) {
    const json& theirs = told.at(variant);
    const auto split =
        split_nexus(profiles, stages, told.at("slo_ms").get<double>(),
                    told.at("segments").get<int>(), std::string_view(variant) == "fixed");
    const std::string what = fmt::format("query {} {}: ", told.at("case").dump(), variant);
    const bool feasible = theirs.is_object() && theirs.at("min_gpus").is_number();
    made.add_mismatches(what + "feasible", feasible != split.has_value());
    if (!feasible || !split) continue;
    made.add(what + "GPUs", theirs.at("min_gpus").get<double>(), split->gpus);
    made.add_column(what + "split", theirs.at("split_ms").get<std::vector<double>>(),
                    split->budgets_ms, "ms");
  }
}

}  // namespace

Result<Comparison> compare_nexus(const Shared& shared) {
  const auto profiles = NexusProfiles::read(shared.data + "/nexus");
  if (!profiles) return tl::unexpected(profiles.error());
  const std::string folder = shared.golden + "/nexus";
  Comparison made;
  each_file(folder, "single", ".csv", made,
            [&](const std::string& path) { return compare_single(path, *profiles, made); });
  using Case = void (*)(const json&, const NexusProfiles&, Comparison&);
  for (const auto& [name, compare] : {std::pair<const char*, Case>("sequences", compare_sequence),
                                      {"allocation", compare_allocation},
                                      {"complex_query", compare_query}}) {
    each_file(folder, name, ".jsonl", made, [&, compare = compare](const std::string& path) {
      return each_json(path, made, [&](const json& told) { compare(told, *profiles, made); });
    });
  }
  return made;
}

}  // namespace almanac::inference
