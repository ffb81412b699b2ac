// SPDX-License-Identifier: Apache-2.0
#include "energy/energy_document.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "energy/backtest.h"
#include "table/digest.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::energy {
namespace {

using figure::Figure;
using figure::Unit;
using Plans = std::vector<JudgedPlan>;

constexpr Duration kShownAhead = 3h;

double hundredths(double value) { return std::round(100 * value) / 100; }

Time time_at(const Demand& demand, std::size_t step) {
  return demand.start + demand.step * static_cast<std::int64_t>(step);
}

/// The published loop with its own buffer; nullptr where it was not compared.
const JudgedPlan* published(const Plans& plans, const CesSettings& ces) {
  const std::string setting = fmt::format("buffer {}", ces.buffer);
  for (const JudgedPlan& judged : plans) {
    if (judged.family == "published loop" && judged.setting == setting) return &judged;
  }
  return nullptr;
}

Figure draw_demand(const Demand& demand, const JudgedPlan& ours, const JudgedPlan* theirs,
                   std::size_t first) {
  Figure made{.id = "energy_demand",
              .title = "Nodes in use and nodes powered on",
              .caption =
                  "Maximum of each step. Nodes that are on but not in use idle; nodes above the "
                  "number on sleep.",
              .n = static_cast<std::int64_t>(demand.used.size() - first)};
  auto& time = made.time("time_s", "Time");
  auto& used = made.number("used_nodes", "In use", Unit::nodes);
  auto& on = made.number("on_nodes", "On: " + ours.figures.plan, Unit::nodes);
  auto& loop = made.number("published_nodes", "On: published loop", Unit::nodes);
  auto& total = made.number("total_nodes", "All nodes", Unit::nodes);
  for (std::size_t at = first; at < demand.used.size(); ++at) {
    time.add(seconds(time_at(demand, at)));
    used.add(demand.used[at]);
    on.add(ours.plan.on[at]);
    loop.add(theirs != nullptr ? theirs->plan.on[at] : std::numeric_limits<double>::quiet_NaN());
    total.add(demand.total[at]);
  }
  made.charts.push_back({.kind = "step",
                         .x = "time_s",
                         .y = {"used_nodes", "on_nodes", "published_nodes", "total_nodes"}});
  return made;
}

Figure draw_frontier(const Plans& plans) {
  Figure made{.id = "energy_frontier",
              .title = "Sleeping nodes against delayed jobs",
              .caption =
                  "One point per plan, over the evaluated days. Up and to the left is better. The "
                  "published loop with half to twice its buffer; standby at rising prices of a "
                  "delay. The optimum is an oracle: it knows future demand.",
              .n = static_cast<std::int64_t>(plans.size())};
  auto& family = made.text("family", "Plan");
  auto& setting = made.text("setting", "Setting");
  auto& delayed = made.number("delayed_a_day", "Delayed requests per day");
  auto& asleep = made.number("nodes_asleep", "Nodes asleep", Unit::nodes);
  auto& wake_ups = made.number("wake_ups_a_day", "Wake-ups per day");
  std::vector<const JudgedPlan*> sorted;
  for (const JudgedPlan& judged : plans) sorted.push_back(&judged);
  std::stable_sort(sorted.begin(), sorted.end(), [](const JudgedPlan* a, const JudgedPlan* b) {
    return a->figures.delayed_a_day < b->figures.delayed_a_day;
  });
  for (const JudgedPlan* judged : sorted) {
    family.add(judged->family);
    setting.add(judged->setting);
    delayed.add(hundredths(judged->figures.delayed_a_day));
    asleep.add(hundredths(judged->figures.nodes_asleep));
    wake_ups.add(hundredths(judged->figures.wake_ups_a_day));
  }
  made.charts.push_back({.kind = "points",
                         .title = "Nodes asleep",
                         .x = "delayed_a_day",
                         .y = {"nodes_asleep"},
                         .by = "family"});
  made.charts.push_back({.kind = "points",
                         .title = "Wake-ups",
                         .x = "delayed_a_day",
                         .y = {"wake_ups_a_day"},
                         .by = "family"});
  return made;
}

Figure draw_plans(const Plans& plans) {
  Figure made{.id = "energy_plans",
              .title = "Every plan",
              .caption =
                  "A request for a sleeping node waits for it to boot. Saved: kWh of the facility, "
                  "compared with all nodes on.",
              .n = static_cast<std::int64_t>(plans.size())};
  auto& name = made.text("plan", "Plan");
  auto& asleep = made.number("nodes_asleep", "Nodes asleep", Unit::nodes);
  auto& wake_ups = made.number("wake_ups_a_day", "Wake-ups per day");
  auto& woken = made.number("nodes_woken_a_day", "Nodes woken per day", Unit::nodes);
  auto& delayed = made.number("delayed_a_day", "Delayed requests per day");
  auto& share = made.number("delayed_share", "Delayed, share of all requests", Unit::fraction);
  auto& energy = made.number("energy_kwh", "Energy, kWh");
  auto& saved = made.number("saved_kwh", "Saved, kWh");
  for (const JudgedPlan& judged : plans) {
    const PlanFigures& row = judged.figures;
    name.add(row.plan);
    asleep.add(hundredths(row.nodes_asleep));
    wake_ups.add(hundredths(row.wake_ups_a_day));
    woken.add(hundredths(row.nodes_woken_a_day));
    delayed.add(hundredths(row.delayed_a_day));
    share.add(row.delayed_share);
    energy.add(std::round(row.energy_kwh));
    saved.add(std::round(row.saved_kwh));
  }
  return made;
}

Figure draw_calibration(const Backtest& test, const std::vector<double>& levels) {
  Figure made{
      .id = "energy_calibration",
      .title = "Calibration of the forecast",
      .caption =
          "How often the demand three hours later did not exceed each quantile. A calibrated "
          "forecast lies on the diagonal; demand that stays constant for hours lies above it.",
      .n = static_cast<std::int64_t>(test.outcomes.size())};
  auto& level = made.number("level", "Quantile", Unit::fraction);
  auto& covered = made.number("covered", "Did not exceed it", Unit::fraction);
  for (std::size_t at = 0; at < levels.size(); ++at) {
    level.add(levels[at]);
    covered.add(std::round(1e4 * test.coverage[at]) / 1e4);
  }
  made.charts.push_back({.kind = "line",
                         .x = "level",
                         .y = {"covered"},
                         .references = {{.name = "as it says", .x = levels, .y = levels}}});
  return made;
}

/// Counts the plans of the published loop for which one of ours delays no more and sleeps more.
void add_comparison(figure::Document& document, const Plans& plans) {
  int compared = 0;
  int better = 0;
  for (const JudgedPlan& theirs : plans) {
    if (theirs.family != "published loop") continue;
    ++compared;
    better += std::any_of(plans.begin(), plans.end(), [&](const JudgedPlan& ours) {
      return ours.family == "standby" &&
             ours.figures.delayed_a_day <= theirs.figures.delayed_a_day &&
             ours.figures.nodes_asleep >= theirs.figures.nodes_asleep;
    });
  }
  document.findings.push_back(
      {.headline =
           fmt::format("Standby is at least as good as {} of {} settings of the published loop.",
                       better, compared),
       .detail = "For each of these there is a price at which standby delays no more requests and "
                 "lets at least as many nodes sleep.",
       .figure = "energy_frontier",
       .advice = {}});
}

}  // namespace

