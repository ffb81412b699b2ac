// SPDX-License-Identifier: Apache-2.0
#include "advice/advise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <tbb/parallel_for.h>

#include "advice/candidates.h"
#include "advice/losers.h"
#include "advice/recommend.h"
#include "base/check.h"
#include "base/rng.h"
#include "experiment/profile.h"
#include "policy/recommended.h"
#include "policy/registry.h"
#include "predict/replay.h"
#include "schedule/hosts.h"
#include "schedule/past_use.h"
#include "sim/simulation.h"
#include "stats/bootstrap.h"
#include "stats/joined_days.h"
#include "stats/quantile.h"
#include "trace/eligible.h"

namespace almanac::advice {
namespace {

/// Played before the weeks that count: longer than nearly every job runs.
constexpr Duration kRunIn = 24h * 7;
constexpr std::size_t kDraws = 1000;
/// Between policies so close to each other the number of users who lose decides.
constexpr double kAsGood = 1.05;
constexpr Duration kDay = 24h;

/// Of one job under one policy, or in truth; NaN = did not end.
struct Lived {
  double wait_s = std::nan("");
  double jct_s = std::nan("");
};

/// The jobs that count, by their position in the log played.
class Play {
 public:
  Play(trace::Trace log, Time since, const cluster::Cluster& cluster, const Question& question)
      : log_(std::move(log)), since_(since), cluster_(cluster), question_(question) {
    std::erase_if(log_.jobs,
                  [&](const auto& job) { return job.request.submit < since - kLooksBack; });
    const Time begin = since - kRunIn;
    const auto first = std::find_if(log_.jobs.begin(), log_.jobs.end(),
                                    [&](const auto& job) { return job.request.submit >= begin; });
    std::copy_if(log_.jobs.begin(), first, std::back_inserter(lessons_),
                 [](const trace::Job& job) { return !trace::never_ran(job); });
    log_.jobs.erase(log_.jobs.begin(), first);
    log_.attempts.clear();
    log_.pieces.clear();
    for (std::uint32_t at = 0; at < log_.jobs.size(); ++at) {
      const trace::Request& request = log_.jobs[at].request;
      if (request.submit < since || !sim::is_simulated(request, cluster)) continue;
      if (trace::never_ran(log_.jobs[at])) {
        ++never_ran_;
      } else {
        counted_.push_back(at);
      }
    }
    if (question.quotas) quotas_ = question.quotas->of(log_.jobs);
    past_use_ = schedule::past_use_of(lessons_, schedule::Admission(cluster, log_.names));
  }

  const trace::Trace& log() const { return log_; }
  const std::vector<std::uint32_t>& counted() const { return counted_; }
  /// Jobs of the weeks that count that left the queue without having run.
  std::int64_t never_ran() const { return never_ran_; }

  /// Nothing when it was stopped.
  std::optional<std::vector<Lived>> under(const policy::Composition& composition) const {
    schedule::SiteRules rules = schedule::kNoSiteRules;
    if (composition.name != stock().name) rules.age_cap = question_.age_cap;
    if (!question_.kept.empty()) {
      rules.is_kept = [&](JobId job) { return question_.kept.contains(log_.jobs[index(job)].id); };
    }
    const auto policy = schedule::make_policy(
        composition,
        schedule::PlayedHost{.estimator = taught(composition), .past_use = past_use_, .site = {}},
        rules);
    const sim::Options options{
        .policy = composition.name,
        .restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s},
        .seed = question_.seed,
        .quotas = quotas_ ? &*quotas_ : nullptr,
        .watch = {
            .stop = question_.stop,
            .arrived = question_.progress == nullptr ? nullptr : question_.progress->arrivals()}};
    const sim::Schedule schedule = sim::simulate(log_, cluster_, *policy, options);
    if (schedule.interrupted) return std::nullopt;
    std::vector<Lived> lived;
    lived.reserve(counted_.size());
    for (const std::uint32_t at : counted_) {
      const sim::JobResult result = schedule.jobs[at];
      Lived made;
      if (result.phase == policy::Phase::ended) {
        made.jct_s = seconds(result.end - sim::joined(log_.jobs[at].request, result));
        made.wait_s = made.jct_s - seconds(result.ran);
      }
      lived.push_back(made);
    }
    return lived;
  }

