// SPDX-License-Identifier: Apache-2.0

/// \file
/// The learned estimator: watches submissions and ends, and learns anew every week from what has
/// ended by then.
///
/// Source   Hu et al., SC'21, section 4.1: the Model Update Engine feeds ended jobs back and fits
///          the model anew from time to time.
/// Differs  The interval is not published; a week here, and at once when the number of ended jobs
///          has doubled, so that a cold start does not last a week, or when the forecasts have
///          become far worse than when the model was fitted. A model that was brought along stays
///          until as many jobs have ended here as it was learned from, or until it has become far
///          worse.
/// Cost     A fit looks at LearnedOptions::most jobs at most. Once more have ended, there is none
///          before an eighth more of them have: to n jobs 6 log2(n / most) fits more, at most.
#pragma once

#include <future>
#include <memory>
#include <unordered_map>
#include <vector>

#include "predict/estimator.h"
#include "predict/examples.h"
#include "predict/forecast.h"
#include "predict/model_file.h"

namespace almanac::predict {

struct LearnedOptions {
  Duration refresh = 7 * 24h;
  bool fits = true;           ///< False: a model that was brought stays as it is.
  std::size_t most = 20'000;  ///< Examples that a model is fitted to (predict/examples.h).
  ModelOptions model{};
};

class Learned final : public Estimator {
 public:
  /// `names` must outlive it.
  explicit Learned(const Names& names, LearnedOptions options = {})
      : memory_(names), options_(options) {}
  /// With a model fitted before, which is kept as it is and sees only what ends here.
  Learned(const Names& names, Model model)
      : memory_(names),
        options_{.fits = false},
        model_(std::make_shared<const Model>(std::move(model))) {}
  /// With a model fitted before and what had ended then, to go on from there.
  Learned(const Names& names, std::shared_ptr<const StoredModel> brought,
          LearnedOptions options = {});

  /// What is believed of a job that is submitted now. About 10 us; a new model every so often takes
  /// a second or two, unless answer_at_once() was said.
  Prediction foresee(JobId job, const trace::Request& request);
  /// The same in numbers.
  Forecast forecast(const Prediction& prediction) const;
  /// The number to go by is the mean of log10 seconds: what gpu-time orders ask for.
  Belief estimate(JobId job, const trace::Request& request) override;
  void learn(JobId job, const trace::Request& request, const Ended& ended) override;

  /// What a model would look at.
  Row row(const trace::Request& request) { return features(memory_, request); }
  /// The kinds of a job in memory().
  KindKeys keys(const trace::Request& request) { return memory_.keys(request); }
  /// No model is made for it.
  void watch(JobId job, const trace::Request& request) override;
  /// It ends with the fit that it has begun.
  void answer_at_once(Time now) override;
  /// Null = too little has ended so far.
  const Model* model() const { return model_.get(); }
  /// Fits a model of all that has ended; does nothing when that is too little.
  void fit(Time now);
  /// What a fit would look at.
  const Examples& examples() const { return examples_; }
  const Memory& memory() const { return memory_; }
  int fits() const { return fits_; }
  double fit_s() const { return fit_s_; }  ///< That fits took, on the wall.

 private:
  struct Waiting {
    Seen seen{};
    float typical = -1;  // -1 = was not asked
  };
  /// A model that is to be, and what it is fitted to.
  struct Fit {
    std::vector<Example> examples{};
    ModelOptions options{};
    std::shared_ptr<const Model> earlier{};  // null = begins from nothing
    std::size_t fresh = 0;                   // examples that it was not fitted to
    std::uint64_t ended = 0;                 // jobs by then
    std::shared_ptr<const Model> model{};
    double took_s = 0;

    void run();
  };
  bool is_due(Time now) const;
  Seen look(const trace::Request& request);
  Prediction guess(const Seen& seen) const;
  /// To learn from at its end.
  void remember(JobId job, const Waiting& waiting);
  void judge(const Waiting& job, double log);
  Fit begin_fit(Time now);
  void fit_aside(Time now);
  void take(const Fit& done);

  Memory memory_;
  LearnedOptions options_{};
  std::unordered_map<std::uint32_t, Waiting> underway_;  // by JobId; some 780 bytes each
  Examples examples_{options_.most};
  std::shared_ptr<const Model> model_;
  bool brought_ = false;
  bool fits_aside_ = false;
  std::shared_ptr<Fit> fit_;  // that is under way in `fitting_`
  std::future<void> fitting_;
  Time fitted_at_{};
  std::uint64_t fitted_on_ = 0;  // jobs that had ended by then
  int fits_ = 0;
  double fit_s_ = 0;
  double recent_error_ = 0;  // of forecasts since the last fit, fading
  std::size_t judged_ = 0;
};

}  // namespace almanac::predict
