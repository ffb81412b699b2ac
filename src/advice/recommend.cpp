// SPDX-License-Identifier: Apache-2.0
#include "advice/recommend.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice/words.h"
#include "experiment/recorded_waits.h"
#include "policy/conduct.h"
#include "policy/registry.h"
#include "text/human.h"

namespace almanac::advice {
namespace {

using text::human_time;

/// A gain is worth a change from here on.
constexpr double kWorthIt = 1.1;

/// Why nothing is recommended; "" = the model is like the cluster, as far as that is known.
std::string doubt(const Advice& advice) {
  if (advice.reproduces) return "";
  if (!advice.real) {
    return "No recommendation: whether the simulation matches your cluster is unknown. The log "
           "does "
           "not say when jobs started, and its nodes were guessed from what the jobs need. Use "
           "--cluster to give the real nodes.";
  }
  return fmt::format(
      "No recommendation: the simulation does not match your cluster. Under {} jobs wait {} "
      "on average (p99 {}) in the simulation, but they really waited {} (p99 {}). The cluster may "
      "have other nodes, or limits, priorities, reservations or outages that the log does not "
      "show, "
      "or the period is too short: jobs that began before it are missing{}.",
      slurm_in_words(advice), human_time(advice.stock.avg_wait_s),
      human_time(advice.stock.p99_wait_s), human_time(advice.real->avg_wait_s),
      human_time(advice.real->p99_wait_s),
      advice.quotas || advice.knows_site
          ? ""
          : " (--cluster SITE reads settings and limits, --slurm gateway reads quotas)");
}

/// What a few days show, for what it is worth.
std::string too_early(const Advice& advice) {
  std::string made = fmt::format(
      "Too early to advise: the log covers {} with jobs that count, and {} are needed to "
      "say how certain a gain is.",
      counted(advice.days, "day"), kFewestDays);
  const auto least = std::min_element(advice.outcomes.begin(), advice.outcomes.end(),
                                      [](const Outcome& one, const Outcome& other) {
                                        return one.figures.avg_wait_s < other.figures.avg_wait_s;
                                      });
  if (least != advice.outcomes.end() && least->figures.avg_wait_s < advice.stock.avg_wait_s) {
    made += fmt::format(
        " In these days {} would have had the shortest waits: average wait {} instead of {}.",
        least->policy, human_time(least->figures.avg_wait_s), human_time(advice.stock.avg_wait_s));
  }
  return made;
}

/// Why the policy with the largest gain is not worth a change.
std::string reason_to_keep(const Advice& advice) {
  const auto most = std::max_element(
      advice.outcomes.begin(), advice.outcomes.end(),
      [](const Outcome& a, const Outcome& b) { return a.wait.times < b.wait.times; });
  if (most == advice.outcomes.end() || !(most->wait.times > 1)) {
    return "No alternative shortens the average wait.";
  }
  std::string made =
      fmt::format("The closest is {}: average wait {} instead of {}", most->policy,
                  human_time(most->figures.avg_wait_s), human_time(advice.stock.avg_wait_s));
  if (!most->wait.sure || !most->jct.sure) {
    return made + ", but this log does not show how certain that is.";
  }
  if (most->wait.sure->from <= kWorthIt) {
    return made + fmt::format(
                      ", {:.2f} times shorter (95 % CI {:.2f} to {:.2f}). A change counts as "
                      "worth it only if the low end is above {:.2f}.",
                      most->wait.times, most->wait.sure->from, most->wait.sure->to, kWorthIt);
  }
  return made + fmt::format(
                    ", but jobs may complete later: completion is {:.2f} times shorter (95 % "
                    "CI {:.2f} to {:.2f}), and the low end must be above 1.",
                    most->jct.times, most->jct.sure->from, most->jct.sure->to);
}

/// Whom the policy hurts.
std::string losers_in_words(const Advice& advice, const Outcome& outcome) {
  std::string made;
  if (outcome.hardest_hit) {
    const Group& hit = *outcome.hardest_hit;
    made +=
        fmt::format(" Hardest hit: {} ({}), whose average wait goes from {} to {}.", hit.who,
                    counted(hit.jobs, "job"), human_time(hit.before_s), human_time(hit.after_s));
  }
  if (outcome.users_losing > 0) {
    return made + fmt::format(" {} of {} users would wait noticeably longer, most of all {}.",
                              outcome.users_losing, advice.users, outcome.losers.front().who);
  }
  return made + (outcome.hardest_hit
                     ? " No single user would wait noticeably longer."
                     : " No user and no class of jobs would wait noticeably longer.");
}

std::string gain_in_words(const Advice& advice, const Outcome& best) {
  return fmt::format(
      "average wait {} instead of {}, {:.2f} times shorter (95 % CI {:.2f} to {:.2f}).",
      human_time(best.figures.avg_wait_s), human_time(advice.stock.avg_wait_s), best.wait.times,
      best.wait.sure->from, best.wait.sure->to);
}

std::string base_of(const std::string& name) { return name.substr(0, name.find('+')); }

/// Returns the outcomes that use predictions instead of true run times, by their base.
std::vector<std::string> predicting(const Advice& advice) {
  std::vector<std::string> made;
  for (const Outcome& outcome : advice.outcomes) {
    const std::string base = base_of(outcome.policy);
    const auto known = policy::registry().compose(base);
    if (!known || !policy::is_bound(policy::registry().traits(*known))) continue;
    if (outcome.policy.find("+rolling") == std::string::npos) continue;
    if (std::find(made.begin(), made.end(), base) == made.end()) made.push_back(base);
  }
  return made;
}

}  // namespace

bool is_like_real(const Advice& advice) {
  return experiment::reproduces({advice.real->avg_wait_s, advice.real->p99_wait_s},
                                {advice.stock.avg_wait_s, advice.stock.p99_wait_s});
}

bool is_worth_it(const Advice& advice, const Outcome& outcome) {
  return outcome.wait.sure && outcome.wait.sure->from > kWorthIt && outcome.jct.sure &&
         outcome.jct.sure->from > 1 && advice.stock.avg_wait_s > kNoTrouble_s;
}

std::string explain(const policy::Composition& composition) {
  const policy::Registry& known = policy::registry();
  const auto base = known.compose(base_of(composition.name));
  if (!base) return composition.summary;
  const policy::TraitSet traits = known.traits(composition);
  const policy::TraitSet before = known.traits(*base);
  const bool predicts = policy::is_bound(before) && !policy::is_bound(traits);
  const bool backfills =
      traits.has(policy::Trait::reserves) && !before.has(policy::Trait::reserves);
  for (const policy::Registry::Slot& slot : known.slots()) {
    const bool is_estimate = slot.choices == &known.estimates;
    const bool is_read = traits.has(policy::Trait::reads_run_times);
    const bool is_told =
        is_estimate ? predicts || !is_read : slot.choices == &known.passes && backfills;
    if (composition.*slot.choice != (*base).*slot.choice && !is_told) return composition.summary;
  }
  std::string made = base->summary;
  const auto replace = [&](std::string_view was, std::string_view by) {
    if (const auto at = made.find(was); at != std::string::npos) made.replace(at, was.size(), by);
  };
  if (predicts) replace(", by true run times", ", by predicted run times");
  if (backfills) {
    replace("; the first job that does not fit blocks all others", "");
    made += ", with backfill";
  }
  return made;
}

std::string recommend(const Advice& advice) {
  if (advice.what_if) {
    const Change& change = *advice.what_if;
    if (change.is_today) {
      return fmt::format("Nothing would change: {} is today's setting.", in_words(change));
    }
    const std::string doubtful = doubt_in_words(advice);
    std::string made = fmt::format("With {}: {}", in_words(change), effect_in_words(change));
    for (const std::string& more : {worth_in_words(change), doubtful}) {
      if (!more.empty()) made += " " + more;
    }
    return made;
  }
  const std::string why_not = doubt(advice);
  if (!advice.best) {
    if (!advice.reproduces) return why_not;
    if (advice.stock.avg_wait_s <= kNoTrouble_s) {
      return fmt::format(
          "Keep your current policy: jobs wait only {} on average{}, so there is nothing to gain.",
          human_time((advice.real ? *advice.real : advice.stock).avg_wait_s),
          advice.real ? "" : " in the simulation");
    }
    if (advice.days < kFewestDays) return too_early(advice);
    return "Keep your current policy: no alternative is certain (95 %) to make the average wait at "
           "least 1.1 times shorter without delaying completions. " +
           reason_to_keep(advice);
  }
  const Outcome& best = advice.outcomes[*advice.best];
  const std::string gain = gain_in_words(advice, best) + losers_in_words(advice, best);
  if (!advice.reproduces) {
    return fmt::format(
        "{} In the simulation alone {} ({}) would be best: {} Watch it in shadow mode before you "
        "rely on that.",
        why_not, best.policy, best.summary, gain);
  }
  return fmt::format("Try {} ({}): {} Run it in shadow mode first, then on one partition.",
                     best.policy, best.summary, gain);
}

std::vector<std::string> assumptions_of(const Advice& advice, const cluster::Cluster& cluster) {
  std::vector<std::string> made;
  if (cluster.inferred) {
    made.push_back(fmt::format("{} with {}, inferred from the log (use --cluster to correct this)",
                               text::counted(cluster.nodes.size(), "node"),
                               text::counted(static_cast<std::uint64_t>(cluster.gpus()), "GPU")));
  }
  made.emplace_back("the same jobs arrive at the same times and run as long as recorded");
  made.emplace_back(
      advice.knows_site
          ? "Slurm is simulated with the settings, limits and shares that the site's files give, "
            "as they are today"
      : advice.knows_limits
          ? "nothing is known of Slurm's settings: it is simulated with its defaults, first come, "
            "first served with backfill by time limits, without priorities, limits, reservations "
            "and outages (--cluster SITE gives the settings)"
          : "the log has no time limits: stock Slurm is first come, first served, and its backfill "
            "expects each job to take what jobs of its user took, without priorities, reservations "
            "and outages");
  made.emplace_back(advice.knows_eligible
                        ? "a wait begins when a job is eligible"
                        : "a wait begins at submission: the log does not say when jobs became "
                          "eligible, so waits may include dependencies, begin times and holds");
  return made;
}

std::vector<std::string> cautions_of(const Advice& advice) {
  std::vector<std::string> made;
  if (!advice.real && advice.reproduces) {
    made.emplace_back(
        "the log does not say when jobs started, so the simulation could not be checked against "
        "your cluster");
  }
  if (!advice.quotas && !advice.knows_site) {
    made.emplace_back("GPU quotas were not simulated (only --slurm gateway can read them)");
  }
  if (advice.knows_site && !advice.knobs && !advice.what_if) {
    made.push_back(fmt::format(
        "no settings of your Slurm were searched, because {}",
        advice.days < kFewestDays
            ? fmt::format("the log covers fewer than {} days with jobs that count", kFewestDays)
            : "jobs hardly wait"));
  }
  if (advice.knows_site && !advice.outcomes.empty()) {
    made.emplace_back(
        "other policies are simulated without the site's QOS and partition limits, reservations "
        "and "
        "fair share, so part of their gain may be that of the limits");
  }
  if (advice.never_ran > 0) {
    made.push_back(
        fmt::format("{} never ran: each waits in the simulation until its owner withdrew it, and "
                    "no figure includes it",
                    counted(advice.never_ran, "job")));
  }
  if (const auto names = predicting(advice); !names.empty()) {
    made.push_back(
        fmt::format("simulated with predicted run times (+rolling), because no cluster knows true "
                    "ones in advance: {}",
                    fmt::join(names, ", ")));
  }
  std::vector<std::string> unsure;
  for (const Outcome& outcome : advice.outcomes) {
    if (!outcome.wait.sure || !outcome.jct.sure) unsure.push_back(outcome.policy);
  }
  if (advice.days >= kFewestDays && !unsure.empty()) {
    made.push_back(
        fmt::format("the certainty of the gain of {} is unknown: what a policy changes on one day "
                    "depends on the day before, however many days are joined, and one lasting "
                    "queue is a single observation (more --weeks may help)",
                    fmt::join(unsure, ", ")));
  }
  if (advice.never > 0) {
    made.push_back(fmt::format(
        "{} left out because {} not fit on this cluster{}; check that it is the cluster of the log",
        counted(advice.never, "job"), advice.never == 1 ? "it does" : "they do",
        advice.quotas.value_or(0) > 0 ? ", or more GPUs than a quota allows" : ""));
  }
  return made;
}

}  // namespace almanac::advice
