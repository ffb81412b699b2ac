// SPDX-License-Identifier: Apache-2.0
#include "predict/learned.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/step_back.h"

namespace almanac::predict {

Learned::Learned(const Names& names, std::shared_ptr<const StoredModel> brought,
                 LearnedOptions options)
    : memory_(names),
      options_(std::move(options)),
      model_(brought, &brought->model),
      brought_(true),
      fitted_on_(static_cast<std::uint64_t>(brought->training.jobs)) {
  memory_.recall(brought->history);
}

Seen Learned::look(const trace::Request& request) {
  return {.row = features(memory_, request), .nearby = nearby(memory_, request)};
}

bool Learned::is_due(Time now) const {
  const std::uint64_t ended = examples_.ended();
  if (!options_.fits || ended < Model::kFewest) return false;
  if (!model_) return true;
  if (brought_ && ended >= fitted_on_) return true;
  if (!brought_ && ended >= 2 * fitted_on_) return true;
  // In a log that outgrows a fit, fits would otherwise cost as much a week however little is new.
  constexpr std::uint64_t kOneOf = 8;
  const bool outgrown = !brought_ && fitted_on_ > options_.most;
  if (outgrown && kOneOf * (ended - fitted_on_) < fitted_on_) return false;
  if (!brought_ && now - fitted_at_ >= options_.refresh) return true;
  // Drift: a day at least between fits, and enough forecasts that it is not chance.
  constexpr std::size_t kEnough = 300;
  constexpr double kFarWorse = 1.5;
  return judged_ >= kEnough && now - fitted_at_ >= 24h &&
         recent_error_ > kFarWorse * model_->calibration().mean_error;
}

void Learned::Fit::run() {
  const auto start = std::chrono::steady_clock::now();
  model = std::make_shared<const Model>(earlier ? Model::refit(examples, *earlier, fresh)
                                                : Model::fit(examples, options));
  took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Learned::Fit Learned::begin_fit(Time now) {
  examples_.thin();
  const std::span<const Example> all = examples_.all();
  // What a model that came from elsewhere was given is not at hand.
  const std::size_t fresh = model_ && !brought_ ? examples_.since(fitted_on_) : 0;
  fitted_at_ = now;
  return {.examples = {all.begin(), all.end()},
          .options = options_.model,
          .earlier = fresh >= Model::kFewest ? model_ : nullptr,
          .fresh = fresh,
          .ended = examples_.ended()};
}

void Learned::take(const Fit& done) {
  model_ = done.model;
  brought_ = false;
  fit_s_ += done.took_s;
  fitted_on_ = done.ended;
  recent_error_ = 0;
  judged_ = 0;
  ++fits_;
}

void Learned::fit(Time now) {
  if (examples_.ended() < Model::kFewest) return;
  Fit fit = begin_fit(now);
  fit.run();
  take(fit);
}

void Learned::fit_aside(Time now) {
  const Time before = fitted_at_;
  fit_ = std::make_shared<Fit>(begin_fit(now));
  try {
    fitting_ = std::async(std::launch::async, [fit = fit_] {
      step_back();
      fit->run();
    });
  } catch (const std::system_error&) {
    // No thread is to be had: the next question tries again.
    fitted_at_ = before;
  }
}

void Learned::answer_at_once(Time now) {
  if (is_due(now)) fit(now);
  fits_aside_ = true;
}

Prediction Learned::guess(const Seen& seen) const {
  if (model_) return model_->predict(seen);
  // Cold: the closest jobs that ended, and for the rest anything from a second to a month.
  constexpr double kMonth = 6.4;
  Distribution believed;
  for (std::size_t cell = 0; cell < Distribution::cell_of(kMonth); ++cell) {
    believed.add_cell(cell, 1);
  }
  believed.normalize();
  Distribution near = seen.nearby.spread(2);
  if (near.total() > 0) {
    constexpr float kNear = 3;
    near.normalize();
    believed.add(near, kNear);
    believed.normalize();
  }
  constexpr double kHalfWidth = 0.4;
  return {.believed = believed, .typical = believed.densest(kHalfWidth)};
}

Prediction Learned::foresee(JobId job, const trace::Request& request) {
  if (fitting_.valid() && fitting_.wait_for(0s) == std::future_status::ready) {
    fitting_.get();
    take(*fit_);
    fit_.reset();
  }
  if (!fitting_.valid() && is_due(request.submit)) {
    if (fits_aside_) {
      fit_aside(request.submit);
    } else {
      fit(request.submit);
    }
  }
  const Seen seen = look(request);
  Prediction made = guess(seen);
  remember(job, {seen, static_cast<float>(made.typical)});
  memory_.submitted(job, request);
  return made;
}

std::optional<Prediction> Learned::foresee_again(JobId job) const {
  const auto found = underway_.find(static_cast<std::uint32_t>(index(job)));
  if (found == underway_.end()) return std::nullopt;
  return guess(found->second.seen);
}

void Learned::remember(JobId job, const Waiting& waiting) {
  // A fit looks at no more; beyond, a queue of very many would take as much memory as they.
  if (underway_.size() >= 2 * options_.most) return;
  underway_.insert_or_assign(static_cast<std::uint32_t>(index(job)), waiting);
}

void Learned::watch(JobId job, const trace::Request& request) {
  remember(job, {.seen = look(request)});
  memory_.submitted(job, request);
}

Forecast Learned::forecast(const Prediction& prediction) const {
  const Distribution& believed = prediction.believed;
  const Calibration calibration = model_ ? model_->calibration() : Calibration{};
  const auto [low, high] = believed.central(calibration.interval);
  return {.typical = prediction.typical,
          .median = believed.quantile(0.5),
          .center = believed.mean_log(),
          .low = low,
          .high = high};
}

Belief Learned::estimate(JobId job, const trace::Request& request) {
  const Distribution believed = foresee(job, request).believed;
  return {.run = from_log_time(believed.mean_log()),
          .distribution = std::make_shared<const Distribution>(believed)};
}

void Learned::judge(const Waiting& job, double log) {
  if (job.typical < 0) return;
  const double error = std::abs(static_cast<double>(job.typical) - log);
  constexpr double kFade = 0.995;
  recent_error_ = judged_ == 0 ? error : kFade * recent_error_ + (1 - kFade) * error;
  ++judged_;
}

void Learned::learn(JobId job, const trace::Request& request, const Ended& ended) {
  memory_.ended(job, request, ended);
  const auto found = underway_.find(static_cast<std::uint32_t>(index(job)));
  if (found == underway_.end()) return;
  const double log = log_time(ended.ran);
  judge(found->second, log);
  examples_.add({.seen = found->second.seen, .log = static_cast<float>(log)});
  underway_.erase(found);
}

namespace {

class LearnedBound final : public Estimator {
 public:
  explicit LearnedBound(Learned learned) : learned_(std::move(learned)) {}
  Belief estimate(JobId job, const trace::Request& request) override {
    Belief belief = learned_.estimate(job, request);
    const double share = learned_.model() != nullptr ? learned_.model()->calibration().bound : 0.9;
    belief.run = from_log_time(belief.distribution->quantile(share));
    return belief;
  }
  void watch(JobId job, const trace::Request& request) override { learned_.watch(job, request); }
  void learn(JobId job, const trace::Request& request, const Ended& ended) override {
    learned_.learn(job, request, ended);
  }
  void answer_at_once(Time now) override { learned_.answer_at_once(now); }

 private:
  Learned learned_;
};

Learned begun(const Names& names, std::shared_ptr<const StoredModel> brought) {
  return brought ? Learned(names, std::move(brought)) : Learned(names);
}

}  // namespace

std::unique_ptr<Estimator> make_learned_90(const Names& names,
                                           std::shared_ptr<const StoredModel> brought) {
  return std::make_unique<LearnedBound>(begun(names, std::move(brought)));
}

std::unique_ptr<Estimator> make_learned(const Names& names,
                                        std::shared_ptr<const StoredModel> brought) {
  return std::make_unique<Learned>(begun(names, std::move(brought)));
}

}  // namespace almanac::predict
