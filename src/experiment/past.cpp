// SPDX-License-Identifier: Apache-2.0
#include "experiment/past.h"

namespace almanac::experiment {

policy::Quotas SiteQuotas::of(const std::vector<trace::Job>& jobs) const {
  policy::Quotas made = book;
  for (std::uint32_t at = 0; at < jobs.size(); ++at) {
    const auto found = claims.find(jobs[at].id);
    if (found != claims.end()) made.put(JobId{at}, found->second);
  }
  return made;
}

}  // namespace almanac::experiment
