// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/least_loss.h"

#include <algorithm>
#include <tuple>

namespace almanac::policy {
namespace {

struct Loss {
  std::int32_t tier;
  double gpu_s;
  Time since;
  JobId job;
};

double gpus_of(JobId job, const View& view) {
  double gpus = 0;
  for (const cluster::Grant& grant : view.grants(job)) gpus += grant.count();
  return gpus;
}

Loss loss_of(JobId job, const View& view) {
  const Duration lost =
      view.restart.of_failure(view.request(job), view.worked(job), view.grants(job));
  return {view.tier(job), gpus_of(job, view) * seconds(lost), view.progress(job).since, job};
}

}  // namespace

double work_lost_gpu_s(JobId job, const View& view) {
  const auto cost = [&](Duration worked) {
    return view.restart.of(view.request(job), worked, view.grants(job), {});
  };
  return gpus_of(job, view) * seconds(cost(view.worked(job)) - cost(Duration{0}));
}

void sort_by_loss(std::vector<JobId>& jobs, const View& view) {
  std::vector<Loss> losses;
  losses.reserve(jobs.size());
  for (const JobId job : jobs) losses.push_back(loss_of(job, view));
  std::sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) {
    return std::tuple(a.tier, a.gpu_s, b.since, b.job) <
           std::tuple(b.tier, b.gpu_s, a.since, a.job);
  });
  std::transform(losses.begin(), losses.end(), jobs.begin(),
                 [](const Loss& each) { return each.job; });
}

}  // namespace almanac::policy
