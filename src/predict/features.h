// SPDX-License-Identifier: Apache-2.0

/// \file
/// The numbers that a model sees of a job: its request, the calendar, what ended of its kinds, and
/// what its user has underway. Nothing that is not known at its submission: the functions here are
/// given a Request and a Memory, and neither holds an outcome of a job that runs.
///
/// Source   Hu et al., SC'21, section 4.2.2: GPU and CPU demand, name, user, VC, time of
/// submission. Differs  User, name and VC enter as what lately became of their jobs, not as
/// numbered
///          categories: a number says nothing of a user who came after the training.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "predict/memory.h"

namespace almanac::predict {

/// Of the request, the calendar, the cluster, the user and the burst; and of each kind.
inline constexpr std::size_t kOwnFeatures = 33;
inline constexpr std::size_t kKindFeatures = 7;
inline constexpr std::size_t kFeatures = kOwnFeatures + kKindFeatures * kKinds;

/// Stands in a Row for what is not known: NaN.
inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

using Row = std::array<float, kFeatures>;

/// The row of a job that is submitted now, of which `memory` has not been told yet. About 2 us.
Row features(Memory& memory, const trace::Request& request);

/// How the number in a column is meant.
enum class Scale : std::uint8_t { plain, time, log2, count, weekday };

struct FeatureName {
  std::string name;   ///< "user_name_median"
  std::string words;  ///< "the median of this user's jobs of this name"
  Scale scale = Scale::plain;
};
/// Of the columns of a Row.
const std::vector<FeatureName>& feature_names();
/// "2h 05m", "8", "Monday", "not known": what stands in a column, for people.
std::string shown(const FeatureName& feature, float value);

}  // namespace almanac::predict
