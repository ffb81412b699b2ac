// SPDX-License-Identifier: Apache-2.0

/// \file
/// Explains in words why a model predicts what it does for one job.
#pragma once

#include <string>
#include <vector>

#include "predict/model.h"

namespace almanac::predict {

/// The effect of one feature on the predicted run time.
struct Reason {
  std::string feature{};  ///< "user_name_median"
  std::string words{};    ///< "the median of the last ten of this user's jobs of this name"
  std::string value{};    ///< "2h 05m"
  double factor = 1;      ///< Factor on the run time, to first order.
};

/// Returns the features with the largest effect, largest first, at most `most`.
///
/// Source   Lundberg et al., Nature Machine Intelligence 2020 (TreeSHAP): what each feature adds to
///          the log-odds of each class. To turn classes into run time, these contributions are
///          weighted by how much a little more of each class changes the mean of log10 seconds.
std::vector<Reason> explain(const Model& model, const Row& row, std::size_t most = 8);

}  // namespace almanac::predict
