// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's policies as its program has them: the programs of `timeshare`, and what the published
/// ones do besides. `fair_srtf` is ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gavel/rule.h"

namespace almanac::gavel {

struct Options {
  std::uint32_t seed = 0;
  double considered = 1;  ///< AlloX's alpha.
};

/// Null = no policy is called so. `_perf` in a name: it sees how fast types are.
std::unique_ptr<Rule> make_rule(std::string_view name, const Options& options);

/// All names there are.
std::vector<std::string_view> rule_names();

}  // namespace almanac::gavel
