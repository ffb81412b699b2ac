// SPDX-License-Identifier: Apache-2.0

/// \file
/// Marks a job that Almanac, and no user, holds back until it is to start: these words stand in the
/// administrator's comment. The plugin job_submit/almanac writes the same words.
#pragma once

#include <string_view>

namespace almanac::slurm {

inline constexpr std::string_view kMark = "placed by almanac";

}  // namespace almanac::slurm
