// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prints a profile: a row per run, then findings in words; or JSON.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/list_options.h"
#include "profiling/findings.h"
#include "profiling/survey.h"

namespace almanac::cli {

struct ProfileTitle {
  std::string model{};
  std::string read_as{};  ///< The preset of its lines.
  std::string file{};
};
Result<int> show_profile(const profiling::Survey& survey, const profiling::Findings& findings,
                         const ProfileTitle& title, const ListOptions& list);

}  // namespace almanac::cli
