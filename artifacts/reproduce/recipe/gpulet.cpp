// SPDX-License-Identifier: Apache-2.0

/// \file
/// gpulet: plans of mixes of models under each setting of the released scheduler.
///
/// Source   Choi et al., gpulet, ATC'22.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "deployment/planner/gpulet/scheduler.h"
#include "reproduce/gpulet_data.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_gpulet(Recipes& registry);

namespace gpulet_recipe {
namespace {

using namespace deployment::gpulet;

constexpr const char* kConfigs = "data/gpulet/configs.json";
constexpr const char* kLatencies = "data/gpulet/latency_profile*.csv";
constexpr const char* kPlans = "golden/gpulet/*.json";

/// Printed to six digits, of numbers that were rounded before.
bool is_near(double ours, double published) {
  return std::abs(ours - published) <= 6e-6 * std::abs(published);
}

bool is_equal(const Gpulet& ours, const Json& theirs) {
  const Json& tasks = theirs.at("tasks");
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
std::size_t equal_gpulets(const std::vector<Gpulet>& ours, const Json& theirs) {
  std::size_t equal = 0;
  for (const Json& each : theirs) {
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

void count(const Json& told, const GpuletProfile& profile,
           const std::map<std::string, GpuletSetting>& settings, Tally& tally) {
  std::vector<GpuletRequest> requests;
  for (const Json& each : told.at("requests")) {
    const GpuletRequest& request = requests.emplace_back(
        GpuletRequest{each.at("model"), each.at("rate_rps"), each.at("slo_ms")});
    require(profile.models.contains(request.model), "no model is called " + request.model);
    require(request.rate >= 1 && request.rate <= 10'000'000 && request.slo > 0,
            "rates and objectives must be above 0");
    tally.rates.published += 1;
    tally.rates.ours +=
        gpulet_rate(request.rate) == told.at("scheduled_rates").at(request.model).get<int>();
  }
  const auto plan =
      plan_gpulets(profile, settings.at(told.at("config").get<std::string>()), requests);
  const bool same_outcome = plan.has_value() == (told.at("outcome").get<std::string>() == "ok");
  tally.outcomes.published += 1;
  tally.outcomes.ours += same_outcome;
  tally.plans.published += 1;
  if (!plan) {
    tally.plans.ours += same_outcome;
    tally.gpulets.published += static_cast<double>(told.at("gpulets").size());
    return;
  }
  const Json& theirs = told.at("gpulets");
  const std::size_t equal = equal_gpulets(*plan, theirs);
  const auto used = static_cast<std::size_t>(std::count_if(
      plan->begin(), plan->end(), [](const Gpulet& each) { return !each.tasks.empty(); }));
  tally.gpulets.published += static_cast<double>(theirs.size());
  tally.gpulets.ours += static_cast<double>(equal);
  tally.plans.ours += same_outcome && equal == theirs.size() && used == theirs.size();
}

void compare(Bench& bench, const File& file, const GpuletProfile& profile,
             const std::map<std::string, GpuletSetting>& settings) {
  std::map<std::string, Tally> tallies;
  each_case(file, [&](const Json& told) {
    count(told, profile, settings, tallies[told.at("config").get<std::string>()]);
  });
  for (const auto& [setting, tally] : tallies) {
    const std::string what = fmt::format("{} {}: ", file.stem, setting);
    const auto add = [&](const char* counted, const Count& count, const char* unit) {
      bench.add(what + counted, count.published, count.ours, unit);
    };
    add("planned rates, equal", tally.rates, "models");
    add("feasible or not, equal", tally.outcomes, "mixes");
    add("gpulets, equal", tally.gpulets, "gpulets");
    add("whole plans, equal", tally.plans, "mixes");
  }
}

void make(Bench& bench) {
  std::optional<File> configs;
  std::optional<GpuletProfile> profile;
  std::map<std::string, GpuletSetting> settings;
  bench.each(kConfigs, [&](const File& file) {
    settings = read_gpulet_settings(file);
    configs = file;
  });
  if (!configs) return;
  bench.each(kLatencies, [&](const File& file) { profile = read_gpulet(bench, *configs, file); });
  if (!profile) return;
  bench.each(kPlans, [&](const File& file) { compare(bench, file, *profile, settings); });
}

}  // namespace
}  // namespace gpulet_recipe

void register_gpulet(Recipes& registry) {
  using namespace gpulet_recipe;
  registry.add({.name = "gpulet",
                .summary = "parts of GPUs that gpulet gives to models, and their batches",
                .paper = "Choi et al., ATC'22 (gpulet)",
                .kind = Kind::rerun,
                .needs = {{kConfigs, "settings and measurements of github.com/casys-kaist/glet"},
                          {kLatencies, "made up, for the measured table is not published"},
                          {kPlans, "plans of its scheduler"}},
                .make = make});
}

}  // namespace almanac::reproduce
