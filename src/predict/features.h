// SPDX-License-Identifier: Apache-2.0

/// \file
/// The numbers from which a model predicts a job: its request, the calendar, ended jobs like it and
/// the current jobs of its user. Everything is known at submission: the functions here get a
/// Request and a Memory, and neither holds an outcome of a running job.
///
/// Source   Hu et al., SC'21, section 4.2.2: GPU and CPU demand, name, user, VC, time of
///          submission.
/// Differs  User, name and VC enter through the recent outcomes of their jobs, not as numbered
///          categories: a number says nothing about a user who is new since the training.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "predict/memory.h"

namespace almanac::predict {

/// Number of features of the request, the calendar, the cluster, the user and the burst; and per
/// kind.
inline constexpr std::size_t kOwnFeatures = 33;
inline constexpr std::size_t kKindFeatures = 7;
inline constexpr std::size_t kFeatures = kOwnFeatures + kKindFeatures * kKinds;

/// Value in a Row for what is unknown: NaN.
inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

using Row = std::array<float, kFeatures>;

/// Returns the row of a job that is submitted now and not yet in `memory`. About 2 us.
Row features(Memory& memory, const trace::Request& request);

/// Meaning of the number in a column.
enum class Scale : std::uint8_t { plain, time, log2, count, weekday };

struct FeatureName {
  std::string name;   ///< "user_name_median"
  std::string words;  ///< "the median of this user's jobs of this name"
  Scale scale = Scale::plain;
};
/// Returns the names of the columns of a Row.
const std::vector<FeatureName>& feature_names();
/// Returns a value of a column for readers, such as "2h 05m", "8", "Monday" or "not known".
std::string shown(const FeatureName& feature, float value);

}  // namespace almanac::predict
