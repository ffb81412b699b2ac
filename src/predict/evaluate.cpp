// SPDX-License-Identifier: Apache-2.0
#include "predict/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>

#include <fmt/format.h>

#include "predict/pooled.h"
#include "predict/replay.h"
#include "predict/simple.h"
#include "stats/correlation.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/datetime.h"
#include "trace/eligible.h"

namespace almanac::predict {
namespace {

/// The numbers of the distribution of forecasts.
Forecast forecast_of(const Distribution& believed) {
  constexpr double kHalfWidth = 0.2;
  const auto [low, high] = believed.central(0.9);
  return {.typical = believed.densest(kHalfWidth),
          .median = believed.quantile(0.5),
          .center = believed.mean_log(),
          .low = low,
          .high = high,
          .by_90 = believed.quantile(0.9)};
}

/// How far nine tenths of the latest errors reach.
class ErrorReach {
 public:
  void add(double error) {
    constexpr std::size_t kKept = 2'000;
    errors_.push_back(error);
    if (errors_.size() > kKept) errors_.pop_front();
    ++since_;
  }
  double value() {
    constexpr int kStale = 200;
    if (since_ > kStale || (reach_ < 0 && !errors_.empty())) {
      std::vector<double> scratch(errors_.begin(), errors_.end());
      reach_ = stats::quantile(scratch, 0.9);
      since_ = 0;
    }
    return reach_;
  }

 private:
  std::deque<double> errors_;
  double reach_ = -1;
  int since_ = 0;
};

/// The baselines with intervals, and their predictions for running jobs.
class Baselines {
 public:
  explicit Baselines(const trace::Trace& trace)
      : simple_(trace.names),
        rolling_(make_rolling(trace.names)),
        reach_(kCount),
        said_(trace.jobs.size()) {}
  static constexpr std::size_t kCount = kSimple.size() + 1;

  std::array<Forecast, kCount> ask(JobId job, const trace::Request& request) {
    std::array<double, kCount>& said = said_[index(job)];
    said[0] = log_time(rolling_->estimate(job, request).run);
    const auto logs = simple_.logs(request);
    std::copy(logs.begin(), logs.end(), said.begin() + 1);
    std::array<Forecast, kCount> made;
    for (std::size_t at = 0; at < kCount; ++at) {
      made[at] = {.typical = said[at], .median = said[at], .center = said[at]};
      const double reach = reach_[at].value();
      if (reach < 0) continue;
      made[at].low = said[at] - reach;
      made[at].high = said[at] + reach;
    }
    return made;
  }
  void learn(JobId job, const trace::Request& request, const Ended& ended) {
    simple_.learn(job, request, ended);
    rolling_->learn(job, request, ended);
    for (std::size_t at = 0; at < kCount; ++at) {
      reach_[at].add(std::abs(said_[index(job)][at] - log_time(ended.ran)));
    }
  }
  const Recent* history(const trace::Request& request) { return simple_.history(request); }

