// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac capacity: how many nodes reach a goal.
#include "capacity/capacity.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/keep_memory.h"
#include "capacity/document.h"
#include "capacity/words.h"
#include "cli/cluster_option.h"
#include "cli/experiment_options.h"
#include "cli/interrupt.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/value_check.h"
#include "report/document_directory.h"
#include "report/page.h"
#include "stats/quantile.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using capacity::Answer;
using capacity::Plan;
using figure::Cell;

struct CapacityOptions {
  ExperimentOptions experiment{};
  std::string goal;
  std::string by = "cluster";
  std::string price;
  std::string out;
  double growth = 0.2;
  int lose = -1;  ///< Below 0: not given.
  int threads = 0;
  ListOptions list{};
};

constexpr const char* kReportKind = "capacity";
constexpr int kMostLost = 1'000'000;

figure::Listing rows_of(const Plan& plan, const CapacityOptions& options) {
  figure::Rows rows(plan.answers);
  const std::string unit = plan.goal.measure == capacity::Measure::slowdown ? "" : "_s";
  auto& partition = rows.add(figure::Tier::key, "partition", "PARTITION", &Answer::partition);
  if (options.by != "partition") partition.data();
  rows.add(figure::Tier::key, "scenario", "SCENARIO", &Answer::scenario);
  rows.add(figure::Tier::key, "policy", "POLICY", &Answer::policy);
  rows.add("nodes_today", "NODES", &Answer::nodes_today);
  rows.add("value_today" + unit, plan.goal.name(),
           [&](const Answer& each) {
             const std::string shown = plan.goal.shown(each.value_today);
             return std::isfinite(each.value_today) ? Cell(each.value_today, shown)
                                                    : Cell::nothing(shown);
           })
      .right();
  rows.add("nodes", "NEEDED",
           [](const Answer& each) {
             const std::string shown = capacity::nodes_in_words(each);
             return each.nodes ? Cell(*each.nodes, shown) : Cell::nothing(shown);
           })
      .key()
      .right();
  rows.add("more", "MORE",
           [](const Answer& each) {
             if (!each.nodes) return Cell();
             const int more = *each.nodes - each.nodes_today;
             return Cell(more, more == 0 ? "0" : fmt::format("{:+}", more));
           })
      .right();
  auto& cost = rows.add("month_cost", "COST A MONTH", [](const Answer& each) {
    if (!std::isfinite(each.month_cost)) return Cell();
    return Cell(each.month_cost, text::grouped(std::llround(each.month_cost)));
  });
  if (options.price.empty()) cost.data();
  rows.add("gpus", "GPUS",
           [](const Answer& each) { return each.nodes ? Cell(each.gpus) : Cell(); });
  rows.add(figure::Tier::detail, "types", "NODES BY TYPE", capacity::types_in_words);
  return rows;
}

/// How today's log and cluster were judged, above the table.
std::string introduction(const Plan& plan) {
  std::string made;
  for (const std::string& sentence : plan.findings) made += sentence + "\n";
  made += fmt::format("\nGoal: {}. {} of {:.1f} days on {} with {} ({}).\n\n", plan.goal.text(),
                      text::counted(static_cast<std::uint64_t>(plan.jobs), "job"), plan.days,
                      text::counted(static_cast<std::uint64_t>(plan.nodes), "node"),
                      text::counted(static_cast<std::uint64_t>(plan.gpus), "GPU"),
                      text::counted(plan.simulations, "simulation"));
  return made;
}

std::string explanation(const Plan& plan) {
  std::string made = "\n";
  for (const std::string& caution : plan.cautions) made += fmt::format("Note: {}.\n", caution);
  made += fmt::format("Assumptions: {}.\n", fmt::join(plan.assumptions, "; "));
  return made;
}

using Json = nlohmann::ordered_json;

/// A number that JSON has; null for NaN and infinity.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json as_json(const Answer& answer) {
  Json made{{"partition", answer.partition},
            {"scenario", answer.scenario},
            {"policy", answer.policy},
            {"nodes_today", answer.nodes_today},
            {"value_today", finite(answer.value_today)},
            {"jobs_that_never_end_today", answer.never_today},
            {"nodes", answer.nodes ? Json(*answer.nodes) : Json()},
            {"gpus", answer.nodes ? Json(answer.gpus) : Json()},
            {"month_cost", finite(answer.month_cost)}};
  made["types"] = Json::array();
  for (const auto& type : answer.types) {
    made["types"].push_back({{"type", type.type}, {"today", type.today}, {"needed", type.needed}});
  }
  made["curve"] = Json::array();
  for (const auto& point : answer.curve) {
    made["curve"].push_back({{"nodes", point.nodes}, {"value", finite(point.value)}});
  }
  return made;
}

Json as_json(const Plan& plan) {
  Json made{{"goal", plan.goal.text()},
            {"statistic", plan.goal.name()},
            {"bound", plan.goal.bound},
            {"jobs", plan.jobs},
            {"days", plan.days},
            {"warm_up_s", seconds(plan.warm_up)},
            {"nodes_today", plan.nodes},
            {"gpus_today", plan.gpus},
            {"inferred", plan.is_inferred},
            {"simulations", plan.simulations}};
  made["match"] = plan.match ? Json{{"started_as_recorded", plan.match->share},
                                    {"recorded_wait_s", plan.match->recorded.mean_s},
                                    {"simulated_wait_s", plan.match->simulated.mean_s},
                                    {"recorded_p99_wait_s", plan.match->recorded.p99_s},
                                    {"simulated_p99_wait_s", plan.match->simulated.p99_s},
                                    {"reproduces", plan.match->is_close()}}
                             : Json();
  made["answers"] = Json::array();
  for (const Answer& answer : plan.answers) made["answers"].push_back(as_json(answer));
  made["findings"] = plan.findings;
  made["cautions"] = plan.cautions;
  made["assumptions"] = plan.assumptions;
  return made;
}

