// SPDX-License-Identifier: Apache-2.0
#include "schedule/past_use.h"

namespace almanac::schedule {

void add_past_use(const trace::Request& request, TenantId tenant, Time start, Time until,
                  Duration ran, std::vector<policy::PastUse>& uses) {
  if (start == kNoTime || until <= start || request.gpus == 0) return;
  uses.push_back({.tenant = tenant,
                  .user = request.user,
                  .gpu_s = request.gpus * request.gpu_part() * seconds(ran),
                  .from = start,
                  .until = until});
}

std::shared_ptr<const std::vector<policy::PastUse>> past_use_of(std::span<const trace::Job> ended,
                                                                const Admission& owners) {
  auto made = std::make_shared<std::vector<policy::PastUse>>();
  for (const trace::Job& job : ended) {
    add_past_use(job.request, owners.tenant(job.request), job.outcome.start, job.outcome.end,
                 job.outcome.run, *made);
  }
  return made;
}

}  // namespace almanac::schedule
