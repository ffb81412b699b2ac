// SPDX-License-Identifier: Apache-2.0
#include "predict/proven.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "predict/limited.h"

namespace almanac::predict {
namespace {

/// The middles of all cells, in seconds.
const std::array<double, Distribution::kCells>& middles_s() {
  static const auto kMiddles = [] {
    std::array<double, Distribution::kCells> made{};
    for (std::size_t cell = 0; cell < made.size(); ++cell) {
      made[cell] = Distribution::middle_s(cell);
    }
    return made;
  }();
  return kMiddles;
}

/// Arithmetic mean.
double mean_s(const Distribution& of) {
  const auto& middles = middles_s();
  double sum = 0;
  double total = 0;
  for (std::size_t cell = 0; cell < Distribution::kCells; ++cell) {
    const auto mass = static_cast<double>(of.mass(cell));
    sum += mass * middles[cell];
    total += mass;
  }
  return sum / total;
}

float gpu_s(const trace::Request& request, float run_s) {
  return static_cast<float>(std::max(1, request.gpus)) * run_s;
}

/// The prediction of a job in the trace, cut at its limit.
Duration given_run(const trace::Request& request) {
  return request.time_limit == kNoDuration ? request.predicted
                                           : std::min(request.predicted, request.time_limit);
}

std::optional<Distribution>& place_of(Proven::Opinions& opinions, Predictor predictor) {
  return opinions.said[static_cast<std::size_t>(predictor)];
}

/// `mean` is that of `said`, in seconds.
Belief belief_with_mean(const Distribution& said, double mean, Duration time_limit) {
  constexpr double kNineInTen = 0.9;
  Belief made{.run = from_log_time(std::log10(mean))};
  if (time_limit != kNoDuration) {
    made.bound = std::max(Duration{1s}, time_limit);
    made.run = std::min(made.run, made.bound);
  } else {
    made.bound = std::max(made.run, from_log_time(said.quantile(kNineInTen)));
  }
  made.distribution = std::make_shared<const Distribution>(said);
  return made;
}

}  // namespace

Belief belief_of(const Distribution& said, Duration time_limit) {
  return belief_with_mean(said, mean_s(said), time_limit);
}

Proven::Proven(const Names& names, std::shared_ptr<const StoredModel> brought, bool uses_given)
    : kinds_(names), past_(names), uses_given_(uses_given) {
  if (brought) learned_.emplace(names, std::move(brought), LearnedOptions{.fits = false});
}

Proven::Opinions Proven::ask(JobId job, const trace::Request& request) {
  Opinions made;
  Waiting waiting{.seen = past_.submitted(request)};
  place_of(made, Predictor::history) = past_.run_time(waiting.seen);
  const bool is_limited = request.time_limit != kNoDuration;
  if (request.steps > 0) {
    waiting.step = StepTimes::seen(request, kinds_.keys(request));
    const auto said = steps_.run_time(waiting.step);
    if (said) place_of(made, Predictor::steps) = cut_at_limit(*said, request.time_limit);
  }
  if (is_limited) place_of(made, Predictor::limit) = past_.run_time_by_limit(waiting.seen);
  if (learned_) {
    place_of(made, Predictor::learned) =
        cut_at_limit(learned_->foresee(job, request).believed, request.time_limit);
  }
  std::array<bool, kPredictors> speak{};
  for (std::size_t of = 0; of < kPredictors; ++of) {
    const auto& said = made.said[of];
    speak[of] = said.has_value();
    if (said) made.means_s[of] = mean_s(*said);
    waiting.expected_s[of] = said ? static_cast<float>(made.means_s[of]) : Regret::kSilent;
  }
  if (uses_given_ && request.predicted != kNoDuration) {
    constexpr auto kGiven = static_cast<std::size_t>(Predictor::given);
    speak[kGiven] = true;
    waiting.expected_s[kGiven] = static_cast<float>(seconds(given_run(request)));
  }
  made.believed = regret_.choose(speak);
  underway_.insert_or_assign(static_cast<std::uint32_t>(index(job)), waiting);
  return made;
}

Belief Proven::estimate(JobId job, const trace::Request& request) {
  const Opinions opinions = ask(job, request);
  if (opinions.believed == Predictor::given) {
    return {.run = given_run(request), .bound = request.time_limit};
  }
  const auto believed = static_cast<std::size_t>(opinions.believed);
  return belief_with_mean(*opinions.said[believed], opinions.means_s[believed], request.time_limit);
}

void Proven::watch(JobId job, const trace::Request& request) { ask(job, request); }

void Proven::learn(JobId job, const trace::Request& request, const Ended& ended) {
  if (learned_) learned_->learn(job, request, ended);
  const auto found = underway_.find(static_cast<std::uint32_t>(index(job)));
  if (found == underway_.end()) {
    past_.learn(past_.submitted(request), ended.ran);
    steps_.learn(StepTimes::seen(request, kinds_.keys(request)), ended);
    return;
  }
  past_.learn(found->second.seen, ended.ran);
  steps_.learn(found->second.step, ended);
  const auto ran_s = static_cast<float>(std::max(1.0, seconds(ended.ran)));
  Regret::Record record{.took = gpu_s(request, ran_s)};
  for (std::size_t of = 0; of < kPredictors; ++of) {
    record.said[of] = gpu_s(request, found->second.expected_s[of]);
  }
  regret_.add(record);
  underway_.erase(found);
}

std::unique_ptr<Estimator> make_proven(const Names& names,
                                       std::shared_ptr<const StoredModel> brought) {
  return std::make_unique<Proven>(names, std::move(brought));
}

std::unique_ptr<Estimator> make_proven_given(const Names& names) {
  return std::make_unique<Proven>(names, nullptr, true);
}

}  // namespace almanac::predict
