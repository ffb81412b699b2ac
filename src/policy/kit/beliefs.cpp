// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/beliefs.h"

#include <utility>

namespace almanac::policy {

void Beliefs::believe(JobId job, const View& view) {
  if (!are_asked_) return;
  if (runs_.size() < view.num_jobs()) runs_.resize(view.num_jobs());
  predict::Belief belief = estimator_->estimate(job, view.request(job));
  runs_[index(job)] = belief.run;
  if (belief.bound != kNoDuration || !bounds_.empty()) {
    if (bounds_.size() < view.num_jobs()) bounds_.resize(view.num_jobs(), kNoDuration);
    bounds_[index(job)] = belief.bound;
  }
  if (!with_distributions_) return;
  if (likely_.size() < view.num_jobs()) likely_.resize(view.num_jobs());
  likely_[index(job)] = std::move(belief.distribution);
}

void Beliefs::learn(JobId job, const View& view) {
  if (!are_asked_) return;
  const Progress& state = view.progress(job);
  estimator_->learn(job, view.request(job),
                    {.at = state.end,
                     .ran = std::max(Duration{0}, state.attained - state.charged),
                     .state = view.state(job)});
}

}  // namespace almanac::policy
