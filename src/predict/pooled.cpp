// SPDX-License-Identifier: Apache-2.0
#include "predict/pooled.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "predict/limited.h"
#include "predict/proven.h"

namespace almanac::predict {
namespace {

constexpr std::size_t kCellsOfThreeDecades = 75;

/// From a second to a month, or the three decades up to the limit.
Distribution guess_of(Duration time_limit) {
  constexpr double kMonth = 6.4;
  constexpr float kRunToLimit = 0.1F;
  const bool is_limited = time_limit != kNoDuration;
  const std::size_t last = is_limited ? last_cell(time_limit) : Distribution::cell_of(kMonth) - 1;
  const std::size_t first = is_limited ? last - std::min(last, kCellsOfThreeDecades - 1) : 0;
  const float spread = is_limited ? 1 - kRunToLimit : 1;
  Distribution made;
  for (std::size_t cell = first; cell <= last; ++cell) {
    made.add_cell(cell, spread / static_cast<float>(last - first + 1));
  }
  if (is_limited) made.add_cell(last, kRunToLimit);
  return made;
}

Duration limit_of(const trace::Request& request) {
  return request.time_limit == kNoDuration ? Duration::max() : request.time_limit;
}

std::uint64_t key_of(const KindKeys& keys, Kind kind) {
  return keys[static_cast<std::size_t>(kind)];
}

}  // namespace

Pooled::Pooled(const Names& names, Learned learned)
    : kinds_(names), past_(names), learned_(std::move(learned)) {}

/// At first those of the users with fewer jobs; they count as much as twenty jobs.
Pooled::Weights& Pooled::weights_of(std::size_t of_class) {
  constexpr double kFirst = 20;
  Weights& weights = weights_[of_class];
  if (weights.front() > 0) return weights;
  weights = {1.0 / 2, 1.0 / 4, 1.0 / 4};
  if (of_class % kSizes > 0) weights = weights_of(of_class - 1);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& each : weights) each *= kFirst / sum;
  return weights;
}

/// Jobs without a user are those of one more user.
std::size_t Pooled::class_of(const trace::Request& request) {
  constexpr double kFarMore = 1.5;
  const KindKeys keys = kinds_.keys(request);
  const auto found = users_.find(key_of(keys, Kind::user));
  const Past past = found == users_.end() ? Past{} : found->second;
  Novelty novelty = Novelty::none;
  if (seconds(limit_of(request)) > kFarMore * seconds(past.longest_limit)) {
    novelty = Novelty::more_time;
  } else if (!names_.contains(key_of(keys, Kind::user_name))) {
    novelty = Novelty::name;
  }
  const std::size_t size = past.jobs == 0 ? 0 : past.jobs < 10 ? 1 : past.jobs < 100 ? 2 : 3;
  return static_cast<std::size_t>(novelty) * kSizes + size;
}

const Pooled::Waiting& Pooled::remember(JobId job, const trace::Request& request) {
  const Waiting made{.seen = past_.submitted(request), .of_class = class_of(request)};
  const auto at = static_cast<std::uint32_t>(index(job));
  return underway_.insert_or_assign(at, made).first->second;
}

std::array<Distribution, Pooled::kVoices> Pooled::voices(const PastRuns::Seen& seen,
                                                         const Prediction& learned) const {
  std::array<Distribution, kVoices> made{guess_of(seen.time_limit), past_.run_time(seen),
                                         cut_at_limit(learned.believed, seen.time_limit)};
  for (Distribution& each : made) each.normalize();
  return made;
}

Pooled::Opinion Pooled::ask(JobId job, const trace::Request& request) {
  const Waiting& waiting = remember(job, request);
  Prediction learned = learned_.foresee(job, request);
  const auto said = voices(waiting.seen, learned);
  const Weights& weights = weights_of(waiting.of_class);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  Opinion made{.guessed = weights.front() / sum,
               .by_model = weights.back() / sum,
               .learned = std::move(learned)};
  for (std::size_t voice = 0; voice < kVoices; ++voice) {
    made.believed.add(said[voice], static_cast<float>(weights[voice] / sum));
  }
  return made;
}

Belief Pooled::estimate(JobId job, const trace::Request& request) {
  return belief_of(ask(job, request).believed, request.time_limit);
}

void Pooled::watch(JobId job, const trace::Request& request) {
  learned_.watch(job, request);
  remember(job, request);
}

/// One step of expectation maximization, by how likely each voice calls the run time. Without a
/// model, what the learned voice says is a guess that no model will make: its share stays.
void Pooled::weigh(Weights& weights, const std::array<Distribution, kVoices>& said,
                   std::size_t cell) const {
  constexpr double kFade = 0.995;
  constexpr double kHardly = 1e-6;
  const std::size_t heard = learned_.model() != nullptr ? kVoices : kVoices - 1;
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  Weights called{};
  double open = 0;  // share of the voices that are heard
  for (std::size_t voice = 0; voice < heard; ++voice) {
    called[voice] = weights[voice] * std::max(kHardly, static_cast<double>(said[voice].mass(cell)));
    open += weights[voice] / all;
  }
  const double sum = std::accumulate(called.begin(), called.end(), 0.0);
  for (std::size_t voice = 0; voice < kVoices; ++voice) {
    const double now = voice < heard ? open * called[voice] / sum : weights[voice] / all;
    weights[voice] = kFade * weights[voice] + now;
  }
}

void Pooled::forget(JobId job) {
  learned_.forget(job);
  underway_.erase(static_cast<std::uint32_t>(index(job)));
}

void Pooled::learn(JobId job, const trace::Request& request, const Ended& ended) {
  const auto found = underway_.find(static_cast<std::uint32_t>(index(job)));
  const Waiting waiting = found != underway_.end() ? found->second : remember(job, request);
  // No voice has learned from this job yet.
  if (const auto learned = learned_.foresee_again(job)) {
    const std::size_t cell =
        std::min(Distribution::cell_of(log_time(ended.ran)), last_cell(request.time_limit));
    weigh(weights_of(waiting.of_class), voices(waiting.seen, *learned), cell);
  }
  past_.learn(waiting.seen, ended.ran);
  learned_.learn(job, request, ended);
  underway_.erase(static_cast<std::uint32_t>(index(job)));
  const KindKeys keys = kinds_.keys(request);
  Past& past = users_[key_of(keys, Kind::user)];
  ++past.jobs;
  past.longest_limit = std::max(past.longest_limit, limit_of(request));
  names_.insert(key_of(keys, Kind::user_name));
}

}  // namespace almanac::predict
