// SPDX-License-Identifier: Apache-2.0

/// \file
/// The learned estimator: observes submissions and ends, and retrains every week from the jobs that
/// have ended.
///
/// Source   Hu et al., SC'21, section 4.1: the Model Update Engine feeds ended jobs back and
///          retrains the model from time to time.
/// Differs  The interval is not published; here it is a week. It also retrains at once if the
///          number of ended jobs has doubled, so that a cold start does not last a week, or if
///          forecasts have become far worse than at the last fit. A model that was passed in stays
///          until as many jobs have ended here as it was trained on, or until it has become far
///          worse.
/// Cost     A fit uses at most LearnedOptions::most jobs. Once more have ended, the next fit waits
///          until their number has grown by an eighth: at most 6 log2(n / most) more fits up to n
///          jobs.
#pragma once

#include <future>
#include <memory>
#include <optional>
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
  std::size_t most = 20'000;  ///< Most examples of a fit (predict/examples.h).
  ModelOptions model{};
};

class Learned final : public Estimator {
 public:
  /// `names` must outlive it.
  explicit Learned(const Names& names, LearnedOptions options = {})
      : memory_(names), options_(options) {}
  /// Starts with a fitted model, which stays unchanged and sees only jobs that end here.
  Learned(const Names& names, Model model)
      : memory_(names),
        options_{.fits = false},
        model_(std::make_shared<const Model>(std::move(model))) {}
  /// Starts with a fitted model and the jobs that had ended then, and retrains later.
  Learned(const Names& names, std::shared_ptr<const StoredModel> brought,
          LearnedOptions options = {});

  /// Predicts a job that is submitted now. About 10 us; from time to time a new model takes a
  /// second or two, unless answer_at_once() was called.
  Prediction foresee(JobId job, const trace::Request& request);
  /// Predicts a job again that was submitted and has not ended, with what is known now; nothing for
  /// a job that is not known. About 10 us.
  std::optional<Prediction> foresee_again(JobId job) const;
  /// Returns the numbers of a prediction.
  Forecast forecast(const Prediction& prediction) const;
  /// Predicts the mean of log10 seconds, which orders by GPU time need.
  Belief estimate(JobId job, const trace::Request& request) override;
  void learn(JobId job, const trace::Request& request, const Ended& ended) override;

  /// Returns what a model would see.
  Row row(const trace::Request& request) { return features(memory_, request); }
  /// Returns the kinds of a job in memory().
  KindKeys keys(const trace::Request& request) { return memory_.keys(request); }
  /// Records a submission without a prediction.
  void watch(JobId job, const trace::Request& request) override;
  /// Drops a job that will not be learned from.
  void forget(JobId job) { underway_.erase(static_cast<std::uint32_t>(index(job))); }
  /// Waits for the due fit.
  void answer_at_once(Time now) override;
  /// Returns null if too few jobs have ended.
  const Model* model() const { return model_.get(); }
  /// Fits a model to all ended jobs; does nothing if there are too few.
  void fit(Time now);
  /// Returns the jobs that a fit would use.
  const Examples& examples() const { return examples_; }
  const Memory& memory() const { return memory_; }
  int fits() const { return fits_; }
  double fit_s() const { return fit_s_; }  ///< Wall-clock time of all fits.

 private:
  struct Waiting {
    Seen seen{};
    float typical = -1;  // -1 if it was not predicted
  };
  /// A model to fit, and the examples to fit it to.
  struct Fit {
    std::vector<Example> examples{};
    ModelOptions options{};
    std::shared_ptr<const Model> earlier{};  // null to start from nothing
    std::size_t fresh = 0;                   // examples that it was not fitted to
    std::uint64_t ended = 0;                 // jobs that had ended by then
    std::shared_ptr<const Model> model{};
    double took_s = 0;

    void run();
  };
  bool is_due(Time now) const;
  Seen look(const trace::Request& request);
  Prediction guess(const Seen& seen) const;
  /// Keeps what a job was like, to learn from it at its end.
  void remember(JobId job, const Waiting& waiting);
  void judge(const Waiting& job, double log);
  Fit begin_fit(Time now);
  void fit_aside(Time now);
  void take(const Fit& done);

  Memory memory_;
  LearnedOptions options_{};
  std::unordered_map<std::uint32_t, Waiting> underway_;  // by JobId; about 780 bytes each
  Examples examples_{options_.most};
  std::shared_ptr<const Model> model_;
  bool brought_ = false;
  bool fits_aside_ = false;
  std::shared_ptr<Fit> fit_;  // in progress in `fitting_`
  std::future<void> fitting_;
  Time fitted_at_{};
  std::uint64_t fitted_on_ = 0;  // jobs that had ended at the last fit
  int fits_ = 0;
  double fit_s_ = 0;
  double recent_error_ = 0;  // of forecasts since the last fit, decaying
  std::size_t judged_ = 0;
};

}  // namespace almanac::predict
