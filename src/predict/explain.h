// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says in words why a model believes what it believes of one job.
#pragma once

#include <string>
#include <vector>

#include "predict/model.h"

namespace almanac::predict {

/// What one feature does to the believed run time.
struct Reason {
  std::string feature{};  ///< "user_name_median"
  std::string words{};    ///< "the median of the last ten of this user's jobs of this name"
  std::string value{};    ///< "2h 05m"
  double factor = 1;      ///< By how much it makes the run time longer, to first order.
};

/// The features that matter most first, at most `most`.
///
/// Source   Lundberg et al., Nature Machine Intelligence 2020 (TreeSHAP): what each feature adds to
///          the log-odds of each class. The trees speak of classes; to speak of a length, those
///          contributions are weighed by what a little more of each class does to the mean of
///          log10 seconds.
std::vector<Reason> explain(const Model& model, const Row& row, std::size_t most = 8);

}  // namespace almanac::predict
