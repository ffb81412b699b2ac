// SPDX-License-Identifier: Apache-2.0
#include "report/run_energy.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Summary;

constexpr double kJoulesPerKwh = 3.6e6;

/// Returns the saved fraction of the energy that nodes would have used without sleep.
double share_saved(const Summary& s) { return s.energy_saved_j / (s.energy_j + s.energy_saved_j); }

/// Where the numbers of a node come from: the nodes of the log were never measured.
std::string whose_power(const experiment::Prepared& prepared) {
  const experiment::Experiment& experiment = prepared.experiment;
  if (experiment.power != experiment::Experiment{}.power) {
    return fmt::format("Power model {}:", prepared.power.name);
  }
  return fmt::format("Power model {}, assumed (choose another with --power):", prepared.power.name);
}

}  // namespace

figure::Figure draw_energy(const std::vector<PolicyDigest>& policies,
                           const experiment::Prepared& prepared) {
  using figure::Unit;
  const energy::PowerModel& power = prepared.power;
  figure::Figure figure{.id = "run_energy", .title = "Energy"};
  auto& name = figure.text("policy", "Policy");
  for (const PolicyDigest& each : policies) name.add(each.summary.policy);
  const auto numbers = [&](const char* column, const std::string& label, Unit unit, auto value) {
    auto& values = figure.number(column, label, unit);
    for (const PolicyDigest& each : policies) values.add(value(each.summary));
  };
  numbers("nodes_asleep", "Mean nodes asleep", Unit::nodes,
          [](const Summary& s) { return s.nodes_asleep; });
  numbers("wake_ups_a_day", "Wake-ups per day", Unit::none,
          [](const Summary& s) { return s.wake_ups_a_day; });
  numbers("nodes_woken_a_day", "Nodes woken per day", Unit::nodes,
          [](const Summary& s) { return s.nodes_woken_a_day; });
  numbers("jobs_held_back", "Jobs delayed by a boot", Unit::jobs,
          [](const Summary& s) { return static_cast<double>(s.jobs_held_back); });
  numbers("avg_hold_s", "Mean delay", Unit::seconds, [](const Summary& s) { return s.avg_hold_s; });
  numbers("energy_kwh", "Node energy, kWh", Unit::none,
          [](const Summary& s) { return s.energy_j / kJoulesPerKwh; });
  numbers("saved_kwh", "Saved by sleep, kWh", Unit::none,
          [](const Summary& s) { return s.energy_saved_j / kJoulesPerKwh; });
  numbers("saved", "Saved by sleep, share", Unit::fraction, share_saved);
  numbers("bound_kwh", "Minimum for this schedule, kWh", Unit::none,
          [](const Summary& s) { return s.energy_bound_j / kJoulesPerKwh; });
  numbers("facility_kwh", "Facility energy, kWh", Unit::none,
          [](const Summary& s) { return s.facility_kwh; });
  numbers("cost", fmt::format("Cost, {}", power.facility.currency), Unit::none,
          [](const Summary& s) { return s.cost; });
  numbers("kg_co2", "Carbon dioxide, kg", Unit::none, [](const Summary& s) { return s.kg_co2; });
  numbers("jobs_kwh", "Part of jobs, kWh", Unit::none, [](const Summary& s) { return s.jobs_kwh; });
  numbers("jobs_cost", fmt::format("Part of jobs, {}", power.facility.currency), Unit::none,
          [](const Summary& s) { return s.jobs_cost; });
  numbers("jobs_kg_co2", "Part of jobs, kg CO2", Unit::none,
          [](const Summary& s) { return s.jobs_kg_co2; });
  figure.caption = fmt::format(
      "{} a node of {} GPUs draws {:g} W idle, {:g} W with all GPUs busy and {:g} W asleep, and "
      "boots in {}. Allocated GPUs count as fully used. The facility draws {:g} times as much; "
      "cost "
      "and carbon dioxide are the facility's. "
      "Saved: what sleeping and booting nodes would have drawn idle. Minimum: the energy of the "
      "same schedule if nodes slept whenever that pays, with all future starts known. Part of "
      "jobs: "
      "what GPUs in use add to idle nodes, with cooling; it alone depends on when jobs run, while "
      "the whole also grows with the time until the last job ends.",
      whose_power(prepared), power.gpus, power.idle_w, power.full_w, power.asleep_w,
      text::human_time(power.boot_s), power.facility.pue);
  const bool any_slept = std::any_of(policies.begin(), policies.end(), [](const auto& each) {
    return each.summary.energy_saved_j > 0;
  });
  figure::Chart chart{.kind = "bar",
                      .title = "Node energy, kWh",
                      .x = "policy",
                      .y = {"energy_kwh", "bound_kwh"},
                      .sorted = true};
  if (any_slept) {
    chart.title = "Node energy and energy saved by sleep, kWh";
    chart.y = {"energy_kwh", "saved_kwh", "bound_kwh"};
  }
  figure.charts.push_back(std::move(chart));
  return figure;
}

std::optional<figure::Finding> energy_finding(const std::vector<PolicyDigest>& policies) {
  const auto most = std::max_element(policies.begin(), policies.end(),
                                     [](const PolicyDigest& a, const PolicyDigest& b) {
                                       return a.summary.energy_saved_j < b.summary.energy_saved_j;
                                     });
  const Summary& s = most->summary;
  if (s.nodes_asleep <= 0) return std::nullopt;
  const auto held_back = static_cast<std::int64_t>(s.jobs_held_back);
  return figure::Finding{
      .headline =
          fmt::format("Under {} {:.1f} nodes sleep on average, which saves {} of the energy.",
                      marked_name(s), s.nodes_asleep, text::human_share(share_saved(s))),
      .detail = held_back > 0
                    ? fmt::format("{} jobs waited for nodes to boot, {} on average.",
                                  text::grouped(held_back), text::human_time(s.avg_hold_s))
                    : "No job waited for a node to boot.",
      .figure = "run_energy"};
}

}  // namespace almanac::report
