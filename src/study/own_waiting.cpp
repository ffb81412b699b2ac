// SPDX-License-Identifier: Apache-2.0
#include "study/own_waiting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace almanac::study {
namespace {

/// When a user had a job running: stretches in order, none touching the next.
class Running {
 public:
  void add(Time from, Time until) { stretches_.emplace_back(from, until); }

  void join() {
    std::sort(stretches_.begin(), stretches_.end());
    std::size_t last = 0;
    for (std::size_t at = 1; at < stretches_.size(); ++at) {
      if (stretches_[at].first <= stretches_[last].second) {
        stretches_[last].second = std::max(stretches_[last].second, stretches_[at].second);
      } else {
        stretches_[++last] = stretches_[at];
      }
    }
    if (!stretches_.empty()) stretches_.resize(last + 1);
    before_.assign(1, 0);
    for (const auto& [from, until] : stretches_) {
      before_.push_back(before_.back() + seconds(until - from));
    }
  }

  /// How much of [from, until) lies in stretches.
  double within_s(Time from, Time until) const { return until_s(until) - until_s(from); }

 private:
  /// How much lies before `at`.
  double until_s(Time at) const {
    const auto next = std::upper_bound(stretches_.begin(), stretches_.end(), std::pair(at, at));
    const auto count = static_cast<std::size_t>(next - stretches_.begin());
    double made = before_[count];
    if (count > 0 && stretches_[count - 1].second > at) {
      made -= seconds(stretches_[count - 1].second - at);
    }
    return made;
  }

  std::vector<std::pair<Time, Time>> stretches_;
  std::vector<double> before_;
};

}  // namespace

double waited_beside_own(const Study& study, const std::set<std::string_view>& users) {
  std::map<NameId, Running> running;
  const auto counts = [&](const trace::Job& job) {
    return job.outcome.start != kNoTime && users.contains(study.trace().names[job.request.user]);
  };
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    if (!counts(job)) continue;
    running[job.request.user].add(job.outcome.start, job.outcome.start + duration_of(job));
  }
  for (auto& [user, of] : running) of.join();
  double all_s = 0;
  double beside_s = 0;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Job& job = study.job(at);
    if (!counts(job) || job.outcome.start <= job.request.submit) continue;
    all_s += seconds(job.outcome.start - job.request.submit);
    beside_s += running.at(job.request.user).within_s(job.request.submit, job.outcome.start);
  }
  return all_s > 0 ? beside_s / all_s : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace almanac::study
