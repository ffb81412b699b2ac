// SPDX-License-Identifier: Apache-2.0
#include "predict/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "predict/replay.h"
#include "predict/simple.h"
#include "stats/correlation.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/datetime.h"

namespace almanac::predict {
namespace {

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

/// The baselines with intervals, and what they said of jobs that run.
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
  std::uint32_t history(const trace::Request& request) { return simple_.history(request); }

 private:
  SimpleEstimates simple_;
  std::unique_ptr<Estimator> rolling_;
  std::vector<ErrorReach> reach_;
  std::vector<std::array<double, kCount>> said_;
};

Result<Time> start_of_test(const trace::Trace& trace, Time wanted) {
  std::vector<Time> submissions;
  for (const trace::Job& job : trace.jobs) {
    if (job.request.gpus > 0) submissions.push_back(job.request.submit);
  }
  if (submissions.empty()) {
    return fail(Code::invalid, "the log has no GPU job to predict", {.file = trace.path});
  }
  const Time from = wanted != kNoTime ? wanted : submissions[submissions.size() * 2 / 3];
  if (from > submissions.back()) {
    return fail(Code::invalid,
                fmt::format("no job is submitted from {} on; the last one is of {}",
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
  made.estimators.push_back({"learned", "boosted trees and the closest earlier jobs", {}});
  made.estimators.push_back({"rolling", "the paper's rolling estimate", {}});
  for (const SimpleName& each : kSimple) made.estimators.push_back({each.name, each.words, {}});

  Learned learned(trace.names, options.learned);
  Baselines baselines(trace);
  const auto on_submit = [&](JobId id, const trace::Request& request) {
    const std::uint32_t history = baselines.history(request);
    const auto simple = baselines.ask(id, request);
    if (request.submit < *from) return learned.watch(id, request);
    const Prediction prediction = learned.foresee(id, request);
    const double log = log_time(trace.jobs[index(id)].outcome.run);
    made.estimators[0].forecasts.push_back(learned.forecast(prediction));
    made.estimators[0].forecasts.back().position = prediction.believed.position(log);
    for (std::size_t of = 0; of < Baselines::kCount; ++of) {
      made.estimators[of + 1].forecasts.push_back(simple[of]);
    }
    made.jobs.push_back({.job = static_cast<std::uint32_t>(index(id)),
                         .log = log,
                         .log_gpus = std::log10(request.gpus),
                         .history = history});
    if (options.progress) {
      options.progress(static_cast<double>(index(id)) / static_cast<double>(trace.jobs.size()));
    }
  };
  replay(trace.jobs, on_submit, [&](JobId id, const trace::Request& request, const Ended& ended) {
    learned.learn(id, request, ended);
    baselines.learn(id, request, ended);
  });
  made.fits = learned.fits();
  made.fit_s = learned.fit_s();
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
  for (const std::uint32_t at : jobs) {
    const Tested& job = evaluation.jobs[at];
    const Forecast& said = tried.forecasts[at];
    errors_s.push_back(std::abs(std::pow(10.0, said.median) - std::pow(10.0, job.log)));
    errors_log.push_back(std::abs(said.typical - job.log));
    believed.push_back(job.log_gpus + said.center);
    truth.push_back(job.log_gpus + job.log);
    if (std::isnan(said.low)) continue;
    inside.push_back(job.log >= said.low && job.log <= said.high ? 1 : 0);
    widths.push_back(said.high - said.low);
  }
  return {.jobs = static_cast<std::int64_t>(jobs.size()),
          .mae_s = stats::mean(errors_s),
          .median_abs_log10_error = stats::quantile(errors_log, 0.5),
          .spearman_gpu_time = stats::spearman(believed, truth),
          .coverage_90 = stats::mean(inside),
          .interval_width = stats::quantile(widths, 0.5)};
}

std::vector<std::uint32_t> everybody(const Evaluation& evaluation) {
  std::vector<std::uint32_t> all(evaluation.jobs.size());
  for (std::size_t at = 0; at < all.size(); ++at) all[at] = static_cast<std::uint32_t>(at);
  return all;
}

std::vector<Group> groups(const Evaluation& evaluation) {
  std::vector<Group> made = {{"gpus", "1 GPU", {}},
                             {"gpus", "2-7 GPUs", {}},
                             {"gpus", "8 GPUs", {}},
                             {"gpus", "more than 8 GPUs", {}},
                             {"history", "no job before", {}},
                             {"history", "1-9 jobs before", {}},
                             {"history", "10-99 jobs before", {}},
                             {"history", "100 jobs before", {}},
                             {"length", "below 15 min", {}},
                             {"length", "15 min to 6 h", {}},
                             {"length", "above 6 h", {}}};
  for (std::size_t at = 0; at < evaluation.jobs.size(); ++at) {
    const Tested& job = evaluation.jobs[at];
    const double gpus = std::round(std::pow(10.0, job.log_gpus));
    const double ran_s = std::pow(10.0, job.log);
    const std::size_t by_gpus = gpus < 2 ? 0 : gpus < 8 ? 1 : gpus < 9 ? 2 : 3;
    const std::size_t by_history = job.history == 0    ? 0
                                   : job.history < 10  ? 1
                                   : job.history < 100 ? 2
                                                       : 3;
    const std::size_t by_length = ran_s < 900 ? 0 : ran_s < 21600 ? 1 : 2;
    for (const std::size_t group : {by_gpus, 4 + by_history, 8 + by_length}) {
      made[group].jobs.push_back(static_cast<std::uint32_t>(at));
    }
  }
  std::erase_if(made, [](const Group& group) { return group.jobs.empty(); });
  return made;
}

}  // namespace almanac::predict