figure::Document energy_document(const Demand& demand, const Plans& plans,
                                 const FrontierOptions& options) {
  const JudgedPlan& ours = chosen_plan(plans, options.prices);
  const PlanFigures& got = ours.figures;
  ForecastOptions forecast{.start = demand.start, .step = demand.step};
  forecast.horizon = std::max<std::size_t>(1, static_cast<std::size_t>(kShownAhead / demand.step));
  const std::vector<double> used(demand.used.begin(), demand.used.end());
  const Backtest test = backtest(used, time_at(demand, options.first), forecast);

  figure::Document document;
  document.kind = "energy";
  document.title = "Node power-down";
  const std::size_t steps = demand.used.size() - options.first;
  const double days = static_cast<double>(steps) * seconds(demand.step) / 86400;
  document.subtitle = fmt::format(
      "{} to {}, {} plans compared", text::format_datetime(time_at(demand, options.first)),
      text::format_datetime(time_at(demand, demand.used.size())), plans.size());
  document.facts = {{"days", fmt::format("{:.1f}", days)},
                    {"nodes", text::grouped(demand.total.back())},
                    {"power model", options.power.name},
                    {"price of a delay", fmt::format("{:g} node-hours", options.prices.delayed)}};
  document.findings.push_back(
      {.headline = fmt::format("On average {:.1f} nodes can sleep, which saves {} kWh per day.",
                               got.nodes_asleep, text::grouped(std::llround(got.saved_kwh / days))),
       .detail =
           fmt::format("Under {}: {:.1f} requests a day wait for a boot ({:.2g} % of all), and "
                       "nodes are woken {:.1f} times a day.",
                       got.plan, got.delayed_a_day, 100 * got.delayed_share, got.wake_ups_a_day),
       .figure = "energy_demand",
       .advice = {}});
  add_comparison(document, plans);
  if (!test.outcomes.empty()) {
    document.findings.push_back(
        {.headline = fmt::format("Three hours ahead, the forecast is off by {:.2f} %; assuming no "
                                 "change is off by {:.2f} %.",
                                 test.smape, test.persistence_smape),
         .detail = "Symmetric mean absolute percentage error.",
         .figure = "energy_calibration",
         .advice = {}});
  }
  document.sections.push_back({.id = "demand", .title = "Demand", .text = {}, .figures = {}});
  document.sections.back().figures.push_back(
      draw_demand(demand, ours, published(plans, options.ces), options.first));
  document.sections.push_back({.id = "plans", .title = "Plans", .text = {}, .figures = {}});
  document.sections.back().figures.push_back(draw_frontier(plans));
  document.sections.back().figures.push_back(draw_plans(plans));
  if (!test.outcomes.empty()) {
    document.sections.push_back({.id = "forecast", .title = "Forecast", .text = {}, .figures = {}});
    document.sections.back().figures.push_back(draw_calibration(test, forecast.levels));
  }
  std::string content;
  for (const JudgedPlan& judged : plans) {
    content += fmt::format("{} {} {}\n", judged.figures.plan, judged.figures.nodes_asleep,
                           judged.figures.delayed_a_day);
  }
  document.provenance.hash = table::sha256(content).substr(0, 16);
  return document;
}

}  // namespace almanac::energy
