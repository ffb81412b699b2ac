// SPDX-License-Identifier: Apache-2.0
#include "report/run_findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "policy/recommended.h"
#include "report/run_dues.h"
#include "report/run_energy.h"
#include "report/run_losers.h"
#include "report/run_speed_findings.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Summary;
using figure::Finding;
using text::grouped;
using text::human_share;
using text::human_time;
using Policies = std::vector<PolicyDigest>;

std::string count(std::uint64_t number, const char* one, const char* more) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(number)), number == 1 ? one : more);
}

/// 1762 as "1,762", 0.3333 as "0.33".
std::string amount(double value) {
  return value < 10 ? fmt::format("{:.2g}", value) : grouped(std::llround(value));
}

/// The policy with the lowest mean completion time of those that `fit`.
template <class Fit>
std::optional<std::size_t> best_of(const Policies& policies, Fit fit) {
  std::optional<std::size_t> best;
  for (std::size_t at = 0; at < policies.size(); ++at) {
    const Summary& summary = policies[at].summary;
    if (std::isnan(summary.avg_jct_s) || !fit(summary)) continue;
    if (!best || summary.avg_jct_s < policies[*best].summary.avg_jct_s) best = at;
  }
  return best;
}

/// Names the interrupted policies: their figures cover other jobs than those of the rest.
std::optional<Finding> interrupted(const RunInput& input, const Policies& policies) {
  std::string cut;
  for (const PolicyDigest& each : policies) {
    if (each.summary.complete) continue;
    cut += fmt::format("{}{} after {}", cut.empty() ? "" : ", ", each.summary.policy,
                       grouped(static_cast<std::int64_t>(each.summary.jobs)));
  }
  if (cut.empty()) return std::nullopt;
  return Finding{
      .headline = fmt::format("The run was interrupted: {} of {} jobs.", cut,
                              grouped(static_cast<std::int64_t>(input.trace().jobs.size()))),
      .detail =
          "The findings below leave interrupted policies out. Their averages cover early jobs "
          "only, which wait less than later ones.",
      .figure = "run_comparison",
      .advice = "Run the command to its end, or simulate fewer policies."};
}

/// "38 % sooner than under fifo (7h 59m)": less than half a percent is no difference.
std::string compared_with(const Summary& best, const Summary& first) {
  const double sooner = 1 - best.avg_jct_s / first.avg_jct_s;
  constexpr double kNone = 0.005;
  const std::string than =
      fmt::format("under {} ({})", marked_name(first), human_time(first.avg_jct_s));
  return sooner < kNone ? "as soon as " + than
                        : fmt::format("{} sooner than {}", human_share(sooner), than);
}

/// What to choose if jobs can be stopped, or if the best policy is an oracle.
std::string advice_on(const Policies& policies, const Summary& best) {
  if (best.bound) {
    const bool all = std::all_of(policies.begin(), policies.end(),
                                 [](const PolicyDigest& each) { return each.summary.bound; });
    return all && policies.size() > 1
               ? "Every policy here is an oracle: it uses true run times, which no real cluster "
                 "knows. Add one that does not, such as qssf."
               : fmt::format(
                     "{} is an oracle: it uses true run times, which no real cluster "
                     "knows. Expect less.",
                     best.policy);
  }
  if (needs_checkpoints(best)) {
    return fmt::format("{} preempts jobs, so they must be able to resume from a checkpoint.",
                       best.policy);
  }
  const Summary* const faster = faster_with_checkpoints(summary_rows(policies), best);
  if (faster == nullptr) return {};
  return fmt::format(
      "{} preempts jobs. If every job can resume from a checkpoint, it is faster: {} on average.",
      faster->policy, human_time(faster->avg_jct_s));
}

/// What the best oracle reaches, if that is better than the best deployable policy.
std::string beyond(const Policies& policies, const Summary& best) {
  const auto bound =
      best_of(policies, [](const Summary& each) { return each.bound && each.complete; });
  if (best.bound || !bound) return {};
  const Summary& summary = policies[*bound].summary;
  if (!(summary.avg_jct_s < best.avg_jct_s)) return {};
  return fmt::format(" For comparison: the oracle {} reaches a mean completion time of {}.",
                     summary.policy, human_time(summary.avg_jct_s));
}

