// SPDX-License-Identifier: Apache-2.0

/// \file
/// gpulet: plans of mixes of models under each setting of the released scheduler.
#include "serving/gpulet.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serving/recipe/json_lines.h"
#include "serving/recipe/recipes.h"

namespace almanac::inference {
namespace {

using namespace published;
using nlohmann::json;

/// Printed to six digits, of numbers that were rounded before.
bool is_near(double ours, double published) {
  return std::abs(ours - published) <= 6e-6 * std::abs(published);
}

bool is_equal(const Gpulet& ours, const json& theirs) {
  const json& tasks = theirs.at("tasks");
  if (ours.gpu != theirs.at("gpu").get<int>() ||
      ours.share != theirs.at("share_percent").get<int>() || ours.tasks.size() != tasks.size() ||
      !is_near(ours.duty, theirs.at("duty_cycle_ms").get<double>())) {
    return false;
  }
  for (std::size_t each = 0; each < tasks.size(); ++each) {
    const GpuletTask& task = ours.tasks[each];
    if (task.model != tasks[each].at("model").get<std::string>() ||
        task.batch != tasks[each].at("batch").get<int>() ||
        !is_near(task.throughput, tasks[each].at("throughput_rps").get<double>())) {
      return false;
    }
  }
  return true;
}

/// Gpulets of the published plan that ours has too.
std::size_t equal_gpulets(const std::vector<Gpulet>& ours, const json& theirs) {
  std::size_t equal = 0;
  for (const json& each : theirs) {
    equal += std::any_of(ours.begin(), ours.end(),
                         [&](const Gpulet& mine) { return is_equal(mine, each); });
  }
  return equal;
}

struct Count {
  double published = 0, ours = 0;
};

/// Of the cases of one file, by setting.
struct Tally {
  Count rates, outcomes, gpulets, plans;
};

void count(const json& told, const GpuletProfile& profile,
           const std::map<std::string, GpuletSetting>& settings, Tally& tally) {
  std::vector<GpuletRequest> requests;
  for (const json& each : told.at("requests")) {
    const GpuletRequest& request = requests.emplace_back(
        GpuletRequest{each.at("model").get<std::string>(), each.at("rate_rps").get<int>(),
                      each.at("slo_ms").get<double>()});
    if (!profile.models.contains(request.model)) {
      throw std::runtime_error("no model is called " + request.model);
    }
    if (request.rate < 1 || request.rate > 10'000'000 || request.slo <= 0) {
      throw std::runtime_error("rates and objectives must be above 0");
    }
    tally.rates.published += 1;
    tally.rates.ours +=
        gpulet_rate(request.rate) == told.at("scheduled_rates").at(request.model).get<int>();
  }
  const auto plan =
      plan_gpulets(profile, settings.at(told.at("config").get<std::string>()), std::move(requests));
  const bool same_outcome = plan.has_value() == (told.at("outcome").get<std::string>() == "ok");
  tally.outcomes.published += 1;
  tally.outcomes.ours += same_outcome;
  tally.plans.published += 1;
  if (!plan) {
    tally.plans.ours += same_outcome;
    tally.gpulets.published += static_cast<double>(told.at("gpulets").size());
    return;
  }
  const json& theirs = told.at("gpulets");
  const std::size_t equal = equal_gpulets(*plan, theirs);
  const auto used = static_cast<std::size_t>(std::count_if(
      plan->begin(), plan->end(), [](const Gpulet& each) { return !each.tasks.empty(); }));
  tally.gpulets.published += static_cast<double>(theirs.size());
  tally.gpulets.ours += static_cast<double>(equal);
  tally.plans.ours += same_outcome && equal == theirs.size() && used == theirs.size();
}

}  // namespace

Result<Comparison> compare_gpulet(const Shared& shared) {
  const std::string folder = shared.data + "/gpulet";
  const auto profile = read_gpulet(folder);
  if (!profile) return tl::unexpected(profile.error());
  const auto settings = read_gpulet_settings(folder + "/configs.json");
  if (!settings) return tl::unexpected(settings.error());
  const auto paths = files(shared.golden + "/gpulet", "", ".jsonl");
  if (!paths) return tl::unexpected(paths.error());
  Comparison made;
  for (const std::string& path : *paths) {
    std::map<std::string, Tally> tallies;
    const auto done = each_json(path, made, [&](const json& told) {
      count(told, *profile, *settings, tallies[told.at("config").get<std::string>()]);
    });
    if (!done) return tl::unexpected(done.error());
    for (const auto& [setting, tally] : tallies) {
      const std::string what = fmt::format("{} {}: ", stem(path), setting);
      made.add(what + "planned rates, equal", tally.rates.published, tally.rates.ours, "models");
      made.add(what + "feasible or not, equal", tally.outcomes.published, tally.outcomes.ours,
               "mixes");
      made.add(what + "gpulets, equal", tally.gpulets.published, tally.gpulets.ours, "gpulets");
      made.add(what + "whole plans, equal", tally.plans.published, tally.plans.ours, "mixes");
    }
  }
  return made;
}

}  // namespace almanac::inference
