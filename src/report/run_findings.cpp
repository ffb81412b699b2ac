// SPDX-License-Identifier: Apache-2.0
#include "report/run_findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "policy/registry.h"
#include "report/run_dues.h"
#include "report/run_energy.h"
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

/// Whether jobs have to bear being stopped: what it may do, and what it did.
bool stops_jobs(const RunInput& input, const Summary& summary) {
  if (summary.preemptions > 0) return true;
  const auto& runs = input.prepared().runs;
  return std::any_of(runs.begin(), runs.end(), [&](const experiment::Prepared::Run& run) {
    return run.composition.name == summary.policy &&
           policy::registry().traits(run.composition).has(policy::Trait::stops_jobs);
  });
}

/// The policy with the least average completion time of those that `fit`.
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

/// Whether it may be recommended: a cluster can run it, and the simulation came to its end.
bool is_advisable(const Summary& summary) { return !summary.bound && summary.complete; }

/// Which policies were interrupted: their figures are of other jobs than those of the rest.
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
          "Nothing below is said of what was interrupted: the jobs that had come until then "
          "had waited less than those that would have come later.",
      .figure = "run_comparison",
      .advice = "Run the command again to its end, or with fewer policies."};
}

/// "38 % sooner than under fifo (7h 59m)": less than half a percent is no difference.
std::string beside(const Summary& best, const Summary& first) {
  const double sooner = 1 - best.avg_jct_s / first.avg_jct_s;
  constexpr double kNone = 0.005;
  const std::string than =
      fmt::format("under {} ({})", marked_name(first), human_time(first.avg_jct_s));
  return sooner < kNone ? "as soon as " + than
                        : fmt::format("{} sooner than {}", human_share(sooner), than);
}

/// What to take where jobs cannot bear what the best of all does; a bound is never taken.
std::string advice_on(const RunInput& input, const Policies& policies, const Summary& best) {
  if (best.bound) {
    const bool all = std::all_of(policies.begin(), policies.end(),
                                 [](const PolicyDigest& each) { return each.summary.bound; });
    return all && policies.size() > 1
               ? "Each of these policies uses true run times, which no real cluster knows: add "
                 "one that is not, such as qssf."
               : fmt::format(
                     "{} uses true run times, which no real cluster knows: do not "
                     "expect as much.",
                     best.policy);
  }
  if (!stops_jobs(input, best)) return {};
  const auto other = best_of(policies, [&](const Summary& each) {
    return is_advisable(each) && !stops_jobs(input, each);
  });
  const std::string stops =
      fmt::format("{} stops jobs, which must be able to go on from a checkpoint.", best.policy);
  if (!other) return stops;
  const Summary& summary = policies[*other].summary;
  return fmt::format("{} Where no job may be stopped, {} is the best of these: {} on average.",
                     stops, summary.policy, human_time(summary.avg_jct_s));
}

/// What the best bound reaches, where that is better than what can be chosen.
std::string beyond(const Policies& policies, const Summary& best) {
  const auto bound =
      best_of(policies, [](const Summary& each) { return each.bound && each.complete; });
  if (best.bound || !bound) return {};
  const Summary& summary = policies[*bound].summary;
  if (!(summary.avg_jct_s < best.avg_jct_s)) return {};
  return fmt::format(
      " {}, which uses true run times that no real cluster knows, has them done in {}: a bound.",
      summary.policy, human_time(summary.avg_jct_s));
}

