// SPDX-License-Identifier: Apache-2.0

/// \file
/// AlpaServe: requests through fixed placements, placements that the policies find, and the
/// experiment that aligned the simulator with a cluster.
///
/// Source   Li et al., AlpaServe, OSDI'23.
#include "serving/alpaserve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/mean.h"

namespace almanac::reproduce {

void register_alpaserve(Recipes& registry);

namespace alpaserve_recipe {
namespace {

using namespace serving;
using Models = std::map<std::string, AlpaModel>;

constexpr const char* kProfiles = "data/alpaserve/profiles.json";
constexpr const char* kLatency = "data/alpaserve/align_latency.json";
constexpr const char* kSimulations = "golden/alpaserve/simulate_cases*.json";
constexpr const char* kPlacements = "golden/alpaserve/placement_cases*.json";
constexpr const char* kAlignments = "golden/alpaserve/align_placements*.json";

Models models_of(const Json& told) {
  Models made;
  for (const auto& [name, cuts] : told.items()) {
    for (const auto& [label, cut] : cuts.items()) {
      AlpaProfile profile{.weights = cut.at("stage_weight_bytes").get<std::vector<double>>()};
      for (const auto& [batch, stages] : cut.at("stage_latency_s").items()) {
        profile.latency[std::stoi(batch)] = stages.get<std::vector<double>>();
      }
      made[name][{cut.at("op").get<int>(), cut.at("pp").get<int>()}] = std::move(profile);
    }
  }
  return made;
}

AlpaPlacement placement_of(const Json& groups) {
  AlpaPlacement made;
  for (const Json& each : groups) {
    made.push_back({{each.at("op"), each.at("pp")}, each.at("models").get<std::vector<int>>()});
  }
  return made;
}

std::vector<const AlpaModel*> picked(const Models& models, const Json& names) {
  std::vector<const AlpaModel*> made;
  for (const Json& each : names) made.push_back(&models.at(each.get<std::string>()));
  return made;
}

void require_models(const AlpaPlacement& placement, const std::vector<const AlpaModel*>& models,
                    const std::vector<AlpaRequest>& requests) {
  const auto is_one = [&](int model) {
    return model >= 0 && static_cast<std::size_t>(model) < models.size();
  };
  for (const AlpaGroup& group : placement) {
    for (const int model : group.models) {
      require(is_one(model), fmt::format("a group holds model {} of {}", model, models.size()));
      const auto profile = models[static_cast<std::size_t>(model)]->find(group.cut);
      require(profile != models[static_cast<std::size_t>(model)]->end(),
              fmt::format("model {} has no profile cut as its group is", model));
    }
  }
  for (const AlpaRequest& each : requests) {
    require(is_one(each.model),
            fmt::format("a request asks for model {} of {}", each.model, models.size()));
    require(std::isfinite(each.arrival) && std::isfinite(each.slo), "a request has no time");
  }
}

/// The requests of one case, and what was published of each.
struct Case {
  std::vector<AlpaRequest> requests{};
  std::vector<double> finish{}, batched_finish{};  ///< No batched ones = not played with batches.
  std::vector<bool> good{}, batched_good{};
};
using Cases = std::map<int, Case>;

/// The table that belongs to a file of cases: "placement_cases_b.jsonl" has
/// "placement_arrivals_b.csv".
Rows open_requests(const Bench& bench, const File& file, std::string_view cases,
                   const std::string& requests, std::initializer_list<std::string_view> columns) {
  return {bench.beside(file, requests + file.stem.substr(cases.size()) + ".csv").path, columns};
}

Case& add_request(const Rows& rows, Cases& cases) {
  Case& made = cases[static_cast<int>(rows.number("case"))];
  made.requests.push_back({rows.number("arrival_s"), static_cast<int>(rows.number("model")),
                           static_cast<float>(rows.number("slo_s"))});
  return made;
}

const Case& case_of(const Cases& cases, const Json& told) {
  const int id = told.at("case");
  require(cases.contains(id), fmt::format("there is no request of case {}", id));
  return cases.at(id);
}

void compare_simulation(Bench& bench, const Json& told, const Case& played, const Models& models,
                        bool batched) {
  const AlpaPlacement placement = placement_of(told.at("groups"));
  const auto which = picked(models, told.at("models"));
  require_models(placement, which, played.requests);
  const auto outcomes = batched ? simulate_alpa_batched(placement, which, played.requests)
                                : simulate_alpa(placement, which, played.requests);
  const std::vector<bool>& published_good = batched ? played.batched_good : played.good;
  std::vector<double> ours;
  std::size_t differ = 0;
  double good = 0;
  std::vector<double> model_good(which.size()), group_requests(placement.size()),
      group_good(placement.size());
  for (std::size_t each = 0; each < outcomes.size(); ++each) {
    const auto& [finish, is_good, number] = outcomes[each];
    ours.push_back(finish);
    differ += published_good[each] != is_good;
    good += is_good;
    model_good[static_cast<std::size_t>(played.requests[each].model)] += is_good;
    if (number < 0) continue;
    const auto group = static_cast<std::size_t>(number);
    ++group_requests[group];
    group_good[group] += is_good;
  }
  const std::string what =
      fmt::format("simulation {}{}: ", told.at("case").get<int>(), batched ? " with batches" : "");
  bench.add_column(what + "finish", batched ? played.batched_finish : played.finish, ours, "s");
  bench.add_mismatches(what + "good or not", differ);
  bench.add(what + "good", told.at(batched ? "good_batching" : "good"), good);
  if (batched) return;
  for (const auto& [name, mine] :
       {std::pair<const char*, const std::vector<double>&>("model_good", model_good),
        {"group_requests", group_requests},
        {"group_good", group_good}}) {
    if (told.contains(name)) {
      bench.add_column(what + name, told.at(name).get<std::vector<double>>(), mine, "requests");
    }
  }
}

void compare_simulations(Bench& bench, const File& file, const Models& models) {
  Cases cases;
  Rows rows = open_requests(bench, file, "simulate_cases", "simulate_requests",
                            {"case", "arrival_s", "model", "slo_s", "finish_s", "good",
                             "finish_batching_s", "good_batching"});
  while (rows.next()) {
    Case& made = add_request(rows, cases);
    made.finish.push_back(rows.number("finish_s"));
    made.good.push_back(rows.number("good") != 0);
    if (rows.text("finish_batching_s").empty()) continue;
    made.batched_finish.push_back(rows.number("finish_batching_s"));
    made.batched_good.push_back(rows.number("good_batching") != 0);
  }
  each_case(file, [&](const Json& told) {
    const Case& played = case_of(cases, told);
    compare_simulation(bench, told, played, models, false);
    if (played.batched_good.size() == played.requests.size()) {
      compare_simulation(bench, told, played, models, true);
    }
  });
}

void compare_placements(Bench& bench, const File& file, const Models& models) {
  const std::map<std::string, AlpaPlacement (*)(const AlpaTask&)> policies{
      {"sr-greedy", place_alpa_replicas},
      {"mp-search", place_alpa_search},
      {"mp-search-sep", place_alpa_search_apart},
      {"mp-round-robin", place_alpa_round_robin}};
  Cases cases;
  Rows rows = open_requests(bench, file, "placement_cases", "placement_arrivals",
                            {"case", "arrival_s", "model", "slo_s"});
  while (rows.next()) add_request(rows, cases);
  each_case(file, [&](const Json& told) {
    const AlpaTask task{.devices = told.at("devices"),
                        .memory = told.at("memory_bytes"),
                        .models = picked(models, told.at("models")),
                        .rates = told.at("rates_rps").get<std::vector<double>>(),
                        .requests = case_of(cases, told).requests};
    require(task.devices >= 1 && task.devices <= 4096, "expected 1 to 4096 devices");
    require(task.rates.size() == task.models.size(), "expected a rate for each model");
    require_models({}, task.models, task.requests);
    for (const auto& [name, theirs] : told.at("result").items()) {
      const auto policy = policies.find(name);
      require(policy != policies.end(), fmt::format("no policy is named {}", name));
      const AlpaPlacement ours = policy->second(task);
      double good = 0;
      for (const AlpaOutcome& each : simulate_alpa(ours, task.models, task.requests)) {
        good += each.good;
      }
      const std::string what = fmt::format("placement {} {}: ", told.at("case").get<int>(), name);
      bench.add_mismatches(what + "groups", placement_of(theirs.at("groups")) != ours);
      bench.add(what + "score", theirs.at("score"), alpa_score(task, ours));
      bench.add(what + "good", theirs.at("good"), good, "requests");
    }
  });
}

/// One model many times over, and the arrivals of the experiment.
struct Alignment {
  AlpaModel model{};
  double warm_up_s = 0;
  std::vector<double> arrival_s{}, which{};
};

Alignment read_alignment(const Bench& bench, const File& file) {
  const Json latency = read_json(file);
  Alignment made{.warm_up_s = latency.at("warmup_s")};
  for (const auto& [label, stages] : latency.at("latency_s").items()) {
    const auto seconds = stages.get<std::vector<double>>();
    const int op = std::stoi(label.substr(2));
    made.model[{op, static_cast<int>(seconds.size())}].latency[1] = seconds;
  }
  auto arrivals =
      read_columns(bench.beside(file, "align_arrivals.csv").path, {"arrival_s", "model"});
  made.arrival_s = std::move(arrivals["arrival_s"]);
  made.which = std::move(arrivals["model"]);
  require(made.model.contains({}), "there is no latency of a whole model on one GPU");
  require(!made.arrival_s.empty() && made.arrival_s.back() > made.arrival_s.front(),
          "there is no span of arrivals");
  return made;
}

/// Published simulated attainments, requests at both ends left out.
void compare_alignment(Bench& bench, const Json& told, const Alignment& alignment) {
  const double solo = alignment.model.at({}).latency.at(1).front();
  const double scale = told.at("slo_scale");
  std::vector<AlpaRequest> requests;
  int models = 0;
  for (std::size_t each = 0; each < alignment.arrival_s.size(); ++each) {
    const int mine = static_cast<int>(alignment.which[each]);
    require(mine >= 0 && mine < 1'000'000, fmt::format("a request asks for model {}", mine));
    models = std::max(models, mine + 1);
    requests.push_back({alignment.arrival_s[each], mine, static_cast<float>(scale * solo)});
  }
  const std::vector<const AlpaModel*> all(static_cast<std::size_t>(models), &alignment.model);
  const AlpaPlacement placement = placement_of(told.at("groups"));
  require_models(placement, all, requests);
  const auto outcomes = simulate_alpa(placement, all, requests);
  const double span = requests.back().arrival - requests.front().arrival;
  require(alignment.warm_up_s >= 0 && 2 * alignment.warm_up_s < span,
          "the warm-up leaves no request");
  const auto left_out =
      static_cast<std::size_t>(alignment.warm_up_s / span * static_cast<double>(requests.size()));
  std::vector<double> good;
  for (std::size_t each = left_out; each + left_out < outcomes.size(); ++each) {
    good.push_back(outcomes[each].good);
  }
  bench.add(
      fmt::format("alignment {} x{}: attainment", told.at("policy").get<std::string>(), scale),
      told.at("attainment_simulated"), std::round(stats::mean(good) * 1000) / 1000);
}

void make(Bench& bench) {
  Models models;
  bench.each(kProfiles, [&](const File& file) { models = models_of(read_json(file)); });
  std::optional<Alignment> alignment;
  bench.each(kLatency, [&](const File& file) { alignment = read_alignment(bench, file); });
  if (models.empty() || !alignment) return;
  bench.each(kSimulations, [&](const File& file) { compare_simulations(bench, file, models); });
  bench.each(kPlacements, [&](const File& file) { compare_placements(bench, file, models); });
  bench.each(kAlignments, [&](const File& file) {
    each_case(file, [&](const Json& told) { compare_alignment(bench, told, *alignment); });
  });
}

}  // namespace
}  // namespace alpaserve_recipe

void register_alpaserve(Recipes& registry) {
  using namespace alpaserve_recipe;
  registry.add({.name = "alpaserve",
                .summary = "requests through groups of GPUs, and placements of models on them",
                .paper = "Li et al., OSDI'23 (AlpaServe)",
                .kind = Kind::rerun,
                .needs = {{kProfiles, "profiles of github.com/alpa-projects/mms, and made-up ones"},
                          {kLatency, "fitted to the simulated rows that the authors published"},
                          {kSimulations, "the authors' simulator"},
                          {kPlacements, "the authors' placement policies"},
                          {kAlignments, "simulated rows that the authors published"}},
                .make = make});
}

}  // namespace almanac::reproduce
