// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs on one link: Cassini's score as they come, and shifted as well as can be.
///
/// Source   Rajasekaran et al., NSDI'24 (Cassini), section 3.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulas/link_score.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"

namespace almanac::reproduce {

void register_network(Recipes& registry);

namespace network_recipe {
namespace {

constexpr const char* kCases = "golden/elastic/network/*.json";

links::Sender read_sender(const Json& job) {
  links::Sender sender;
  sender.period_ms = job.at("period_ms");
  require(sender.period_ms > 0 && sender.period_ms <= 100'000,
          "period_ms must be from 1 to 100000");
  for (const Json& up : job.at("up")) {
    const links::Phase phase{up.at(0), up.at(1), up.at(2)};
    require(phase.from_ms >= 0 && phase.from_ms <= phase.to_ms && phase.to_ms <= sender.period_ms,
            "a phase must lie within the period");
    sender.phases.push_back(phase);
  }
  return sender;
}

void compare(Bench& bench, const File& file) {
  std::size_t cases = 0;
  std::size_t equal = 0;
  std::size_t shifts = 0;
  double worst = 0;
  double published = 0;
  double ours = 0;
  each_case(file, [&](const Json& each) {
    std::vector<links::Sender> senders;
    double tries = 1;
    for (const Json& job : each.at("jobs")) {
      senders.push_back(read_sender(job));
      if (senders.size() > 1) tries *= senders.back().period_ms;
    }
    const double capacity = each.at("capacity_gbps");
    require(!senders.empty() && capacity > 0, "a case has a job and a capacity");
    const auto perimeter = static_cast<double>(links::perimeter_ms(senders));
    require(perimeter * tries <= 1e10, "more shifts than can be tried");
    const links::Alignment best = links::align(senders, capacity);
    const std::vector<int> none(senders.size(), 0);
    const double there = each.at("best_score");
    const double unshifted = each.at("score_unshifted");
    const double difference =
        std::max(std::abs(links::link_score(senders, none, capacity) - unshifted),
                 std::abs(best.score - there));
    worst = std::max(worst, difference);
    ++cases;
    equal += difference <= 1e-9 ? 1 : 0;
    if (each.contains("first_best_shift_ms")) {
      shifts += best.shifts_ms == each.at("first_best_shift_ms").get<std::vector<int>>() ? 1 : 0;
    }
    published += there;
    ours += best.score;
  });
  const auto count = static_cast<double>(cases);
  bench.add(fmt::format("{}: links with equal scores, as they come and shifted (1e-9)", file.name),
            count, static_cast<double>(equal), "links");
  bench.add(fmt::format("{}: links with the same first best shifts", file.name), count,
            static_cast<double>(shifts), "links");
  bench.add(fmt::format("{}: largest difference of a score", file.name), 0, worst, "");
  bench.add(fmt::format("{}: mean best score", file.name), published / count, ours / count, "");
}

}  // namespace
}  // namespace network_recipe

void register_network(Recipes& registry) {
  using namespace network_recipe;
  registry.add({.name = "network",
                .summary = "jobs that send in phases on one link, shifted so that they meet least",
                .paper = "Rajasekaran et al., NSDI'24, section 3",
                .kind = Kind::second,
                .needs = {{kCases, "cases worked out by trying every shift (cassini)"}},
                .make = [](Bench& bench) {
                  bench.each(kCases, [&](const File& file) { compare(bench, file); });
                }});
}

}  // namespace almanac::reproduce