 private:
  SimpleEstimates simple_;
  std::unique_ptr<Estimator> rolling_;
  std::vector<ErrorReach> reach_;
  std::vector<std::array<double, kCount>> said_;
};

Result<Time> start_of_test(const trace::Trace& trace, Time wanted) {
  std::vector<Time> submissions;
  for (const trace::Job& job : trace.jobs) {
    if (job.request.gpus > 0 && !trace::never_ran(job)) submissions.push_back(job.request.submit);
  }
  if (submissions.empty()) {
    return fail(Code::invalid, "the log has no GPU job to predict", {.file = trace.path});
  }
  const Time from = wanted != kNoTime ? wanted : submissions[submissions.size() * 2 / 3];
  if (from > submissions.back()) {
    return fail(Code::invalid,
                fmt::format("no job was submitted from {} on; the last one was submitted {}",
                            text::format_datetime(from), text::format_datetime(submissions.back())),
                {.file = trace.path});
  }
  return from;
}

}  // namespace

Result<Evaluation> evaluate(const trace::Trace& trace, const EvaluateOptions& options) {
  const auto from = start_of_test(trace, options.from);
  if (!from) return tl::unexpected(from.error());
  Evaluation made{.from = *from};
  made.estimators.push_back({"learned", "boosted trees and nearest past jobs", {}});
  made.estimators.push_back({"pooled", "a guess, past runs and the learned model: forecasts", {}});
  made.estimators.push_back({"rolling", "the paper's rolling estimate", {}});
  for (const SimpleName& each : kSimple) made.estimators.push_back({each.name, each.words, {}});

  Pooled pooled(trace.names, Learned(trace.names, options.learned));
  Baselines baselines(trace);
  const auto on_submit = [&](JobId id, const trace::Request& request) {
    const Recent* const own = baselines.history(request);
    const auto simple = baselines.ask(id, request);
    if (request.submit < *from) return pooled.watch(id, request);
    const Pooled::Opinion said = pooled.ask(id, request);
    const double log = log_time(trace.jobs[index(id)].outcome.run);
    Forecast learned = pooled.learned().forecast(said.learned);
    learned.position = said.learned.believed.position(log);
    learned.by_90 = said.learned.believed.quantile(0.9);
    made.estimators[0].forecasts.push_back(learned);
    made.estimators[kPooled].forecasts.push_back(forecast_of(said.believed));
    for (std::size_t of = 0; of < Baselines::kCount; ++of) {
      made.estimators[of + 2].forecasts.push_back(simple[of]);
    }
    made.jobs.push_back({.job = static_cast<std::uint32_t>(index(id)),
                         .log = log,
                         .log_gpus = std::log10(request.gpus),
                         .history = own != nullptr ? own->count() : 0,
                         .age = own != nullptr ? request.submit - own->last() : kNoDuration,
                         .user = request.user});
    if (options.progress) {
      options.progress(static_cast<double>(index(id)) / static_cast<double>(trace.jobs.size()));
    }
  };
  replay(trace.jobs, on_submit, [&](JobId id, const trace::Request& request, const Ended& ended) {
    pooled.learn(id, request, ended);
    baselines.learn(id, request, ended);
  });
  made.fits = pooled.learned().fits();
  made.fit_s = pooled.learned().fit_s();
  const bool limited = std::any_of(made.jobs.begin(), made.jobs.end(), [&](const Tested& each) {
    return trace.jobs[each.job].request.time_limit != kNoDuration;
  });
  if (!limited) made.estimators.pop_back();  // requested_time
  return made;
}

Score score(const Evaluation& evaluation, const Tried& tried, std::span<const std::uint32_t> jobs) {
  std::vector<double> errors_s;
  std::vector<double> errors_log;
  std::vector<double> believed;
  std::vector<double> truth;
  std::vector<double> inside;
  std::vector<double> widths;
  std::vector<double> in_time;
  for (const std::uint32_t at : jobs) {
    const Tested& job = evaluation.jobs[at];
    const Forecast& said = tried.forecasts[at];
    errors_s.push_back(std::abs(std::pow(10.0, said.median) - std::pow(10.0, job.log)));
    errors_log.push_back(std::abs(said.typical - job.log));
    believed.push_back(job.log_gpus + said.center);
    truth.push_back(job.log_gpus + job.log);
    if (!std::isnan(said.by_90)) {
      in_time.push_back(Distribution::cell_of(job.log) <= Distribution::cell_of(said.by_90) ? 1
                                                                                            : 0);
    }
    if (std::isnan(said.low)) continue;
    inside.push_back(job.log >= said.low && job.log <= said.high ? 1 : 0);
    widths.push_back(said.high - said.low);
  }
  return {.jobs = static_cast<std::int64_t>(jobs.size()),
          .mae_s = stats::mean(errors_s),
          .median_abs_log10_error = stats::quantile(errors_log, 0.5),
          .spearman_gpu_time = stats::spearman(believed, truth),
          .coverage_90 = stats::mean(inside),
          .interval_width = stats::quantile(widths, 0.5),
          .ended_by_90 = stats::mean(in_time)};
}

std::vector<std::uint32_t> all_tested(const Evaluation& evaluation) {
  std::vector<std::uint32_t> all(evaluation.jobs.size());
  for (std::size_t at = 0; at < all.size(); ++at) all[at] = static_cast<std::uint32_t>(at);
  return all;
}

namespace {

/// Returns for each tested job the fraction of users with more tested jobs than its own user.
std::vector<double> share_of_busier_users(const Evaluation& evaluation) {
  std::map<NameId, std::int64_t> jobs_of;
  for (const Tested& job : evaluation.jobs) ++jobs_of[job.user];
  std::vector<std::int64_t> counts;
  for (const auto& [user, jobs] : jobs_of) counts.push_back(jobs);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  std::vector<double> shares;
  for (const Tested& job : evaluation.jobs) {
    const auto busier =
        std::lower_bound(counts.begin(), counts.end(), jobs_of.at(job.user), std::greater<>());
    shares.push_back(static_cast<double>(busier - counts.begin()) /
                     static_cast<double>(counts.size()));
  }
  return shares;
}

}  // namespace

std::vector<Group> groups(const Evaluation& evaluation) {
  std::vector<Group> made;
  std::vector<std::size_t> firsts;
  const auto add = [&](const char* by, std::initializer_list<const char*> names) {
    firsts.push_back(made.size());
    for (const char* const name : names) made.push_back({by, name, {}});
  };
  add("gpus", {"1 GPU", "2-7 GPUs", "8 GPUs", "more than 8 GPUs"});
  add("history",
      {"no job before", "1-9 jobs before", "10-99 jobs before", "100 or more jobs before"});
  add("age", {"ended within 1 h", "within 1 day", "within 1 week", "longer ago"});
  add("user", {"busiest 10 % of users", "next 40 %", "other half"});
  add("length", {"below 15 min", "15 min to 6 h", "above 6 h"});

  const std::vector<double> busier = share_of_busier_users(evaluation);
  /// Among how many of the ascending bounds `value` lies.
  const auto rank = [](double value, std::initializer_list<double> bounds) {
    return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), value) -
                                    bounds.begin());
  };
  for (std::size_t at = 0; at < evaluation.jobs.size(); ++at) {
    const Tested& job = evaluation.jobs[at];
    const auto join = [&](std::size_t by, std::size_t group) {
      made[firsts[by] + group].jobs.push_back(static_cast<std::uint32_t>(at));
    };
    join(0, rank(std::round(std::pow(10.0, job.log_gpus)), {2, 8, 9}));
    join(1, rank(job.history, {1, 10, 100}));
    if (job.age != kNoDuration) join(2, rank(seconds(job.age), {3600, 86'400, 604'800}));
    join(3, rank(busier[at], {0.1, 0.5}));
    join(4, rank(std::pow(10.0, job.log), {900, 21'600}));
  }
  std::erase_if(made, [](const Group& group) { return group.jobs.empty(); });
  return made;
}

}  // namespace almanac::predict