  /// What happened; nothing where the log does not tell.
  std::optional<std::vector<Lived>> really() const {
    std::vector<Lived> lived;
    for (const std::uint32_t at : counted_) {
      const trace::Job& job = log_.jobs[at];
      if (job.outcome.start == kNoTime) return std::nullopt;
      const Time end =
          job.outcome.end != kNoTime ? job.outcome.end : job.outcome.start + job.outcome.run;
      Lived made{.jct_s = seconds(end - job.request.submit)};
      made.wait_s = made.jct_s - seconds(job.outcome.run);
      lived.push_back(made);
    }
    return lived;
  }

  /// Keeps those counted for which `keep` is true.
  void keep(const std::vector<bool>& keep) {
    std::vector<std::uint32_t> left;
    for (std::size_t at = 0; at < counted_.size(); ++at) {
      if (keep[at]) left.push_back(counted_[at]);
    }
    counted_ = std::move(left);
  }

  long long day_of(std::size_t counted) const {
    const Duration in = log_.jobs[counted_[counted]].request.submit - since_;
    return in / kDay;
  }

  /// With submissions that count.
  std::int64_t days() const {
    std::set<long long> days;
    for (std::size_t at = 0; at < counted_.size(); ++at) days.insert(day_of(at));
    return static_cast<std::int64_t>(days.size());
  }

 private:
  std::unique_ptr<predict::Estimator> taught(const policy::Composition& composition) const {
    auto made = experiment::make_estimator(composition, log_);
    ALMANAC_CHECK(made, "estimate {} is not available", composition.estimate.name);
    predict::teach(**made, lessons_);
    return std::move(*made);
  }

  trace::Trace log_;
  std::vector<trace::Job> lessons_;
  schedule::PastUses past_use_;  // of the lessons
  Time since_;
  const cluster::Cluster& cluster_;
  const Question& question_;
  std::vector<std::uint32_t> counted_;
  std::int64_t never_ran_ = 0;
  std::optional<policy::Quotas> quotas_;
};

Figures figures_of(const std::vector<Lived>& lived) {
  std::vector<double> waits;
  std::vector<double> jcts;
  for (const Lived& job : lived) {
    waits.push_back(job.wait_s);
    jcts.push_back(job.jct_s);
  }
  const auto mean = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  return {.avg_wait_s = mean(waits),
          .p99_wait_s = stats::quantile(waits, 0.99),
          .avg_jct_s = mean(jcts),
          .p99_jct_s = stats::quantile(jcts, 0.99)};
}

/// `before` / `after` of the sums of `field`, and how sure that is.
Gain gain_of(const Play& play, const std::vector<Lived>& before, const std::vector<Lived>& after,
             double Lived::*field, std::uint64_t seed) {
  std::map<long long, stats::DaySum> days;
  stats::DaySum all;
  for (std::size_t at = 0; at < before.size(); ++at) {
    for (stats::DaySum* const sum : {&days[play.day_of(at)], &all}) {
      sum->jobs += 1;
      sum->before += before[at].*field;
      sum->after += after[at].*field;
    }
  }
  const auto ratio = [](const stats::DaySum& sum) {
    return sum.after > 0 ? sum.before / sum.after : sum.before > 0 ? HUGE_VAL : 1.0;
  };
  Gain gain{.times = ratio(all)};
  const stats::JoinedDays joined = stats::join_days(days);
  if (!joined.tell || static_cast<std::int64_t>(days.size()) < kFewestDays) return gain;
  std::vector<double> draws;
  Rng rng(seed);
  stats::bootstrap(joined.blocks.size(), kDraws, rng, [&](std::span<const std::uint32_t> times) {
    stats::DaySum sum;
    for (std::size_t block = 0; block < joined.blocks.size(); ++block) {
      sum.before += times[block] * joined.blocks[block].before;
      sum.after += times[block] * joined.blocks[block].after;
    }
    draws.push_back(ratio(sum));
  });
  const auto [from, to] = stats::middle_95(draws);
  gain.sure = Interval{.from = from, .to = to};
  return gain;
}

/// Of those whose gain is sure, the one with the shortest waits; among equals the recommended one
/// (policy/recommended.h), and of policies that are nearly as good the one that hurts fewest.
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

}  // namespace

