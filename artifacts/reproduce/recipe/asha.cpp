// SPDX-License-Identifier: Apache-2.0

/// \file
/// How ASHA and HyperSched cut trials of a sweep, and what HyperSched gives to those that go on.
///
/// Source   Li et al., MLSys'20 (ASHA), Table 1; Liaw et al., SoCC'19 (HyperSched).
#include "rules/elastic/sweep/asha.h"

#include <array>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "rules/elastic/sweep/hyper_rungs.h"

namespace almanac::reproduce {

void register_asha(Recipes& registry);

namespace asha_recipe {
namespace {

using elastic::Leftovers;
using elastic::TrialId;
using elastic::Verdict;

constexpr const char* kCases = "golden/elastic/hypersched/*.json";

/// A bracket of Table 1: 9 trials, at most 9 iterations, one in three goes on.
struct Bracket {
  double grace = 1;
  std::vector<std::size_t> trials{};  ///< Of each rung, the lowest first.
};

/// Trials that come to the lowest rung in order of their scores, the best last, and go on as they
/// are let.
std::vector<std::size_t> rung_counts(double grace) {
  constexpr TrialId kTrials = 9;
  elastic::Asha asha({.reduction = 3, .grace = grace, .most = 9});
  const std::vector<double> iterations(asha.milestones().rbegin(), asha.milestones().rend());
  for (TrialId trial = 0; trial < kTrials; ++trial) {
    asha.report(trial, iterations.front(), static_cast<double>(-trial));
  }
  std::map<TrialId, std::size_t> next_rung;
  for (;;) {
    const auto promoted = asha.promote();
    if (!promoted) break;
    const auto rung = ++next_rung[*promoted];
    asha.report(*promoted, iterations.at(rung), static_cast<double>(-*promoted));
  }
  const std::vector<std::size_t> counts = asha.counts();
  return {counts.rbegin(), counts.rend()};
}

void add_table_1(Bench& bench) {
  const std::array<Bracket, 3> brackets{{{1, {9, 3, 1}}, {3, {9, 3}}, {9, {9}}}};
  for (std::size_t each = 0; each < brackets.size(); ++each) {
    const std::vector<std::size_t> ours = rung_counts(brackets[each].grace);
    for (std::size_t rung = 0; rung < brackets[each].trials.size(); ++rung) {
      bench.add({.what = fmt::format("Table 1, bracket {}: trials of rung {}", each, rung),
                 .published = static_cast<double>(brackets[each].trials[rung]),
                 .ours = rung < ours.size() ? static_cast<double>(ours[rung]) : 0,
                 .unit = "trials",
                 .kind = Kind::figure});
    }
  }
}

std::string_view name_of(Verdict verdict) {
  return verdict == Verdict::go_on ? "CONTINUE" : verdict == Verdict::pause ? "PAUSE" : "STOP";
}

struct Tally {
  double all = 0, equal = 0;
};

void play_events(const Json& each, Tally& decisions) {
  const elastic::RungOptions options{.reduction = each.at("reduction_factor"),
                                     .grace = each.at("grace"),
                                     .most = each.at("max_t"),
                                     .pauses = each.at("pausing")};
  require(options.reduction > 1 && options.grace > 0 && options.most >= options.grace,
          "the rungs contradict each other");
  elastic::HyperRungs rungs(options);
  for (const Json& event : each.at("events")) {
    const TrialId trial = event.at(0);
    if (event.at(1).is_string()) {
      rungs.resume(trial);
      continue;
    }
    const Verdict verdict = rungs.report(trial, event.at(1), event.at(2));
    ++decisions.all;
    decisions.equal += event.at(3) == name_of(verdict) &&
                               event.at(4).get<std::vector<TrialId>>() == rungs.resumable()
                           ? 1
                           : 0;
  }
}

Leftovers leftovers_of(const std::string& name) {
  if (name == "UNIFORM") return Leftovers::uniform;
  if (name == "TOP_JOB") return Leftovers::top;
  if (name == "NONE") return Leftovers::none;
  require(name == "SOFTMAX", fmt::format("there is no policy {}", name));
  return Leftovers::softmax;
}

void deal(const Json& each, Tally& allocations) {
  const std::vector<double> scores = each.at("scores");
  const int units = each.at("total_atoms");
  require(units >= 0 && units <= 1'000'000, "total_atoms is out of range");
  const auto ours = elastic::deal_units(scores, units, leftovers_of(each.at("policy")),
                                        each.at("max_atoms_per_trial"));
  ++allocations.all;
  allocations.equal += each.at("allocation").get<std::vector<int>>() == ours ? 1 : 0;
}

void compare(Bench& bench, const File& file) {
  Tally decisions;
  Tally allocations;
  each_case(file, [&](const Json& all) {
    for (const Json& each : all.at("rungs")) play_events(each, decisions);
    for (const Json& each : all.at("reallocate")) deal(each, allocations);
  });
  bench.add(fmt::format("{}: reports with decision and trials that may resume", file.name),
            decisions.all, decisions.equal, "reports");
  bench.add(fmt::format("{}: allocations with the units of each trial", file.name), allocations.all,
            allocations.equal, "allocations");
}

}  // namespace
}  // namespace asha_recipe

void register_asha(Recipes& registry) {
  using namespace asha_recipe;
  registry.add({.name = "asha",
                .summary = "trials that ASHA lets go on; decisions and allocations of HyperSched",
                .paper = "Li et al., MLSys'20, Table 1; Liaw et al., SoCC'19",
                .kind = Kind::rerun,
                .needs = {{kCases, "HyperSched's code on random sequences (hypersched)"}},
                .make = [](Bench& bench) {
                  add_table_1(bench);
                  bench.each(kCases, [&](const File& file) { compare(bench, file); });
                }});
}

}  // namespace almanac::reproduce
