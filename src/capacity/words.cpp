// SPDX-License-Identifier: Apache-2.0
#include "capacity/words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capacity/search.h"
#include "text/human.h"

namespace almanac::capacity {
namespace {

std::string nodes_counted(int nodes) {
  return text::counted(static_cast<std::uint64_t>(std::abs(nodes)), "node");
}

int lacking(const Answer& answer) { return *answer.nodes - answer.nodes_today; }

/// Returns "3 nodes more than today".
std::string change_in_words(int more) {
  if (more == 0) return "as many as today";
  return fmt::format("{} {} than today", nodes_counted(more), more > 0 ? "more" : "fewer");
}

/// How far the simulation is the cluster, which decides what all other figures are worth.
std::string reproduction(const Plan& plan) {
  if (!plan.match) {
    return "The log does not say when jobs started, so it is unknown whether the simulation "
           "matches your cluster.";
  }
  const std::string figures = fmt::format(
      "under {} with today's nodes, {} of the jobs start within 10 minutes of their recorded start "
      "(mean wait {}, recorded {}; p99 {}, recorded {})",
      plan.match->policy, text::human_share(plan.match->share),
      text::human_time(plan.match->simulated.mean_s), text::human_time(plan.match->recorded.mean_s),
      text::human_time(plan.match->simulated.p99_s), text::human_time(plan.match->recorded.p99_s));
  const std::string little = experiment::little_evidence(plan.match->waited, plan.match->jobs);
  if (plan.match->is_close()) {
    return fmt::format("The simulation matches {}: {}.{}",
                       little.empty() ? "your cluster" : "the log", figures, little);
  }
  return fmt::format(
      "No recommendation: the simulation does not match your cluster. Simulated {}. The figures "
      "below describe the model only.",
      figures);
}

/// What one policy needs.
std::string need(const Plan& plan, const Total& total) {
  const std::string goal = plan.goal.text();
  const bool is_one = total.partitions == 1;
  if (total.out_of_reach == total.partitions) {
    return is_one ? fmt::format("Under {}, {} do not reach {}.", total.policy,
                                nodes_counted(kMostTimes * plan.answers.front().nodes_today), goal)
                  : fmt::format("Under {}, no partition reaches {} with {} times its nodes.",
                                total.policy, goal, kMostTimes);
  }
  const std::string change = change_in_words(total.nodes - total.nodes_today);
  const auto reached = static_cast<std::uint64_t>(total.partitions - total.out_of_reach);
  std::string made =
      is_one ? fmt::format("Under {}, {} requires {}, {} ({} today: {}).", total.policy, goal,
                           nodes_counted(total.nodes), change, plan.goal.name(),
                           plan.goal.shown(total.most->value_today))
             : fmt::format("Under {}, {} requires {} in {}, {}.", total.policy, goal,
                           nodes_counted(total.nodes), text::counted(reached, "partition"), change);
  if (!is_one && lacking(*total.most) > 0) {
    made += fmt::format(" {} lacks most: {}.", total.most->partition,
                        nodes_counted(lacking(*total.most)));
  }
  if (total.out_of_reach > 0) {
    made +=
        fmt::format(" {} out of reach with {} times the nodes.",
                    total.out_of_reach == 1 ? std::string("1 partition is")
                                            : text::grouped(total.out_of_reach) + " partitions are",
                    kMostTimes);
  }
  return made;
}

/// What `other` is worth compared with `first`; "" if they cannot be compared.
std::string worth(const Total& first, const Total& other) {
  if (first.out_of_reach > 0 || other.out_of_reach > 0) return "";
  const int saved = first.nodes - other.nodes;
  if (saved == 0) {
    return fmt::format("{} needs as many nodes as {}.", other.policy, first.policy);
  }
  const int gpus = std::abs(first.gpus - other.gpus);
  std::string made = fmt::format("{} needs {} {} than {} ({}", other.policy, nodes_counted(saved),
                                 saved > 0 ? "fewer" : "more", first.policy,
                                 text::counted(static_cast<std::uint64_t>(gpus), "GPU"));
  const double money = std::abs(first.month_cost - other.month_cost);
  if (std::isfinite(money)) {
    made += fmt::format(", {} a month", text::grouped(std::llround(money)));
  }
  return made + ").";
}

}  // namespace

std::vector<Total> totals_of(const Plan& plan, const std::string& scenario) {
  std::vector<Total> totals;
  for (const std::string& policy : plan.policies) totals.push_back({.policy = policy});
  for (const Answer& answer : plan.answers) {
    if (answer.scenario != scenario) continue;
    const auto found = std::find_if(totals.begin(), totals.end(), [&](const Total& each) {
      return each.policy == answer.policy;
    });
    ++found->partitions;
    found->never_today += answer.never_today;
    if (!answer.nodes) {
      ++found->out_of_reach;
      continue;
    }
    found->nodes_today += answer.nodes_today;
    found->nodes += *answer.nodes;
    found->gpus += answer.gpus;
    found->month_cost += answer.month_cost;
    if (found->most == nullptr || lacking(answer) > lacking(*found->most)) found->most = &answer;
  }
  return totals;
}

void say_what_follows(Plan& plan, const Subject& subject) {
  plan.findings.push_back(reproduction(plan));
  const std::vector<Total> totals = totals_of(plan, subject.cases.front().name);
  for (const Total& total : totals) {
    plan.findings.push_back(need(plan, total));
    const std::string said = &total == totals.data() ? "" : worth(totals.front(), total);
    if (!said.empty()) plan.findings.push_back(said);
  }

  if (plan.is_inferred) {
    plan.cautions.emplace_back(
        "the nodes are inferred from the log, so \"today\" may be wrong; describe them with "
        "--cluster");
  }
  if (plan.days < seconds(kFewDays) / seconds(24h)) {
    plan.cautions.push_back(
        fmt::format("the log covers {:.1f} days; with less than 14, one busy day decides the "
                    "answer",
                    plan.days));
  }
  const experiment::Prepared& log = subject.log();
  const auto vcs = vcs_of_jobs(log);
  const auto left_out = std::count(vcs.begin(), vcs.end(), kNoVc);
  if (left_out > 0) {
    plan.cautions.push_back(fmt::format(
        "{} left out: not simulated, never ran, or cannot run on this cluster",
        left_out == 1 ? std::string("1 job is")
                      : text::grouped(static_cast<std::int64_t>(left_out)) + " jobs are"));
  }

  for (const Total& total : totals) {
    if (total.never_today == 0) continue;
    plan.cautions.push_back(
        fmt::format("{} never {} under {} with today's nodes and {} as waiting forever",
                    text::counted(static_cast<std::uint64_t>(total.never_today), "job"),
                    total.never_today == 1 ? "ends" : "end", total.policy,
                    total.never_today == 1 ? "counts" : "count"));
  }

  plan.assumptions.push_back(
      plan.warm_up > Duration{0}
          ? fmt::format("jobs of the first {} are simulated but do not count",
                        text::human_time(seconds(plan.warm_up)))
          : "all jobs count, although the cluster is empty at the start");
  plan.assumptions.emplace_back("jobs and run times stay the same however short waits become");
  plan.assumptions.emplace_back("added nodes are like today's, in the same proportions");
  for (const Case& what : subject.cases) {
    if (!what.detail.empty()) plan.assumptions.push_back(what.name + ": " + what.detail);
  }
}

std::string types_in_words(const Answer& answer) {
  std::vector<std::string> made;
  for (const NodesOfType& type : answer.types) {
    made.push_back(fmt::format("{} of {}", type.needed, type.type));
  }
  return fmt::format("{}", fmt::join(made, ", "));
}

std::string nodes_in_words(const Answer& answer) {
  return answer.nodes ? text::grouped(*answer.nodes)
                      : "> " + text::grouped(kMostTimes * answer.nodes_today);
}

}  // namespace almanac::capacity
