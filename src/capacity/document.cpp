// SPDX-License-Identifier: Apache-2.0
#include "capacity/document.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "capacity/words.h"
#include "report/shown_command.h"
#include "stats/quantile.h"
#include "table/digest.h"
#include "text/human.h"

namespace almanac::capacity {
namespace {

using figure::Unit;

Unit unit_of(const Goal& goal) {
  return goal.measure == Measure::slowdown ? Unit::ratio : Unit::seconds;
}

std::string column_of(const Goal& goal) {
  return goal.measure == Measure::slowdown ? "value" : "value_s";
}

template <typename Get>
bool vary(const Plan& plan, const Get& get) {
  return std::any_of(plan.answers.begin(), plan.answers.end(), [&](const Answer& each) {
    return std::invoke(get, each) != std::invoke(get, plan.answers.front());
  });
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

figure::Figure curve(const Plan& plan) {
  figure::Figure figure{.id = "capacity_curve",
                        .title = capitalized(plan.goal.name()) + " by number of nodes"};
  auto& partition = figure.text("partition", "Partition");
  auto& scenario = figure.text("scenario", "Scenario");
  auto& policy = figure.text("policy", "Policy");
  auto& nodes = figure.number("nodes", "Nodes", Unit::nodes);
  auto& value =
      figure.number(column_of(plan.goal), capitalized(plan.goal.name()), unit_of(plan.goal));
  int least = plan.answers.front().curve.front().nodes;
  int most = least;
  for (const Answer& answer : plan.answers) {
    for (const Point& point : answer.curve) {
      partition.add(answer.partition);
      scenario.add(answer.scenario);
      policy.add(answer.policy);
      nodes.add(point.nodes);
      value.add(std::isfinite(point.value) ? point.value : stats::kNaN);
      least = std::min(least, point.nodes);
      most = std::max(most, point.nodes);
    }
  }
  figure.caption = fmt::format(
      "Each point is one simulation of the log. The goal is {}. A size without a point was not "
      "simulated, or is too small for a job of the log.",
      plan.goal.text());
  figure.n = plan.jobs;
  figure::Chart chart{.kind = "line", .x = "nodes", .y = {column_of(plan.goal)}, .by = "policy"};
  if (vary(plan, &Answer::partition)) chart.choose.emplace_back("partition");
  if (vary(plan, &Answer::scenario)) chart.choose.emplace_back("scenario");
  chart.references.push_back({.name = "goal",
                              .x = {static_cast<double>(least), static_cast<double>(most)},
                              .y = {plan.goal.bound, plan.goal.bound}});
  figure.charts.push_back(std::move(chart));
  return figure;
}

figure::Figure answers(const Plan& plan) {
  figure::Figure figure{.id = "capacity_answers", .title = "Nodes that reach the goal"};
  auto& partition = figure.text("partition", "Partition");
  auto& scenario = figure.text("scenario", "Scenario");
  auto& policy = figure.text("policy", "Policy");
  auto& today = figure.number("nodes_today", "Nodes today", Unit::nodes);
  auto& value = figure.number(column_of(plan.goal), capitalized(plan.goal.name()) + " today",
                              unit_of(plan.goal));
  auto& nodes = figure.number("nodes", "Nodes needed", Unit::nodes);
  auto& types = figure.text("types", "By type");
  auto& gpus = figure.number("gpus", "GPUs needed", Unit::gpus);
  const bool has_cost = std::any_of(plan.answers.begin(), plan.answers.end(), [](const auto& each) {
    return std::isfinite(each.month_cost);
  });
  auto* const cost = has_cost ? &figure.number("month_cost", "Cost a month") : nullptr;
  for (const Answer& answer : plan.answers) {
    partition.add(answer.partition);
    scenario.add(answer.scenario);
    policy.add(answer.policy);
    today.add(answer.nodes_today);
    value.add(std::isfinite(answer.value_today) ? answer.value_today : stats::kNaN);
    nodes.add(answer.nodes ? *answer.nodes : stats::kNaN);
    types.add(types_in_words(answer));
    gpus.add(answer.nodes ? answer.gpus : stats::kNaN);
    if (cost != nullptr) cost->add(answer.month_cost);
  }
  figure.caption =
      "The smallest number of nodes from which on every larger simulated number reaches the goal. "
      "Nodes that are lost in a scenario are included. Empty: the goal is out of reach.";
  figure.n = plan.jobs;
  return figure;
}

/// The digest of what the report shows.
std::string hash_of(const Plan& plan) {
  std::string all = plan.goal.text();
  for (const Answer& answer : plan.answers) {
    all += fmt::format("|{}|{}|{}|", answer.partition, answer.scenario, answer.policy);
    for (const Point& point : answer.curve) all += fmt::format("{}:{},", point.nodes, point.value);
  }
  return table::sha256(all).substr(0, 16);
}

}  // namespace

figure::Document document(const Subject& subject, const Plan& plan,
                          const std::vector<std::string>& command) {
  const trace::Trace& trace = subject.log().trace;
  figure::Document made;
  made.kind = "capacity";
  made.title = std::filesystem::path(trace.path).filename().string();
  made.subtitle = fmt::format("Nodes for {}", plan.goal.text());
  made.facts = {{"nodes today", text::grouped(plan.nodes)},
                {"GPUs today", text::grouped(plan.gpus)},
                {"jobs that count", text::grouped(plan.jobs)},
                {"days", fmt::format("{:.1f}", plan.days)},
                {"simulations", text::grouped(static_cast<std::int64_t>(plan.simulations))}};
  if (plan.match) {
    made.tiles.push_back({.label = "Jobs that start as recorded",
                          .value = text::human_share(plan.match->share),
                          .detail = plan.match->is_close()
                                        ? "The simulation matches your cluster."
                                        : "The figures describe the model, not your cluster."});
  }
  for (const Total& total : totals_of(plan, subject.cases.front().name)) {
    const bool is_reached = total.out_of_reach == 0;
    made.tiles.push_back(
        {.label = "Nodes under " + total.policy,
         .value = is_reached ? text::grouped(total.nodes) : "out of reach",
         .detail = is_reached ? fmt::format("{} today.", text::grouped(total.nodes_today))
                   : total.partitions == 1
                       ? std::string("Not reached.")
                       : fmt::format("Not reached in {} of {}.", total.out_of_reach,
                                     text::counted(static_cast<std::uint64_t>(total.partitions),
                                                   "partition"))});
  }
  for (const std::string& sentence : plan.findings) {
    // The first says how far the simulation matches the cluster; the curve does not show that.
    const bool is_drawn = !made.findings.empty();
    made.findings.push_back({.headline = sentence, .figure = is_drawn ? "capacity_curve" : ""});
  }
  figure::Section first{.id = "curve", .title = "Curve", .leads = true};
  first.figures.push_back(curve(plan));
  made.sections.push_back(std::move(first));
  figure::Section second{.id = "answers", .title = "Scenarios"};
  second.figures.push_back(answers(plan));
  made.sections.push_back(std::move(second));
  for (const std::string& caution : plan.cautions) made.notes.push_back(capitalized(caution) + ".");
  for (const std::string& each : plan.assumptions) made.notes.push_back(capitalized(each) + ".");
  made.provenance = {.trace = trace.path,
                     .sha256 = trace.sha256,
                     .jobs = plan.jobs,
                     .hash = hash_of(plan),
                     .version = ALMANAC_VERSION,
                     .command = report::shown_command(command)};
  return made;
}

}  // namespace almanac::capacity
