// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shows on stderr how long work of unknown length has taken.
#pragma once

#include <string>

#include "cli/progress.h"
#include "stats/quantile.h"

namespace almanac::cli {

/// Returns what `work` returns, which is called with the bar to say more.
template <typename Work>
auto while_showing(const std::string& what, const Work& work) {
  ProgressBar bar(what, [] { return stats::kNaN; });
  return work(bar);
}

}  // namespace almanac::cli