Finding completion(const Policies& policies, std::size_t at) {
  const Summary& best = policies[at].summary;
  const Summary& first = policies.front().summary;
  Finding finding{.figure = "run_comparison"};
  if (best.finished == 0) {
    finding.headline = "No job finished.";
    return finding;
  }
  const std::string name = marked_name(best);
  finding.detail =
      fmt::format("Completion time: median {}, p99 {}. Mean wait: {}.", human_time(best.p50_jct_s),
                  human_time(best.p99_jct_s), human_time(best.avg_wait_s));
  const std::string left = beyond(policies, best);
  const bool is_fastest = faster_with_checkpoints(summary_rows(policies), best) == nullptr;
  if (policies.size() == 1) {
    finding.headline = fmt::format("Under {} the average job finishes {} after its submission.",
                                   name, human_time(best.avg_jct_s));
  } else if (at == 0) {
    finding.headline =
        fmt::format("No {}policy {}has a shorter mean completion time than {} ({}).",
                    left.empty() ? "" : "deployable ", is_fastest ? "" : "without preemption ",
                    name, human_time(best.avg_jct_s));
  } else if (best.avg_jct_s < first.avg_jct_s) {
    finding.headline = fmt::format("Under {} the average job finishes after {}, {}.", name,
                                   human_time(best.avg_jct_s), compared_with(best, first));
  } else {
    finding.headline =
        fmt::format("Of the deployable policies{}, {} has the shortest mean completion time: {}.",
                    is_fastest ? "" : " without preemption", name, human_time(best.avg_jct_s));
  }
  finding.detail += left;
  finding.advice = advice_on(policies, best);
  return finding;
}

Finding waiting(const Policies& policies, std::size_t best) {
  const auto share = [](const Summary& summary) {
    return static_cast<double>(summary.queued_jobs) / static_cast<double>(summary.finished);
  };
  const Summary& first = policies.front().summary;
  const Summary& other = policies[best].summary;
  Finding finding{.figure = "run_wait_cdf"};
  if (first.queued_jobs == 0 && other.queued_jobs == 0) {
    finding.headline =
        fmt::format("No job waits under {}: the cluster is large enough.", marked_name(other));
    return finding;
  }
  finding.headline =
      fmt::format("{} of the jobs wait under {}", human_share(share(first)), marked_name(first));
  if (best > 0) {
    finding.headline += fmt::format(", {} under {}", human_share(share(other)), marked_name(other));
  }
  finding.headline += ".";
  finding.detail =
      fmt::format("p99 wait: {} under {}", human_time(first.p99_wait_s), marked_name(first));
  if (best > 0) {
    finding.detail +=
        fmt::format(", {} under {}", human_time(other.p99_wait_s), marked_name(other));
  }
  finding.detail += ".";
  return finding;
}

std::optional<Finding> losers(const RunInput& input, const Policies& policies, std::size_t best) {
  const std::string first = marked_name(policies.front().summary);
  const std::string name = marked_name(policies[best].summary);
  const Losers found = find_losers(input, policies, best);
  if (found.compared == 0) return std::nullopt;
  const std::string compared = fmt::format(
      "Compared: mean waits by user, virtual cluster, size and length, for groups of at least {} "
      "jobs. A loss is more than a minute and 5 %.",
      kEnoughJobs);
  if (found.worst.empty()) {
    return Finding{
        .headline = fmt::format("No group of jobs waits notably longer under {} than under {}.",
                                name, first),
        .detail = compared + " Single jobs may still lose.",
        .figure = "run_lengths"};
  }
  const Loser& worst = found.worst.front();
  Finding finding{.figure = worst.figure};
  finding.headline =
      fmt::format("The largest loss is that of {}: a mean wait of {} under {} instead of {}.",
                  worst.what, human_time(worst.after_s), name, human_time(worst.before_s));
  finding.detail = fmt::format("Mean over {} jobs.", grouped(std::llround(worst.finished)));
  for (std::size_t at = 1; at < found.worst.size(); ++at) {
    const Loser& other = found.worst[at];
    finding.detail +=
        fmt::format("{} {}: {} instead of {}", at > 1 ? ";" : " Other losses:", other.what,
                    human_time(other.after_s), human_time(other.before_s));
  }
  finding.detail += found.worst.size() > 1 ? ". " : " ";
  finding.detail += compared;
  return finding;
}

