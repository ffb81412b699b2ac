// SPDX-License-Identifier: Apache-2.0

/// \file
/// The learned model: maps what is known of a job at its submission to a distribution of its run
/// time.
///
/// Run times are divided into about a dozen classes with equal numbers of jobs. Boosted trees
/// predict the probability of each class. Within a class, mass is placed where the nearest earlier
/// jobs were, and where all jobs were. What the trees cannot see, for example that the very same
/// job ran for 3,612 s ten times in a row, enters through a second distribution of the nearest
/// earlier jobs alone. The weight between the two is the paper's lambda, fitted on the latest jobs,
/// which the trees did not see. On the same jobs the intervals are calibrated (conformal
/// prediction).
///
/// Source   Hu et al., SC'21, section 4.2 (mixture of a rolling estimate and a GBDT); Chernozhukov,
///          Wuthrich, Zhu, PNAS 2021 (distributional conformal prediction).
/// Differs  The paper predicts one number by squared error. Run times have several modes, and a
///          mean lies between them, where no job ends.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "predict/boosted.h"
#include "predict/distribution.h"
#include "predict/nearby.h"

namespace almanac::predict {

/// What is known of a job at its submission.
struct Seen {
  Row row{};
  Nearby nearby{};
};

/// An ended job as it appeared at its submission.
struct Example {
  Seen seen{};
  float log = 0;  ///< log10 seconds of its run time.
};

struct ModelOptions {
  double held_out = 0.15;  ///< Fraction of the examples, the latest, for calibration.
  std::function<void(double)> progress{};  ///< Receives the completed fraction; may be empty.
};

struct Prediction {
  Distribution believed{};
  /// The prediction for users, log10 seconds: Distribution::densest() of the calibrated width.
  double typical = 0;
};

/// Results of the calibration.
struct Calibration {
  double nearby_weight = 0.3;          ///< Of the nearest earlier jobs against the trees.
  double within_weight = 0.5;          ///< Of the nearest earlier jobs within a class.
  double typical_nearby_weight = 0.3;  ///< The same two for the prediction for users.
  double typical_within_weight = 0.5;
  double half_width = 0.4;  ///< Factor (log10) within which that should be right most often.
  double interval = 0.9;    ///< Nominal share of the interval that holds 90 % of the jobs.
  double bound = 0.9;       ///< Nominal quantile below which 90 % of the jobs are.
  double mean_error = 0;    ///< Mean |log10 error| of the prediction for users.
};

class Model {
 public:
  /// Fits a model to at least kFewest examples, in order of their ends.
  static Model fit(std::span<const Example> examples, const ModelOptions& options);
  /// Does the same if `earlier` was fitted to all but the last `fresh` examples, at least kFewest.
  /// Calibrates on what `earlier` predicts for those, which saves growing trees without them.
  static Model refit(std::span<const Example> examples, const Model& earlier, std::size_t fresh);
  static constexpr std::size_t kFewest = 200;
  /// Most examples, the latest, of a calibration. By chance of the sample, an interval that should
  /// hold 90 % is then off by half a percent.
  static constexpr std::size_t kCalibrated = 4'000;

  Prediction predict(const Seen& job) const;
  const Calibration& calibration() const { return parts_.calibration; }
  const Boosted& trees() const { return trees_; }
  /// Returns the log10 seconds of the middle of each class.
  std::vector<double> class_middles() const;

  /// Everything except the trees; for files.
  struct Parts {
    std::vector<std::size_t> edges{};  ///< First cell of each class, then kCells.
    Distribution all{};                ///< Distribution of all examples.
    Calibration calibration{};
  };
  Model(Boosted trees, Parts parts);
  const Parts& parts() const { return parts_; }

 private:
  /// Run times of the nearest earlier jobs of one job.
  struct Near {
    Distribution spread{};          ///< Sums to one; all zero without such jobs.
    std::vector<double> classes{};  ///< Mass of each class.
    bool any = false;
  };
  static Parts parts_of(std::span<const Example> examples, const BoostOptions& boost);
  Near near_of(const Nearby& nearby) const;
  /// Spreads the mass of each class over its cells: by the near jobs there with weight
  /// `within_weight`, else by all jobs.
  Distribution spread(std::span<const float> classes, const Near& near, double within_weight) const;
  static Distribution mix(const Distribution& of_classes, const Near& near, double nearby_weight);
  /// Calibrates on examples that the trees did not see.
  Calibration calibrate(std::span<const Example> examples) const;

  Boosted trees_;
  Parts parts_;
  std::vector<double> all_classes_;  // mass of each class in Parts::all
};

}  // namespace almanac::predict
