// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/gain.h"

#include <algorithm>

namespace almanac::policy {

bool has_gained(JobId job, Duration least, const View& view) {
  const double ran_s = seconds(view.attained(job));
  const double worked_s = seconds(view.worked(job));
  if (worked_s <= 0) return false;
  const double to_redo_s = seconds(view.cost(job, {})) * std::max(1.0, ran_s / worked_s);
  return seconds(view.now - view.progress(job).since) >= seconds(least) + to_redo_s;
}

bool has_repaid(JobId job, const View& view) { return has_gained(job, view.cost(job, {}), view); }

}  // namespace almanac::policy
