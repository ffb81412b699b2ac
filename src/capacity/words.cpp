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

std::string where(const Answer& answer) {
  return answer.partition == "all" ? "" : fmt::format(" in {}", answer.partition);
}

/// What one policy needs.
std::string need(const Plan& plan, const Answer& answer) {
  if (!answer.nodes) {
    return fmt::format("Under {}, {} are too few for {}{}.", answer.policy,
                       nodes_counted(kMostTimes * answer.nodes_today), plan.goal.text(),
                       where(answer));
  }
  const int more = *answer.nodes - answer.nodes_today;
  const std::string change = more > 0   ? fmt::format("{} more than today", nodes_counted(more))
                             : more < 0 ? fmt::format("{} fewer than today", nodes_counted(more))
                                        : "as many as today";
  return fmt::format("Under {}, {} reach {}{}, {} (today: {}).", answer.policy,
                     nodes_counted(*answer.nodes), plan.goal.text(), where(answer), change,
                     plan.goal.shown(answer.value_today));
}

/// What `other` is worth compared with `first`; "" if either has no answer.
std::string worth(const Answer& first, const Answer& other) {
  if (!first.nodes || !other.nodes) return "";
  const int saved = *first.nodes - *other.nodes;
  if (saved == 0) {
    return fmt::format("{} needs as many nodes as {}{}.", other.policy, first.policy, where(first));
  }
  const int gpus = std::abs(first.gpus - other.gpus);
  std::string made = fmt::format("{} needs {} {} than {}{} ({}", other.policy, nodes_counted(saved),
                                 saved > 0 ? "fewer" : "more", first.policy, where(first),
                                 text::counted(static_cast<std::uint64_t>(gpus), "GPU"));
  const double money = std::abs(first.month_cost - other.month_cost);
  if (std::isfinite(money)) {
    made += fmt::format(", {} a month", text::grouped(std::llround(money)));
  }
  return made + ").";
}

}  // namespace

void say_what_follows(Plan& plan, const Subject& subject) {
  const std::string& as_logged = subject.cases.front().name;
  const Answer* first = nullptr;  // of the first policy in the partition
  for (const Answer& answer : plan.answers) {
    if (answer.scenario != as_logged) continue;
    plan.findings.push_back(need(plan, answer));
    if (answer.policy == plan.policies.front()) {
      first = &answer;
    } else if (const std::string said = worth(*first, answer); !said.empty()) {
      plan.findings.push_back(said);
    }
  }

  if (plan.match && !plan.match->is_close()) {
    plan.cautions.push_back(fmt::format(
        "under {} with today's nodes the simulated mean wait is {}, recorded {}; {} of the jobs "
        "start within 10 minutes of their recorded start. The figures describe a model that is "
        "not this cluster",
        plan.policies.front(), text::human_time(plan.match->simulated_wait_s),
        text::human_time(plan.match->recorded_wait_s), text::human_share(plan.match->share)));
  }
  if (!plan.match) {
    plan.cautions.emplace_back(
        "the log does not say when jobs started, so nothing shows that the simulation matches the "
        "cluster");
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