Result<int> run(const CapacityOptions& options, const std::vector<std::string>& command) {
  keep_memory();  // from one run to the next
  const auto goal = capacity::parse_goal(options.goal);
  if (!goal) return tl::unexpected(goal.error());
  if (auto known = options.list.check(rows_of(Plan{.goal = *goal}, options)); !known) {
    return tl::unexpected(known.error());
  }
  auto prices = capacity::parse_prices(options.price);
  if (!prices) return tl::unexpected(prices.error());
  const auto experiment = options.experiment.parse();
  if (!experiment) return tl::unexpected(experiment.error());
  if (!options.out.empty()) {
    auto opened = report::open_document_directory(options.out, kReportKind);
    if (!opened) return tl::unexpected(opened.error());
  }
  const bool by_partition = options.by == "partition";
  const auto subject = capacity::load(
      *experiment, {.growth = options.growth,
                    .lose = options.lose < 0 ? std::nullopt : std::optional(options.lose),
                    .of_each_partition = by_partition});
  if (!subject) return tl::unexpected(subject.error());
  for (const std::string& text : subject->notes) note(text);
  Result<Plan> plan = tl::unexpected(Error{});
  {
    const ProgressBar bar("simulating sizes", [] { return stats::kNaN; });
    plan = capacity::plan(*subject, {.goal = *goal,
                                     .by_partition = by_partition,
                                     .prices = std::move(*prices),
                                     .warm_up = options.experiment.warm_up.empty()
                                                    ? std::nullopt
                                                    : std::optional(experiment->warm_up),
                                     .threads = options.threads,
                                     .stop = &interrupted()});
  }
  if (!plan) return interrupted() ? Result<int>(kInterrupted) : tl::unexpected(plan.error());
  if (!options.out.empty()) {
    const auto written =
        report::write_document(options.out, capacity::document(*subject, *plan, command));
    if (!written) return tl::unexpected(written.error());
    note(report::has_page() ? fmt::format("report: {}/report.html", options.out)
                            : std::string(report::kNoPage));
  }
  if (options.list.wants_document()) {
    fmt::print("{}\n", as_json(*plan).dump(2));
    return kDone;
  }
  if (options.list.explains()) fmt::print("{}", fitted_to_terminal(introduction(*plan)));
  return options.list.print(rows_of(*plan, options), explanation(*plan));
}

}  // namespace

void register_capacity(Program& program) {
  CLI::App& command = program.command(Purpose::simulate, "capacity",
                                      "Find how many nodes reach a goal, such as p90 wait < 1h");
  const auto options = std::make_shared<CapacityOptions>();
  options->experiment.policies = "";
  options->experiment.trace.add_to(command);
  add_cluster_option(command, options->experiment.experiment.cluster, "inferred from the log");
  command
      .add_option("--lose", options->lose,
                  "Nodes lost in a scenario (default: the largest rack, if racks are known; 0: no "
                  "such scenario)")
      ->type_name("N")
      ->check(whole_number(0, kMostLost))
      ->group(heading(Group::cluster));
  command
      .add_option("--price", options->price,
                  "Money per GPU-hour, to show the cost of a month (730 h): 2.5, or "
                  "V100=1.2,A100=2.5")
      ->type_name("PRICES")
      ->group(heading(Group::cluster));
  command
      .add_option("--policy", options->experiment.policies,
                  "Policies, separated by commas; see almanac help policies (default: almanac and "
                  "the Slurm of --cluster, or easy if that is no Slurm site)")
      ->type_name("POLICIES")
      ->check(policy_names())
      ->group(heading(Group::policies));
  command
      .add_option("--goal", options->goal,
                  "What to reach: mean, median, pNN or max; wait, completion or slowdown; < and a "
                  "time or number")
      ->type_name("GOAL")
      ->required()
      ->group(heading(Group::objective));
  command
      .add_option(
          "--by", options->by,
          "What grows. cluster: all nodes by one factor, until the cluster reaches the goal; "
          "partition: each partition until it reaches the goal")
      ->check(one_of({"cluster", "partition"}))
      ->capture_default_str()
      ->group(heading(Group::objective));
  command
      .add_option("--growth", options->growth,
                  "Additional users in a scenario, as a fraction of the GPU time (0: no such "
                  "scenario)")
      ->type_name("FRACTION")
      ->check(number(0, 1))
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command
      .add_option("--warm-up", options->experiment.warm_up,
                  "Time at the start whose jobs do not count (default: a tenth of the log, or none "
                  "of less than a week)")
      ->type_name("TIME")
      ->group(heading(Group::simulation));
  command.add_option("--seed", options->experiment.experiment.seed, "Random seed")
      ->check(seed_number())
      ->type_name("N")
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command.add_option("--threads", options->threads, "Simulations at once (default 0: all cores)")
      ->type_name("N")
      ->check(whole_number(0, kMostThreads))
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command.add_option("--out", options->out, "Directory for the report: report.html, CSV and JSON")
      ->type_name("DIR")
      ->group(heading(Group::output));
  options->list.add_to(command);
  add_example(command, "almanac capacity sacct.txt --goal 'p90 wait < 1h'");
  add_example(command,
              "almanac capacity sacct.txt --cluster slurm.conf --goal 'mean wait < 30m' "
              "--by partition --price 2.5 --out plan");
  add_example(command, "almanac capacity log.csv --goal 'mean slowdown < 3' --growth 0.5 --lose 4");
  program.on(command, [options, &program] { return run(*options, program.command_line); });
}

}  // namespace almanac::cli