Finding completion(const RunInput& input, const Policies& policies, std::size_t at) {
  const Summary& best = policies[at].summary;
  const Summary& first = policies.front().summary;
  Finding finding{.figure = "run_comparison"};
  if (best.finished == 0) {
    finding.headline = "No job finished.";
    return finding;
  }
  const std::string name = marked_name(best);
  finding.detail = fmt::format("The median is {}, the 99th percentile {}; jobs wait {} on average.",
                               human_time(best.p50_jct_s), human_time(best.p99_jct_s),
                               human_time(best.avg_wait_s));
  const std::string left = beyond(policies, best);
  if (policies.size() == 1) {
    finding.headline = fmt::format("Under {} a job takes {} on average from submission to end.",
                                   name, human_time(best.avg_jct_s));
  } else if (at == 0) {
    finding.headline = fmt::format(
        "No policy{} does better on average than {}: jobs are done in {}.",
        left.empty() ? "" : " that a cluster can run", name, human_time(best.avg_jct_s));
  } else if (best.avg_jct_s < first.avg_jct_s) {
    finding.headline = fmt::format("Under {} the average job finishes after {}, {}.", name,
                                   human_time(best.avg_jct_s), beside(best, first));
  } else {
    finding.headline = fmt::format(
        "Of the policies that a cluster can run, {} has jobs done soonest: in {} on "
        "average.",
        name, human_time(best.avg_jct_s));
  }
  finding.detail += left;
  finding.advice = advice_on(input, policies, best);
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
  finding.detail = fmt::format("The 99th percentile of the wait is {} under {}",
                               human_time(first.p99_wait_s), marked_name(first));
  if (best > 0) {
    finding.detail +=
        fmt::format(", {} under {}", human_time(other.p99_wait_s), marked_name(other));
  }
  finding.detail += ".";
  return finding;
}

/// A group whose jobs wait longer than under the first policy.
struct Loser {
  std::string what{};
  const char* figure = "";
  double before_s = 0;
  double after_s = 0;
  double finished = 0;
  double lost_s() const { return after_s - before_s; }
};

/// Jobs that an average must be of to mean something.
constexpr double kEnough = 20;

/// The group of a grouping that loses most; counts the groups that it looks at.
std::optional<Loser> worst_loser(const RunInput& input, const Policies& policies, std::size_t best,
                                 By by, std::size_t& looked_at) {
  const GroupTotals& before = policies.front().totals[static_cast<std::size_t>(by)];
  const GroupTotals& after = policies[best].totals[static_cast<std::size_t>(by)];
  std::optional<Loser> worst;
  for (std::size_t group = 0; group < after.size(); ++group) {
    if (after[group].finished < kEnough || before[group].finished < kEnough) continue;
    ++looked_at;
    const Loser loser{.what = input.by(by).names[group],
                      .before_s = before[group].mean_wait_s(),
                      .after_s = after[group].mean_wait_s(),
                      .finished = after[group].finished};
    const bool loses = loser.lost_s() > 60 && loser.after_s > 1.05 * loser.before_s;
    if (loses && (!worst || loser.lost_s() > worst->lost_s())) worst = loser;
  }
  return worst;
}

std::optional<Finding> losers(const RunInput& input, const Policies& policies, std::size_t best) {
  const std::string first = marked_name(policies.front().summary);
  const std::string name = marked_name(policies[best].summary);
  std::vector<Loser> found;
  std::size_t looked_at = 0;
  const auto look = [&](By by, const char* called, const char* figure) {
    auto loser = worst_loser(input, policies, best, by, looked_at);
    if (!loser) return;
    loser->what = called + loser->what;
    loser->figure = figure;
    found.push_back(std::move(*loser));
  };
  look(By::length, "jobs that run ", "run_lengths");
  look(By::size, "jobs of ", "run_sizes");
  if (input.by(By::vc).told_apart()) look(By::vc, "jobs of virtual cluster ", "run_vcs");
  if (input.by(By::user).told_apart()) look(By::user, "jobs of user ", "run_users");
  if (looked_at == 0) return std::nullopt;
  const std::string compared = fmt::format(
      "Compared are the average waits of users, virtual clusters, sizes and lengths "
      "with {} jobs or more; a loss is more than a minute and 5 %.",
      kEnough);
  if (found.empty()) {
    return Finding{.headline = fmt::format("No group of jobs pays for it: none waits notably "
                                           "longer under {} than under {}.",
                                           name, first),
                   .detail = compared + " Single jobs may still lose.",
                   .figure = "run_lengths"};
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Loser& a, const Loser& b) { return a.lost_s() > b.lost_s(); });
  const Loser& worst = found.front();
  Finding finding{.figure = worst.figure};
  finding.headline =
      fmt::format("Most is lost by {}: they wait {} under {} instead of {}.", worst.what,
                  human_time(worst.after_s), name, human_time(worst.before_s));
  finding.detail = fmt::format("An average of {} jobs.", grouped(std::llround(worst.finished)));
  for (std::size_t at = 1; at < found.size(); ++at) {
    finding.detail += fmt::format("{} {} {} instead of {}", at > 1 ? ";" : " Also", found[at].what,
                                  human_time(found[at].after_s), human_time(found[at].before_s));
  }
  finding.detail += found.size() > 1 ? ". " : " ";
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
  finding.detail =
      fmt::format("Jain's index of the users' slowdowns is {:.2f}", summary.jain_user_slowdown);
  if (best > 0) {
    finding.detail += fmt::format(" ({:.2f} under {})", policies.front().summary.jain_user_slowdown,
                                  marked_name(policies.front().summary));
  }
  finding.detail += "; 1 means that all are slowed down alike.";
  return finding;
}

