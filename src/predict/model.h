// SPDX-License-Identifier: Apache-2.0

/// \file
/// The learned model: from what is known of a job at its submission to how likely each run time is.
///
/// A run time falls into one of about a dozen classes, cut so that each holds as many jobs. Boosted
/// trees say how likely each class is. Within a class the mass lies where the closest earlier jobs
/// were, and where all jobs were. What the trees do not see - that the very same job ran for 3,612
/// s ten times in a row - comes in as a second distribution, of the closest earlier jobs alone; the
/// weight between the two is the paper's lambda, found on the latest jobs that the trees were not
/// given. On the same jobs the intervals are calibrated (conformal prediction).
///
/// Source   Hu et al., SC'21, section 4.2 (mixture of a rolling estimate and a GBDT); Chernozhukov,
///          Wuthrich, Zhu, PNAS 2021 (distributional conformal prediction).
/// Differs  The paper predicts one number by squared error. Run times have several modes, and a
///          mean lies between them where no job ends.
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

/// A job that has ended, as it was seen at its submission.
struct Example {
  Seen seen{};
  float log = 0;  ///< log10 seconds that it ran.
};

struct ModelOptions {
  double held_out = 0.15;                  ///< Share of the examples, the latest, to calibrate on.
  std::function<void(double)> progress{};  ///< Told the share that is done; may be empty.
};

struct Prediction {
  Distribution believed{};
  /// The number to tell a user, log10 seconds: Distribution::densest() of the calibrated width.
  double typical = 0;
};

/// What the calibration found.
struct Calibration {
  double nearby_weight = 0.3;          ///< Of the closest earlier jobs against the trees.
  double within_weight = 0.5;          ///< Of the closest earlier jobs within a class.
  double typical_nearby_weight = 0.3;  ///< The same two for the number to tell a user,
  double typical_within_weight = 0.5;
  double half_width = 0.4;  ///< and the factor (log10) within which it shall be most often.
  double interval = 0.9;    ///< Nominal share of the interval that holds 90 % of the jobs.
  double bound = 0.9;       ///< Nominal quantile below which 90 % of the jobs lie.
  double mean_error = 0;    ///< |log10 error| of the number to tell a user, in the mean.
};

class Model {
 public:
  /// Needs kFewest examples or more, in order of their ends.
  static Model fit(std::span<const Example> examples, const ModelOptions& options);
  /// The same where `earlier` was fitted to all but the last `fresh` examples, kFewest or more: it
  /// is calibrated on what `earlier` told of those, which spares growing trees without them.
  static Model refit(std::span<const Example> examples, const Model& earlier, std::size_t fresh);
  static constexpr std::size_t kFewest = 200;
  /// A calibration looks at so many of the latest examples, at most: by the chance of a sample, the
  /// share of an interval that shall hold 90 % is then off by half a percent.
  static constexpr std::size_t kCalibrated = 4'000;

  Prediction predict(const Seen& job) const;
  const Calibration& calibration() const { return parts_.calibration; }
  const Boosted& trees() const { return trees_; }
  /// log10 seconds of the middle of each class.
  std::vector<double> class_middles() const;

  /// All but the trees; what a file keeps.
  struct Parts {
    std::vector<std::size_t> edges{};  ///< First cell of each class, then kCells.
    Distribution all{};                ///< Of the examples.
    Calibration calibration{};
  };
  Model(Boosted trees, Parts parts);
  const Parts& parts() const { return parts_; }

 private:
  /// Where the closest earlier jobs of one job lie.
  struct Near {
    Distribution spread{};          ///< Sums to one; nowhere when there are none.
    std::vector<double> classes{};  ///< Of each class.
    bool any = false;
  };
  static Parts parts_of(std::span<const Example> examples, const BoostOptions& boost);
  Near near_of(const Nearby& nearby) const;
  /// Spreads the mass of each class over its cells: as near jobs lie there by `within_weight`, else
  /// as all do.
  Distribution spread(std::span<const float> classes, const Near& near, double within_weight) const;
  static Distribution mix(const Distribution& of_classes, const Near& near, double nearby_weight);
  /// On examples that the trees were not given.
  Calibration calibrate(std::span<const Example> examples) const;

  Boosted trees_;
  Parts parts_;
  std::vector<double> all_classes_;  // of Parts::all, the mass of each class
};

}  // namespace almanac::predict
