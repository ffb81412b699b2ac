// SPDX-License-Identifier: Apache-2.0
#include "steer/beliefs.h"

#include <algorithm>
#include <utility>

#include "policy/registry.h"
#include "service/policies.h"

namespace almanac::steer {

struct Beliefs::Known {
  JobId id{};  // as the estimator was asked
  Duration run{};
  Duration bound = kNoDuration;
  std::shared_ptr<const predict::Distribution> likely{};
};

class Beliefs::OfRound final : public predict::Estimator {
 public:
  OfRound(Beliefs& beliefs, const std::vector<manager::JobNumber>& jobs,
          const std::vector<Handle*>& handles)
      : beliefs_(beliefs), jobs_(jobs), handles_(handles) {}

  predict::Belief estimate(JobId job, const trace::Request& request) override {
    Handle own;
    Handle* const kept = handles_[index(job)];
    Handle& handle = kept != nullptr ? *kept : own;
    if (handle == nullptr) handle = beliefs_.know(jobs_[index(job)], request);
    const Known& known = *handle;
    return {.run = known.run, .bound = known.bound, .distribution = known.likely};
  }

 private:
  Beliefs& beliefs_;
  const std::vector<manager::JobNumber>& jobs_;
  const std::vector<Handle*>& handles_;
};

Beliefs::Beliefs(const policy::Composition& composition, const trace::Trace& lessons)
    : needs_distribution_(policy::registry().orders.make(composition.order)->needs_distribution()),
      next_(static_cast<std::uint32_t>(lessons.jobs.size())),
      estimator_(service::taught_estimator(composition, lessons, lessons.jobs)) {
  // Uses the time of the last known end: a round cannot wait for a model.
  Time last{};
  for (const trace::Job& job : lessons.jobs) last = std::max(last, job.outcome.end);
  estimator_->answer_at_once(last);
}

const Beliefs::Handle& Beliefs::know(manager::JobNumber job, const trace::Request& request) {
  const auto [found, is_new] = known_.try_emplace(job);
  if (!is_new) return found->second;
  const auto made = std::make_shared<Known>();
  made->id = JobId{next_++};
  predict::Belief belief = estimator_->estimate(made->id, request);
  made->run = belief.run;
  made->bound = belief.bound;
  if (needs_distribution_) made->likely = std::move(belief.distribution);
  found->second = made;
  return found->second;
}

Duration Beliefs::of(manager::JobNumber job, const trace::Request& request) {
  return know(job, request)->run;
}

std::unique_ptr<predict::Estimator> Beliefs::for_round(const std::vector<manager::JobNumber>& jobs,
                                                       const std::vector<Handle*>& handles) {
  return std::make_unique<OfRound>(*this, jobs, handles);
}

void Beliefs::learn(manager::JobNumber job, const trace::Request& request,
                    const predict::Ended& ended) {
  estimator_->learn(know(job, request)->id, request, ended);
  known_.erase(job);
}

}  // namespace almanac::steer