Result<Advice> advise(trace::Trace log, const cluster::Cluster& nodes, const Question& question) {
  const bool any_vc = std::any_of(log.jobs.begin(), log.jobs.end(), [&](const trace::Job& job) {
    return sim::is_simulated(job.request, nodes) && job.request.vc != kNoName;
  });
  const cluster::Cluster cluster = any_vc || nodes.takes_every_job ? nodes : cluster::merged(nodes);
  // Without a time at which its owner withdrew it, such a job would wait forever.
  std::erase_if(log.jobs, [](const trace::Job& job) {
    const bool ran = job.outcome.start != kNoTime || job.outcome.run > Duration::zero();
    return !ran && (!trace::never_ran(job) || trace::withdrawn_at(job) == kNever);
  });
  if (std::all_of(log.jobs.begin(), log.jobs.end(), trace::never_ran))
    return fail(Code::unavailable, "the log has no job that ran");
  const Time first = log.jobs.front().request.submit;
  const Time last = log.jobs.back().request.submit;
  const bool has_run_in = last - first > kRunIn + kFewestDays * kDay;
  Advice advice{.since = std::max(has_run_in ? first + kRunIn : first, last - question.weeks),
                .until = last};
  if (question.quotas) advice.quotas = question.quotas->limits;
  advice.knows_eligible = log.knows_eligible;
  Play play(std::move(log), advice.since, cluster, question);
  if (question.progress != nullptr) question.progress->expect(play.log().jobs.size());
  const auto stopped = [] { return fail(Code::unavailable, "interrupted"); };

  // A job that cannot start now could not under any policy.
  auto stock_lived = play.under(stock());
  if (!stock_lived) return stopped();
  std::vector<bool> ended;
  for (const Lived& job : *stock_lived) ended.push_back(!std::isnan(job.wait_s));
  advice.never = std::count(ended.begin(), ended.end(), false);
  play.keep(ended);
  std::erase_if(*stock_lived, [](const Lived& job) { return std::isnan(job.wait_s); });
  if (stock_lived->empty()) {
    return fail(Code::unavailable, "none of these weeks' jobs can run on this cluster", {},
                "check that it is the cluster of the log; --cluster FILE gives another");
  }
  std::set<NameId> users;
  for (const std::uint32_t at : play.counted()) users.insert(play.log().jobs[at].request.user);
  users.erase(kNoName);
  advice.users = static_cast<std::int64_t>(users.size());
  advice.jobs = static_cast<std::int64_t>(stock_lived->size());
  advice.days = play.days();
  advice.never_ran = play.never_ran();
  advice.stock = figures_of(*stock_lived);
  if (const auto real = play.really()) advice.real = figures_of(*real);

  const std::string stock_name = stock().name;
  // At once, for one that learns may take a hundred times as long as one that does not.
  std::vector<std::optional<std::vector<Lived>>> lives(question.policies.size());
  tbb::parallel_for(std::size_t{0}, lives.size(), [&](std::size_t at) {
    const policy::Composition& composition = question.policies[at];
    if (composition.name != stock_name) lives[at] = play.under(composition);
  });
  for (std::size_t at = 0; at < lives.size(); ++at) {
    const policy::Composition& composition = question.policies[at];
    if (composition.name == stock_name) continue;
    const auto& lived = lives[at];
    if (!lived) return stopped();
    std::vector<Waited> waited;
    for (std::size_t job = 0; job < lived->size(); ++job) {
      ALMANAC_CHECK(!std::isnan((*lived)[job].wait_s), "{}: a job did not end", composition.name);
      waited.push_back({&play.log().jobs[play.counted()[job]].request, (*stock_lived)[job].wait_s,
                        (*lived)[job].wait_s});
    }
    Outcome outcome{.policy = composition.name,
                    .summary = explain(composition),
                    .figures = figures_of(*lived),
                    .wait = gain_of(play, *stock_lived, *lived, &Lived::wait_s, question.seed),
                    .jct = gain_of(play, *stock_lived, *lived, &Lived::jct_s, question.seed),
                    .losers = losers_of(waited, play.log().names)};
    for (const Loser& loser : outcome.losers) {
      if (loser.is_user) {
        ++outcome.users_losing;
      } else if (!outcome.hardest_hit || loser.more_s() > outcome.hardest_hit->more_s()) {
        outcome.hardest_hit = loser;
      }
    }
    advice.outcomes.push_back(std::move(outcome));
  }
  advice.reproduces = advice.real ? is_like_real(advice) : !nodes.inferred;
  advice.best = choose(advice);
  advice.recommendation = recommend(advice);
  advice.assumptions = assumptions_of(advice, nodes);
  advice.cautions = cautions_of(advice);
  return advice;
}

}  // namespace almanac::advice
