// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nexus: single sessions, sessions offered to one GPU one after another, allocations, and queries
/// of several stages.
///
/// Source   Shen et al., Nexus, SOSP'19.
#include "serving/nexus.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_nexus(Recipes& registry);

namespace nexus_recipe {
namespace {

using namespace serving;

constexpr const char* kProfiles = "data/nexus/profiles.csv";
constexpr const char* kSingle = "golden/nexus/single*.csv";
constexpr const char* kSequences = "golden/nexus/sequences*.json";
constexpr const char* kAllocations = "golden/nexus/allocation*.json";
constexpr const char* kQueries = "golden/nexus/complex_query*.json";

NexusProfiles read_profiles(const Bench& bench, const File& file) {
  std::map<std::string, NexusModel> models;
  Rows batches(file.path, {"model", "batch", "mean_us", "std_us"});
  while (batches.next()) {
    NexusModel& model = models[std::string(batches.text("model"))];
    batches.require(batches.number("batch") == static_cast<double>(model.mean.size() + 1),
                    "batches of a model must go up from 1 by 1");
    model.mean.push_back(batches.number("mean_us"));
    model.deviation.push_back(batches.number("std_us"));
  }
  Rows stages(bench.beside(file, "stages.csv").path,
              {"model", "preprocess_mean_us", "preprocess_std_us", "postprocess_mean_us",
               "postprocess_std_us"});
  while (stages.next()) {
    const auto found = models.find(std::string(stages.text("model")));
    if (found == models.end()) continue;
    NexusModel& model = found->second;
    model.pre_mean = stages.number("preprocess_mean_us");
    model.pre_deviation = stages.number("preprocess_std_us");
    model.post_mean = stages.number("postprocess_mean_us");
    model.post_deviation = stages.number("postprocess_std_us");
  }
  return NexusProfiles(std::move(models));
}

NexusSession session_of(const Json& told) {
  return {told.at("model"), told.at("slo_ms").get<double>() * 1e3, told.at("rate_rps")};
}

void compare_single(Bench& bench, const File& file, const NexusProfiles& profiles) {
  constexpr std::array kFigures{"batch",          "max_batch", "forward_us", "max_duty_cycle_us",
                                "throughput_rps", "occupancy"};
  Rows rows(file.path,
            {"case", "profile_multiplier", "model", "slo_ms", "rate_rps", "batch", "max_batch",
             "forward_us", "max_duty_cycle_us", "throughput_rps", "occupancy", "accepted"});
  while (rows.next()) {
    const std::string model(rows.text("model"));
    rows.require(profiles.has(model), fmt::format("no model is called {}", model));
    const double accepted = rows.number("accepted");
    const auto share =
        alone(profiles, {model, rows.number("slo_ms") * 1e3, rows.number("rate_rps")},
              rows.number("profile_multiplier"));
    const std::string what = fmt::format("single {}: ", rows.text("case"));
    bench.add(what + "accepted", accepted, share ? 1 : 0);
    if (!share || accepted == 0) continue;
    const std::array<double, kFigures.size()> ours{static_cast<double>(share->batch),
                                                   static_cast<double>(share->max_batch),
                                                   share->forward,
                                                   share->max_duty,
                                                   share->throughput,
                                                   share->forward / share->max_duty};
    for (std::size_t each = 0; each < kFigures.size(); ++each) {
      bench.add(what + kFigures[each], rows.number(kFigures[each]), ours[each]);
    }
  }
}

std::vector<int> batches(const NexusNode& node) {
  std::vector<int> made;
  for (const NexusShare& each : node.shares()) made.push_back(each.batch);
  return made;
}

void compare_sequence(Bench& bench, const Json& told, const NexusProfiles& profiles) {
  NexusNode node(profiles, told.at("profile_multiplier"));
  std::size_t differ = 0;
  std::vector<double> published, ours;
  for (const Json& step : told.at("steps")) {
    const bool accepted = node.add(session_of(step)).has_value();
    differ += accepted != step.at("accepted").get<bool>() ||
              node.overloaded() != step.at("overload").get<bool>() ||
              batches(node) != step.at("batches").get<std::vector<int>>();
    published.insert(published.end(), {step.at("node_exec_us"), step.at("node_duty_us")});
    ours.insert(ours.end(), {node.execution(), node.duty()});
  }
  const std::string what = fmt::format("sequence {}: ", told.at("case").dump());
  bench.add_mismatches(what + "steps", differ);
  bench.add_column(what + "execution and duty", published, ours, "us");
}

void compare_allocation(Bench& bench, const Json& told, const NexusProfiles& profiles) {
  std::vector<NexusNode> nodes(told.at("nodes").get<std::size_t>(),
                               NexusNode(profiles, told.at("profile_multiplier")));
  std::vector<NexusSession> sessions;
  for (const Json& each : told.at("sessions")) sessions.push_back(session_of(each));
  const auto placed = place_nexus(nodes, sessions);
  const Json& theirs = told.at("placements");
  std::size_t differ = placed.size() == theirs.size() ? 0 : 1;
  std::vector<double> published, ours;
  for (std::size_t each = 0; each < std::min(placed.size(), theirs.size()); ++each) {
    const Json& step = theirs[each];
    const bool nowhere = step.at("node").is_null();
    differ += step.at("session").get<std::size_t>() != placed[each].session ||
              (nowhere ? -1 : step.at("node").get<int>()) != placed[each].node ||
              (!nowhere && step.at("batch").get<int>() != placed[each].batch);
    published.push_back(step.at(nowhere ? "unserved_rps" : "throughput_rps"));
    ours.push_back(placed[each].throughput);
  }
  const std::string what = fmt::format("allocation {}: ", told.at("case").dump());
  bench.add_column(what + "throughput", published, ours, "requests/s");
  published.clear();
  ours.clear();
  const Json& final = told.at("final");
  for (std::size_t node = 0; node < std::min(nodes.size(), final.size()); ++node) {
    differ += batches(nodes[node]) != final[node].at("batches").get<std::vector<int>>();
    published.insert(published.end(), {final[node].at("exec_us"), final[node].at("duty_us")});
    ours.insert(ours.end(), {nodes[node].execution(), nodes[node].duty()});
  }
  bench.add_mismatches(what + "placements and GPUs", differ);
  bench.add_column(what + "execution and duty", published, ours, "us");
}

void compare_query(Bench& bench, const Json& told, const NexusProfiles& profiles) {
  std::vector<NexusStage> stages;
  for (const Json& each : told.at("nodes")) {
    stages.push_back({each.at("model"), each.at("parent"), each.at("rate_rps")});
  }
  for (const char* variant : {"artifact", "fixed"}) {
    const Json& theirs = told.at(variant);
    const auto split = split_nexus(profiles, stages, told.at("slo_ms"), told.at("segments"),
                                   std::string_view(variant) == "fixed");
    const std::string what = fmt::format("query {} {}: ", told.at("case").dump(), variant);
    const bool feasible = theirs.is_object() && theirs.at("min_gpus").is_number();
    bench.add_mismatches(what + "feasible", feasible != split.has_value());
    if (!feasible || !split) continue;
    bench.add(what + "GPUs", theirs.at("min_gpus"), split->gpus);
    bench.add_column(what + "split", theirs.at("split_ms").get<std::vector<double>>(),
                     split->budgets_ms, "ms");
  }
}

void make(Bench& bench) {
  std::optional<NexusProfiles> profiles;
  bench.each(kProfiles, [&](const File& file) { profiles = read_profiles(bench, file); });
  if (!profiles) return;
  bench.each(kSingle, [&](const File& file) { compare_single(bench, file, *profiles); });
  using Compare = void (*)(Bench&, const Json&, const NexusProfiles&);
  for (const auto& [pattern, compare] :
       {std::pair<const char*, Compare>(kSequences, compare_sequence),
        {kAllocations, compare_allocation},
        {kQueries, compare_query}}) {
    bench.each(pattern, [&, compare = compare](const File& file) {
      each_case(file, [&](const Json& told) { compare(bench, told, *profiles); });
    });
  }
}

}  // namespace
}  // namespace nexus_recipe

void register_nexus(Recipes& registry) {
  using namespace nexus_recipe;
  constexpr const char* kCases = "a second implementation, checked by the tests of Nexus";
  registry.add({.name = "nexus",
                .summary = "batches, duty cycles, placements and splits of Nexus",
                .paper = "Shen et al., SOSP'19 (Nexus)",
                .kind = Kind::second,
                .needs = {{kProfiles, "profiles of github.com/uwsampl/nexus"},
                          {kSingle, kCases},
                          {kSequences, kCases},
                          {kAllocations, kCases},
                          {kQueries, kCases}},
                .make = make});
}

}  // namespace almanac::reproduce
