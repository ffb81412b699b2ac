// SPDX-License-Identifier: Apache-2.0

/// \file
/// The integer programs by which Sia deals out GPUs of several types, case by case.
///
/// Source   Jayaram Subramanya et al., SOSP'23, section 3.4; optima of an independent solver.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "rules/elastic/typed_program.h"

namespace almanac::reproduce {

void register_sia(Recipes& registry);

namespace sia_recipe {
namespace {

constexpr const char* kPrograms = "golden/elastic/sia/*.json";
/// The published program counts in 32-bit floats.
constexpr double kTolerance = 2e-5;

struct Program {
  std::vector<int> gpus_by_type;
  std::vector<elastic::TypedConfiguration> configurations;
  std::vector<elastic::TypedJob> jobs;
  elastic::TypedTerms terms;
};

elastic::TypedJob read_job(const Json& job, std::size_t configurations) {
  elastic::TypedJob made{.goodputs = job.at("goodput"),
                         .restart_factor = job.at("realloc_factor"),
                         .is_frozen = job.at("frozen")};
  require(made.goodputs.size() == configurations, "expected a goodput for each configuration");
  require(std::all_of(made.goodputs.begin(), made.goodputs.end(), [](double g) { return g > 0; }),
          "goodputs must be positive");
  if (!job.at("prev_config").is_null()) {
    made.present = job.at("prev_config").get<std::size_t>();
    require(*made.present < configurations, "prev_config is no configuration");
  }
  return made;
}

Program read_program(const Json& each) {
  Program made;
  made.terms = {.fairness = each.at("p"), .idle_price = each.at("lambda_n")};
  std::vector<std::string> names;
  for (const auto& [name, cluster] : each.at("clusters").items()) {
    names.push_back(name);
    made.gpus_by_type.push_back(cluster.at("nodes").get<int>() *
                                cluster.at("gpus_per_node").get<int>());
  }
  for (const Json& configuration : each.at("configs")) {
    const auto type = std::find(names.begin(), names.end(), configuration.at(0).get<std::string>());
    require(type != names.end(), "a configuration is of no cluster");
    made.configurations.push_back(
        {.type = static_cast<std::size_t>(type - names.begin()), .gpus = configuration.at(2)});
    require(made.configurations.back().gpus >= 1, "a configuration has no GPUs");
  }
  for (const Json& job : each.at("jobs")) {
    made.jobs.push_back(read_job(job, made.configurations.size()));
  }
  return made;
}

void compare(Bench& bench, const File& file) {
  double programs = 0, equal = 0, published = 0, ours = 0;
  each_case(file, [&](const Json& each) {
    const Program program = read_program(each);
    const auto choice = elastic::choose_types(program.configurations, program.gpus_by_type,
                                              program.jobs, program.terms);
    const double objective = choice ? choice->objective : std::numeric_limits<double>::quiet_NaN();
    const double expected = each.at("objective");
    ++programs;
    equal += std::abs(objective - expected) <= kTolerance ? 1 : 0;
    published += expected;
    ours += objective;
  });
  bench.add(fmt::format("{}: programs with the optimal objective", file.name), programs, equal,
            "programs");
  bench.add(fmt::format("{}: sum of the objectives", file.name), published, ours, "");
}

}  // namespace
}  // namespace sia_recipe

void register_sia(Recipes& registry) {
  using namespace sia_recipe;
  registry.add({.name = "sia",
                .summary = "optima of the integer programs of Sia",
                .paper = "Jayaram Subramanya et al., SOSP'23, section 3.4",
                .kind = Kind::second,
                .needs = {{kPrograms, "programs derived from the rules of the paper (sia)"}},
                .make = [](Bench& bench) {
                  bench.each(kPrograms, [&](const File& file) { compare(bench, file); });
                }});
}

}  // namespace almanac::reproduce
