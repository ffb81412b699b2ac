// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shows on stderr how long work of unknown length has taken.
#pragma once

#include <string>

#include "cli/progress.h"
#include "stats/quantile.h"

namespace almanac::cli {

/// Calls `work` with a progress bar for messages, and returns its result.
template <typename Work>
auto while_showing(const std::string& what, const Work& work) {
  ProgressBar bar(what, [] { return stats::kNaN; });
  return work(bar);
}

}  // namespace almanac::cli