/// How much of the GPU time jobs hold while they arrive: the long end, in which the cluster
/// empties, is the last jobs' and not the policy's. Nothing where all jobs arrive at once.
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
    finding.headline = fmt::format("Jobs hold {} of the GPU time{} while jobs arrive.",
                                   human_share(most.gpu_allocation),
                                   policies.size() > 1 ? " under every policy" : "");
  } else {
    finding.headline = fmt::format(
        "{} keeps {} of the GPU time in use while jobs arrive, {} only {}.", marked_name(most),
        human_share(most.gpu_allocation), marked_name(least), human_share(least.gpu_allocation));
    finding.detail = fmt::format("The last job ends {} after the first submission, and {}.",
                                 human_time(most.makespan_s), human_time(least.makespan_s));
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
          "{} stops {} on the way, {} in all; starts and restarts cost {} GPU-hours, {} of the GPU "
          "time held.",
          marked_name(most->summary),
          count(static_cast<std::uint64_t>(most->stopped_jobs), "job", "jobs"),
          count(most->summary.preemptions, "time", "times"), amount(most->restart_gpu_s / 3600),
          human_share(most->held_gpu_s > 0 ? most->restart_gpu_s / most->held_gpu_s : 0)),
      .detail = "As far as the restart costs of this run are those of your jobs (--restart).",
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
          "They ask more GPUs than their virtual cluster has, a type that is not there, or a "
          "virtual cluster that does not exist. They are in no average.",
      .figure = "run_comparison",
      .advice = "almanac explain RUN JOB says why for each; state NEVER in jobs.csv names them."};
}

std::optional<Finding> unfinished(const Policies& policies) {
  const auto left = [](const PolicyDigest& each) {
    return each.summary.jobs - each.summary.finished - each.summary.never_startable;
  };
  const auto most = std::max_element(
      policies.begin(), policies.end(),
      [&](const PolicyDigest& a, const PolicyDigest& b) { return left(a) < left(b); });
  if (left(*most) == 0) return std::nullopt;
  return Finding{
      .headline = fmt::format("Under {} {} had not finished when the simulation ended.",
                              marked_name(most->summary), count(left(*most), "job", "jobs")),
      .detail =
          "Averages are over the jobs that finished, which may be others under "
          "each policy: compare with care.",
      .figure = "run_comparison"};
}

}  // namespace

std::size_t best_policy(const Policies& policies) {
  if (const auto choice = best_of(policies, is_advisable)) return *choice;
  if (const auto whole = best_of(policies, [](const Summary& each) { return each.complete; })) {
    return *whole;
  }
  return best_of(policies, [](const Summary&) { return true; }).value_or(0);
}

std::vector<Finding> run_findings(const RunInput& input, const Policies& all) {
  std::vector<Finding> findings;
  if (auto cut = interrupted(input, all)) findings.push_back(std::move(*cut));
  Policies policies;
  std::copy_if(all.begin(), all.end(), std::back_inserter(policies),
               [](const PolicyDigest& each) { return each.summary.complete; });
  if (policies.empty()) return findings;
  const std::size_t best = best_policy(policies);
  const bool finished = policies[best].summary.finished > 0;
  const Summary& first = policies.front().summary;
  const bool compared = finished && best > 0 && first.finished > 0;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  add(completion(input, policies, best));
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