Finding worst_off(const RunInput& input, const Policies& policies, std::size_t best) {
  const Summary& summary = policies[best].summary;
  const GroupTotals& users = policies[best].totals[static_cast<std::size_t>(By::user)];
  std::size_t worst = users.size();
  for (std::size_t user = 0; user < users.size(); ++user) {
    if (users[user].finished == 0) continue;
    if (worst == users.size() || users[user].mean_wait_s() > users[worst].mean_wait_s()) {
      worst = user;
    }
  }
  Finding finding{.figure = "run_users"};
  finding.headline =
      fmt::format("Under {} user {} waits longest: {} on average over {}.", marked_name(summary),
                  input.by(By::user).names[worst], human_time(users[worst].mean_wait_s()),
                  count(static_cast<std::uint64_t>(users[worst].finished), "job", "jobs"));
  finding.detail = fmt::format("Jain's fairness index of the users' slowdowns: {:.2f}",
                               summary.jain_user_slowdown);
  if (best > 0) {
    finding.detail += fmt::format(" ({:.2f} under {})", policies.front().summary.jain_user_slowdown,
                                  marked_name(policies.front().summary));
  }
  finding.detail += ". An index of 1 means that all users are slowed down equally.";
  return finding;
}

/// GPU allocation until the last submission: how the cluster empties after it depends on the last
/// jobs, not on the policy. Nothing if all jobs arrive at once.
std::optional<Finding> gpus(const Policies& policies) {
  const auto [low, high] = std::minmax_element(
      policies.begin(), policies.end(), [](const PolicyDigest& a, const PolicyDigest& b) {
        return a.summary.gpu_allocation < b.summary.gpu_allocation;
      });
  const Summary& most = high->summary;
  const Summary& least = low->summary;
  if (!std::isfinite(most.gpu_allocation)) return std::nullopt;
  Finding finding{.figure = "run_timeline"};
  if (policies.size() == 1 || most.gpu_allocation - least.gpu_allocation < 0.005) {
    finding.headline = fmt::format("GPU allocation is {}{} until the last submission.",
                                   human_share(most.gpu_allocation),
                                   policies.size() > 1 ? " under every policy" : "");
  } else {
    finding.headline =
        fmt::format("GPU allocation until the last submission: {} under {}, {} under {}.",
                    human_share(most.gpu_allocation), marked_name(most),
                    human_share(least.gpu_allocation), marked_name(least));
    finding.detail =
        fmt::format("Makespan: {} under {}, {} under {}.", human_time(most.makespan_s),
                    marked_name(most), human_time(least.makespan_s), marked_name(least));
  }
  return finding;
}

std::optional<Finding> preemption(const Policies& policies) {
  const auto most = std::max_element(policies.begin(), policies.end(),
                                     [](const PolicyDigest& a, const PolicyDigest& b) {
                                       return a.summary.preemptions < b.summary.preemptions;
                                     });
  if (most->summary.preemptions == 0) return std::nullopt;
  return Finding{
      .headline = fmt::format(
          "{} preempts {} ({} in all); starts and restarts cost {} GPU-hours, {} of the allocated "
          "GPU time.",
          marked_name(most->summary),
          count(static_cast<std::uint64_t>(most->stopped_jobs), "job", "jobs"),
          count(most->summary.preemptions, "preemption", "preemptions"),
          amount(most->restart_gpu_s / 3600),
          human_share(most->held_gpu_s > 0 ? most->restart_gpu_s / most->held_gpu_s : 0)),
      .detail =
          "This assumes the restart costs of this run; set those of your jobs with --restart.",
      .figure = "run_comparison"};
}

