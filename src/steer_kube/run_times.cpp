// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/run_times.h"

#include <algorithm>
#include <utility>

#include "kube/outlook.h"
#include "predict/replay.h"
#include "store/log.h"

namespace almanac::steer_kube {

RunTimes::RunTimes(const MakeEstimator& make)
    : names_(std::make_unique<Names>()), estimator_(make(*names_)) {}

void RunTimes::learn(const std::vector<store::Job>& past) {
  std::vector<trace::Job> jobs;
  jobs.reserve(past.size());
  for (const store::Job& each : past) {
    jobs.push_back(store::record_of(each, *names_));
    learned_.insert(each.number);
  }
  predict::teach(*estimator_, jobs);
  begin_ = next_ += static_cast<std::uint32_t>(jobs.size());
}

void RunTimes::learn_unseen(const store::Job& job) {
  const trace::Request request = store::record_of(job, *names_).request;
  const JobId number{next_++};
  estimator_->watch(number, request);
  estimator_->learn(number, request, {.at = job.end, .ran = job.attained, .state = job.state});
}

void RunTimes::take_over(const RunTimes& former, const Records& records,
                         const std::vector<store::Job>& recent) {
  for (const store::Job& each : recent) {
    if (each.attained > Duration{0} && !learned_.contains(each.number)) learn_unseen(each);
  }
  learned_ = {};
  std::vector<std::pair<std::string, Seen>> seen(former.seen_.begin(), former.seen_.end());
  std::sort(seen.begin(), seen.end(),
            [](const auto& a, const auto& b) { return a.second.number < b.second.number; });
  for (auto& [uid, of] : seen) {
    const store::Job* const job = records.find(uid);
    if (job == nullptr) continue;
    of.number = JobId{next_++};
    of.request = store::record_of(*job, *names_).request;
    estimator_->watch(of.number, of.request);
    seen_.emplace(uid, std::move(of));
  }
  begin_ = next_;
}

void RunTimes::look(const kube::Picture& picture, const Records& records,
                    const std::vector<store::Job>& ended) {
  // Those that ended first: their runs are known when the others are estimated.
  for (const store::Job& each : ended) {
    const auto found = seen_.find(each.asked->key);
    const bool has_run = each.attained > Duration{0};
    if (found != seen_.end()) {
      if (has_run) {
        estimator_->learn(found->second.number, found->second.request,
                          {.at = each.end, .ran = each.attained, .state = each.state});
      }
      seen_.erase(found);
    } else if (has_run) {
      learn_unseen(each);
    }
  }
  for (const kube::Workload& workload : picture.workloads) {
    if (workload.stage == kube::Stage::finished || seen_.contains(workload.uid)) continue;
    const store::Job* const job = records.find(workload.uid);
    if (job == nullptr) continue;
    Seen made{.number = JobId{next_++}, .request = store::record_of(*job, *names_).request};
    const predict::Belief belief = estimator_->estimate(made.number, made.request);
    made.run = belief.run;
    made.bound = belief.bound == kNoDuration ? belief.run : belief.bound;
    seen_.emplace(workload.uid, std::move(made));
  }
}

Duration RunTimes::expect(const kube::Workload& workload) const {
  if (kube::never_ends(workload)) return kube::Lifetimes::kForever;
  const auto found = seen_.find(workload.uid);
  return found == seen_.end() ? kNoDuration : found->second.run;
}

Duration RunTimes::bound(const kube::Workload& workload) const {
  if (kube::never_ends(workload)) return kube::Lifetimes::kForever;
  const auto found = seen_.find(workload.uid);
  return found == seen_.end() ? kNoDuration : found->second.bound;
}

}  // namespace almanac::steer_kube
