// SPDX-License-Identifier: Apache-2.0
#include "advice/advise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <tbb/parallel_for.h>

#include "advice/candidates.h"
#include "advice/recommend.h"
#include "advice/worth.h"
#include "base/check.h"
#include "policy/recommended.h"
#include "policy/registry.h"
#include "slurmctld/jobs/logged_jobs.h"

namespace almanac::advice {
namespace {

/// Between policies so close to each other the number of users who lose decides.
constexpr double kAsGood = 1.05;

/// Returns the policy with the shortest waits among those whose gain is certain. Among equals the
/// recommended one wins (policy/recommended.h); among policies that are nearly as good, the one
/// that hurts the fewest.
std::optional<std::size_t> choose(const Advice& advice) {
  std::optional<std::size_t> best;
  const auto wait_s = [&](std::size_t at) { return advice.outcomes[at].figures.avg_wait_s; };
  double least_s = HUGE_VAL;
  for (std::size_t at = 0; at < advice.outcomes.size(); ++at) {
    if (is_worth_it(advice, advice.outcomes[at])) least_s = std::min(least_s, wait_s(at));
  }
  for (std::size_t at = 0; at < advice.outcomes.size(); ++at) {
    const bool is_equal = wait_s(at) <= (1 + policy::kSameWait) * least_s;
    if (!is_equal || !policy::is_recommended(advice.outcomes[at].policy)) continue;
    if (is_worth_it(advice, advice.outcomes[at])) return at;
  }
  for (std::size_t at = 0; at < advice.outcomes.size(); ++at) {
    const bool worth = is_worth_it(advice, advice.outcomes[at]);
    if (!worth || wait_s(at) > kAsGood * least_s) continue;
    if (!best || advice.outcomes[at].users_losing < advice.outcomes[*best].users_losing) best = at;
  }
  return best;
}

/// What a policy changes for the jobs of `play`, which `today` are without it.
Outcome outcome_of(const Play& play, const policy::Composition& composition,
                   const std::vector<Lived>& today, const std::vector<Lived>& lived) {
  for (const Lived& each : lived) {
    ALMANAC_CHECK(each.ended, "{}: a job did not end", composition.name);
  }
  const std::uint64_t seed = play.conditions().seed;
  const std::vector<Waited> jobs = waited(play, today, lived);
  Outcome made{.policy = composition.name,
               .summary = explain(composition),
               .figures = figures_of(lived),
               .wait = gain_of(play, today, lived, &Lived::wait_s, seed),
               .jct = gain_of(play, today, lived, &Lived::jct_s, seed),
               .losers = losers_of(jobs, play.log().names)};
  for (Group& group : groups_of(jobs, play.log().names)) {
    if (group.kind == GroupKind::size) made.sizes.push_back(std::move(group));
  }
  for (const Group& loser : made.losers) {
    if (loser.is_user()) {
      ++made.users_losing;
    } else if (!made.hardest_hit || loser.more_s() > made.hardest_hit->more_s()) {
      made.hardest_hit = loser;
    }
  }
  return made;
}

tl::unexpected<Error> stopped() { return fail(Code::unavailable, "interrupted"); }

/// Adds an outcome for each policy but Slurm itself.
Result<void> compare_policies(const Play& play, const Question& question,
                              const std::vector<Lived>& today, const std::string& slurm,
                              Advice& advice) {
  std::vector<policy::Composition> policies;
  std::copy_if(question.policies.begin(), question.policies.end(), std::back_inserter(policies),
               [&](const policy::Composition& each) { return each.name != slurm; });
  // At once, for one that learns may take a hundred times as long as one that does not.
  std::vector<std::optional<std::vector<Lived>>> lives(policies.size());
  tbb::parallel_for(std::size_t{0}, lives.size(),
                    [&](std::size_t at) { lives[at] = play.under(policies[at]); });
  for (std::size_t at = 0; at < lives.size(); ++at) {
    if (!lives[at]) return stopped();
    advice.outcomes.push_back(outcome_of(play, policies[at], today, *lives[at]));
  }
  return {};
}

/// Returns the time between two cycles of backfill; 0 if there are none. `site` may be null.
Duration bf_interval_of(const site::Site* site) {
  const site::SchedulerSettings settings =
      site != nullptr ? site->config.scheduler : site::SchedulerSettings{};
  const bool has_cycles =
      settings.type == site::SchedulerType::backfill && settings.bf_interval != kNoDuration;
  return has_cycles ? settings.bf_interval : Duration{0};
}

/// Sets what is said of the jobs that are compared, and their waits today.
void describe(const Play& play, const std::vector<Lived>& today, Advice& advice) {
  advice.users = play.users();
  advice.jobs = static_cast<std::int64_t>(today.size());
  advice.days = play.days();
  advice.stock = figures_of(today);
  const std::vector<Lived> really = play.really();
  const bool is_known =
      std::all_of(really.begin(), really.end(), [](const Lived& job) { return job.ended; });
  advice.real = is_known ? std::optional(figures_of(really)) : std::nullopt;
}

}  // namespace

Result<Advice> advise(trace::Trace log, const cluster::Cluster& nodes, const Question& question) {
  const bool knows_site = question.conditions.site != nullptr;
  const policy::Composition slurm = slurm_today(log, knows_site);
  const bool knows_eligible = log.knows_eligible;
  auto made = Play::of(std::move(log), nodes, question.weeks, question.conditions);
  if (!made) return tl::unexpected(made.error());
  Play play = std::move(*made);
  if (question.conditions.progress != nullptr) {
    question.conditions.progress->expect(play.log().jobs.size());
  }
  auto today = play.under(slurm);
  if (!today) return stopped();
  Advice advice{.since = play.since(),
                .until = play.until(),
                .knows_eligible = knows_eligible,
                .knows_site = knows_site,
                .knows_limits = policy::registry().traits(slurm).has(policy::Trait::reads_site)};
  if (question.conditions.quotas) advice.quotas = question.conditions.quotas->limits;

  if (!question.what_if.empty()) {
    auto change = change_of(play, *today, question.what_if);
    if (!change) return tl::unexpected(change.error());
    advice.what_if = std::move(*change);
    Change* const valued[] = {&*advice.what_if};
    if (auto added = add_worth(play, valued); !added) return tl::unexpected(added.error());
  }
  if (question.search_knobs && play.days() >= kFewestDays &&
      figures_of(*today).avg_wait_s > kNoTrouble_s) {
    auto knobs = search_knobs(play, *today);
    if (!knobs) return tl::unexpected(knobs.error());
    advice.knobs = std::move(*knobs);
  }

  // A job that cannot start now could not under any policy.
  std::vector<bool> ended;
  for (const Lived& job : *today) ended.push_back(job.ended);
  advice.never = std::count(ended.begin(), ended.end(), false);
  play.keep(ended);
  today = kept(*today, ended);
  if (today->empty()) {
    return fail(Code::unavailable, "none of these weeks' jobs can run on this cluster", {},
                "check that it is the cluster of the log; --cluster FILE gives another");
  }
  describe(play, *today, advice);
  const std::vector<Lived> really = play.really();
  if (std::any_of(really.begin(), really.end(), [](const Lived& job) { return job.ended; })) {
    advice.reproduction = reproduction_of(play, *today);
    const Duration shift = bf_interval_of(question.conditions.site.get()) / 2;
    if (const auto later = slurm_later(slurm, shift); later && shift >= 1s) {
      const auto shifted = play.under(*later);
      if (!shifted) return stopped();
      advice.reproduction->phase = phase_effect(*today, *shifted, seconds(shift));
    }
  }
  advice.never_ran = play.never_ran();
  advice.reproduces = advice.real ? is_like_real(advice) : !nodes.inferred;
  if (advice.what_if && advice.what_if->never > 0) {
    // One table compares the same jobs.
    std::vector<bool> compared;
    for (std::size_t at = 0; at < ended.size(); ++at) {
      if (ended[at]) compared.push_back(advice.what_if->compared[at]);
    }
    play.keep(compared);
    today = kept(*today, compared);
    describe(play, *today, advice);
  }
  auto compared = compare_policies(play, question, *today, slurm.name, advice);
  if (!compared) return tl::unexpected(compared.error());
  advice.best = choose(advice);
  advice.recommendation = recommend(advice);
  advice.assumptions = assumptions_of(advice, nodes);
  advice.cautions = cautions_of(advice);
  if (knows_site) {
    for (std::string& lack :
         slurmctld::notes_on_lacks(*question.conditions.site, play.log(), play.knows_past_use())) {
      advice.cautions.push_back(std::move(lack));
    }
  }
  return advice;
}

}  // namespace almanac::advice