std::optional<Finding> never(const Policies& policies) {
  const auto most = std::max_element(policies.begin(), policies.end(),
                                     [](const PolicyDigest& a, const PolicyDigest& b) {
                                       return a.summary.never_startable < b.summary.never_startable;
                                     });
  if (most->summary.never_startable == 0) return std::nullopt;
  return Finding{
      .headline = fmt::format("{} can never start on this cluster.",
                              count(most->summary.never_startable, "job", "jobs")),
      .detail =
          "They request more GPUs than their virtual cluster has, a missing GPU type, or a virtual "
          "cluster that does not exist. No average includes them.",
      .figure = "run_comparison",
      .advice = "almanac explain RUN JOB gives the reason; jobs.csv lists them in state NEVER."};
}

std::optional<Finding> unfinished(const Policies& policies) {
  const auto left = [](const PolicyDigest& each) {
    return each.summary.never_ended -
           std::min(each.summary.never_ended, each.summary.never_startable);
  };
  const auto most = std::max_element(
      policies.begin(), policies.end(),
      [&](const PolicyDigest& a, const PolicyDigest& b) { return left(a) < left(b); });
  if (left(*most) == 0) return std::nullopt;
  return Finding{
      .headline = fmt::format("Under {} {} did not finish.", marked_name(most->summary),
                              count(left(*most), "job", "jobs")),
      .detail =
          "They waited or ran when the simulation ended, or the policy ended them early (state "
          "CUT_OFF in jobs.csv). Averages cover finished jobs only, which differ from policy to "
          "policy: compare with care.",
      .figure = "run_comparison"};
}

}  // namespace

Policies complete_policies(const Policies& all) {
  Policies made;
  std::copy_if(all.begin(), all.end(), std::back_inserter(made),
               [](const PolicyDigest& each) { return each.summary.complete; });
  const auto at = policy::baseline_of(
      made, [](const PolicyDigest& each) -> const std::string& { return each.summary.policy; });
  if (at > 0) {
    const auto baseline = made.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(made.begin(), baseline, baseline + 1);
  }
  return made;
}

SummaryRows summary_rows(const Policies& policies) {
  SummaryRows rows;
  for (const PolicyDigest& each : policies) rows.push_back(&each.summary);
  return rows;
}

std::size_t best_policy(const Policies& policies) {
  if (const auto choice = recommendation(summary_rows(policies))) return *choice;
  if (const auto whole = best_of(policies, [](const Summary& each) { return each.complete; })) {
    return *whole;
  }
  return best_of(policies, [](const Summary&) { return true; }).value_or(0);
}

std::vector<Finding> run_findings(const RunInput& input, const Policies& all) {
  std::vector<Finding> findings;
  if (auto cut = interrupted(input, all)) findings.push_back(std::move(*cut));
  const Policies policies = complete_policies(all);
  if (policies.empty()) return findings;
  const std::size_t best = best_policy(policies);
  const bool finished = policies[best].summary.finished > 0;
  const Summary& first = policies.front().summary;
  const bool compared = finished && best > 0 && first.finished > 0;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  add(completion(policies, best));
  add(unfinished(policies));
  if (finished && first.finished > 0) add(waiting(policies, best));
  if (compared) add(losers(input, policies, best));
  if (finished && policies[best].summary.queued_jobs > 0 && input.by(By::user).told_apart()) {
    add(worst_off(input, policies, best));
  }
  add(dues_finding(marked_name(policies[best].summary), policies[best].dues));
  if (finished) add(gpus(policies));
  for (Finding& finding : speed_findings(policies, best)) findings.push_back(std::move(finding));
  add(energy_finding(policies));
  add(preemption(policies));
  add(never(policies));
  return findings;
}

}  // namespace almanac::report
