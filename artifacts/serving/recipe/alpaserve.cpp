// SPDX-License-Identifier: Apache-2.0

/// \file
/// AlpaServe: requests through fixed placements, placements that the policies find, and the
/// experiment that aligned the simulator with a cluster.
#include "serving/alpaserve.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/sheet.h"
#include "serving/recipe/json_lines.h"
#include "serving/recipe/recipes.h"
#include "stats/mean.h"
#include "table/stream.h"

namespace almanac::inference {
namespace {

using namespace published;
using nlohmann::json;
using Models = std::map<std::string, AlpaModel>;

Result<json> read_json(const std::string& path) try {
  const auto content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  return json::parse(*content);
} catch (const json::exception& error) {
  return fail(Code::invalid, error.what(), {.file = path});
}

Models models_of(const json& told) {
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

AlpaPlacement placement_of(const json& groups) {
  AlpaPlacement made;
  for (const json& each : groups) {
    made.push_back({{each.at("op").get<int>(), each.at("pp").get<int>()},
                    each.at("models").get<std::vector<int>>()});
  }
  return made;
}

std::vector<const AlpaModel*> picked(const Models& models, const json& names) {
  std::vector<const AlpaModel*> made;
  for (const json& each : names) made.push_back(&models.at(each.get<std::string>()));
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

/// The files called `begins`*.jsonl in a folder, each with the table of requests that belongs to
/// it: "placement_cases_b.jsonl" has "placement_arrivals_b.csv" or ".csv.gz".
Result<std::vector<std::pair<std::string, std::string>>> files_with_requests(
    const std::string& folder, const std::string& begins, const std::string& requests) {
  const auto paths = files(folder, begins, ".jsonl");
  if (!paths) return tl::unexpected(paths.error());
  std::vector<std::pair<std::string, std::string>> made;
  for (const std::string& path : *paths) {
    const std::string table = folder + requests + stem(path).substr(begins.size()) + ".csv";
    made.emplace_back(path, std::filesystem::exists(table) ? table : table + ".gz");
  }
  return made;
}

/// Rows of a table by the number of their case.
using ByCase = std::map<int, std::vector<std::size_t>>;

Result<std::map<int, std::vector<AlpaRequest>>> requests_of(const Sheet& sheet, ByCase& rows) {
  std::map<int, std::vector<AlpaRequest>> made;
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    const auto number = sheet.number("case", row);
    const auto arrival = sheet.number("arrival_s", row);
    const auto model = sheet.number("model", row);
    const auto slo = sheet.number("slo_s", row);
    for (const auto* cell : {&number, &arrival, &model, &slo}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    rows[static_cast<int>(*number)].push_back(row);
    made[static_cast<int>(*number)].push_back(
        {*arrival, static_cast<int>(*model), static_cast<float>(*slo)});
  }
  return made;
}

Result<void> compare_simulations(const std::string& path, const std::string& table,
                                 const Models& models, Comparison& made) {
  const auto sheet = Sheet::read(table, {"case", "arrival_s", "model", "slo_s", "finish_s", "good",
                                         "finish_batching_s", "good_batching"});
  if (!sheet) return tl::unexpected(sheet.error());
  ByCase rows;
  const auto requests = requests_of(*sheet, rows);
  if (!requests) return tl::unexpected(requests.error());
  const auto number = [&](const char* column, std::size_t row) {
    const auto value = sheet->number(column, row);
    if (!value) throw std::runtime_error(to_string(value.error()));
    return *value;
  };
  return each_json(path, made, [&](const json& told) {
    const int id = told.at("case").get<int>();
    require(requests->contains(id), fmt::format("{} has no request of case {}", table, id));
    const auto& asked = requests->at(id);
    const auto placement = placement_of(told.at("groups"));
    const auto which = picked(models, told.at("models"));
    require_models(placement, which, asked);
    for (const bool batched : {false, true}) {
      // Not every case was played with batches.
      if (batched && sheet->text("finish_batching_s", rows[id].front()).empty()) continue;
      const auto outcomes = batched ? simulate_alpa_batched(placement, which, asked)
                                    : simulate_alpa(placement, which, asked);
      std::vector<double> published, ours;
      std::size_t differ = 0;
      double good = 0;
      std::vector<double> model_good(which.size()), group_requests(placement.size()),
          group_good(placement.size());
      for (std::size_t each = 0; each < outcomes.size(); ++each) {
        const std::size_t row = rows[id][each];
        published.push_back(number(batched ? "finish_batching_s" : "finish_s", row));
        ours.push_back(outcomes[each].finish);
        differ += (number(batched ? "good_batching" : "good", row) != 0) != outcomes[each].good;
        good += outcomes[each].good;
        model_good[static_cast<std::size_t>(asked[each].model)] += outcomes[each].good;
        if (outcomes[each].group < 0) continue;
        const auto group = static_cast<std::size_t>(outcomes[each].group);
        ++group_requests[group];
        group_good[group] += outcomes[each].good;
      }
      const std::string what = fmt::format("simulation {}{}: ", id, batched ? " with batches" : "");
      made.add_column(what + "finish", published, ours, "s");
      made.add_mismatches(what + "good or not", differ);
      made.add(what + "good", told.at(batched ? "good_batching" : "good").get<double>(), good);
      if (batched) continue;
      for (const auto& [name, mine] :
           {std::pair<const char*, const std::vector<double>&>("model_good", model_good),
            {"group_requests", group_requests},
            {"group_good", group_good}}) {
        if (told.contains(name)) {
          made.add_column(what + name, told.at(name).get<std::vector<double>>(), mine, "requests");
        }
      }
    }
  });
}

Result<void> compare_placements(const std::string& path, const std::string& table,
                                const Models& models, Comparison& made) {
  const std::map<std::string, AlpaPlacement (*)(const AlpaTask&)> policies{
      {"sr-greedy", place_alpa_replicas},
      {"mp-search", place_alpa_search},
      {"mp-search-sep", place_alpa_search_apart},
      {"mp-round-robin", place_alpa_round_robin}};
  const auto sheet = Sheet::read(table, {"case", "arrival_s", "model", "slo_s"});
  if (!sheet) return tl::unexpected(sheet.error());
  ByCase rows;
  const auto requests = requests_of(*sheet, rows);
  if (!requests) return tl::unexpected(requests.error());
  return each_json(path, made, [&](const json& told) {
    const int id = told.at("case").get<int>();
    require(requests->contains(id), fmt::format("{} has no request of case {}", table, id));
    const AlpaTask task{.devices = told.at("devices").get<int>(),
                        .memory = told.at("memory_bytes").get<double>(),
                        .models = picked(models, told.at("models")),
                        .rates = told.at("rates_rps").get<std::vector<double>>(),
                        .requests = requests->at(id)};
    require(task.devices >= 1 && task.devices <= 4096, "expected 1 to 4096 devices");
    require(task.rates.size() == task.models.size(), "expected a rate for each model");
    require_models({}, task.models, task.requests);
    for (const auto& [name, theirs] : told.at("result").items()) {
      const auto policy = policies.find(name);
      if (policy == policies.end()) {
        throw std::runtime_error(fmt::format("no policy is called {}", name));
      }
      const AlpaPlacement ours = policy->second(task);
      double good = 0;
      for (const AlpaOutcome& each : simulate_alpa(ours, task.models, task.requests)) {
        good += each.good;
      }
      const std::string what = fmt::format("placement {} {}: ", id, name);
      made.add_mismatches(what + "groups", placement_of(theirs.at("groups")) != ours);
      made.add(what + "score", theirs.at("score").get<double>(), alpa_score(task, ours));
      made.add(what + "good", theirs.at("good").get<double>(), good, "requests");
    }
  });
}

/// Published simulated attainments of one model many times over, requests at both ends left out.
Result<void> compare_alignment(const Shared& shared, const std::string& path, Comparison& made) {
  const auto latency = read_json(shared.data + "/alpaserve/align_latency.json");
  if (!latency) return tl::unexpected(latency.error());
  const auto arrivals =
      Sheet::read(shared.data + "/alpaserve/align_arrivals.csv.gz", {"arrival_s", "model"});
  if (!arrivals) return tl::unexpected(arrivals.error());
  const auto times = arrivals->numbers("arrival_s");
  const auto which = arrivals->numbers("model");
  if (!times) return tl::unexpected(times.error());
  if (!which) return tl::unexpected(which.error());
  return each_json(path, made, [&](const json& told) {
    AlpaModel model;
    for (const auto& [label, stages] : latency->at("latency_s").items()) {
      const auto seconds = stages.get<std::vector<double>>();
      const int op = std::stoi(label.substr(2));
      model[{op, static_cast<int>(seconds.size())}].latency[1] = seconds;
    }
    require(model.contains({}), "align_latency.json has no latency of a whole model on one GPU");
    require(!times->empty() && times->back() > times->front(), "there is no span of arrivals");
    const double solo = model.at({}).latency.at(1).front();
    const double scale = told.at("slo_scale").get<double>();
    std::vector<AlpaRequest> requests;
    int models = 0;
    for (std::size_t each = 0; each < times->size(); ++each) {
      const int mine = static_cast<int>((*which)[each]);
      require(mine >= 0 && mine < 1'000'000, fmt::format("a request asks for model {}", mine));
      models = std::max(models, mine + 1);
      requests.push_back({(*times)[each], mine, static_cast<float>(scale * solo)});
    }
    const std::vector<const AlpaModel*> all(static_cast<std::size_t>(models), &model);
    const AlpaPlacement placement = placement_of(told.at("groups"));
    require_models(placement, all, requests);
    const auto outcomes = simulate_alpa(placement, all, requests);
    const double warm_up = latency->at("warmup_s").get<double>();
    const auto count = static_cast<double>(requests.size());
    const double span = requests.back().arrival - requests.front().arrival;
    require(warm_up >= 0 && 2 * warm_up < span, "the warm-up leaves no request");
    const auto left_out = static_cast<std::size_t>(warm_up / span * count);
    std::vector<double> good;
    for (std::size_t each = left_out; each + left_out < outcomes.size(); ++each) {
      good.push_back(outcomes[each].good);
    }
    made.add(
        fmt::format("alignment {} x{}: attainment", told.at("policy").get<std::string>(), scale),
        told.at("attainment_simulated").get<double>(), std::round(stats::mean(good) * 1000) / 1000);
  });
}

}  // namespace

Result<Comparison> compare_alpaserve(const Shared& shared) {
  const std::string profiles = shared.data + "/alpaserve/profiles.json";
  const auto told = read_json(profiles);
  if (!told) return tl::unexpected(told.error());
  Models models;
  try {
    models = models_of(*told);
  } catch (const std::exception& error) {
    return fail(Code::invalid, error.what(), {.file = profiles});
  }
  const std::string folder = shared.golden + "/alpaserve/";
  Comparison made;
  const auto keep = [&](const Result<void>& done) {
    if (!done) made.fail(done.error());
  };
  if (const auto all = files_with_requests(folder, "simulate_cases", "simulate_requests")) {
    for (const auto& [path, table] : *all) keep(compare_simulations(path, table, models, made));
  } else {
    made.fail(all.error());
  }
  if (const auto all = files_with_requests(folder, "placement_cases", "placement_arrivals")) {
    for (const auto& [path, table] : *all) keep(compare_placements(path, table, models, made));
  } else {
    made.fail(all.error());
  }
  each_file(folder, "align_placements", ".jsonl", made,
            [&](const std::string& path) { return compare_alignment(shared, path, made); });
  return made;
}

}  // namespace almanac::inference
