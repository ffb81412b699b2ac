// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prints what a profile found: a row a run, then in words; or as JSON.
#pragma once

#include <string>

#include "profiling/findings.h"
#include "profiling/survey.h"

namespace almanac::cli {

struct ProfileTitle {
  std::string model{};
  std::string read_as{};  ///< The preset of its lines.
  std::string file{};
};

/// `output` is "table" or "json".
void print_profile(const profiling::Survey& survey, const profiling::Findings& findings,
                   const ProfileTitle& title, const std::string& output);

}  // namespace almanac::cli
