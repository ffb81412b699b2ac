// SPDX-License-Identifier: Apache-2.0
#include "trace/eligible.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::trace {
namespace {

/// Slurm looks at dependencies when a job ends and at each scheduling pass after that.
constexpr Duration kAtOnce = 5s;

Time submitted(const Request& request) {
  return request.submitted != kNoTime ? request.submitted : request.submit;
}

/// kNoTime = the log does not say.
Time end_of(const Job& job) {
  if (job.outcome.end != kNoTime) return job.outcome.end;
  return job.outcome.start != kNoTime ? job.outcome.start + job.outcome.run : kNoTime;
}

/// Ends of jobs by user, to find the one with which another became eligible.
class Ends {
 public:
  explicit Ends(const std::vector<Job>& jobs) : jobs_(jobs) {
    for (std::uint32_t at = 0; at < jobs.size(); ++at) {
      const Time end = end_of(jobs[at]);
      if (end != kNoTime && jobs[at].request.user != kNoName) {
        ends_.emplace_back(jobs[at].request.user, end, at);
      }
    }
    std::sort(ends_.begin(), ends_.end());
  }

  /// The job that `job` waited for: of its user, submitted before it, ended just before it was
  /// eligible; one of its own name first, then the last to end. kNoJobKey = none.
  JobKey before(const Job& job) const {
    const Request& request = job.request;
    const auto first =
        std::lower_bound(ends_.begin(), ends_.end(),
                         std::tuple(request.user, request.submit - kAtOnce, std::uint32_t{0}));
    JobKey found = kNoJobKey;
    bool is_namesake = false;
    for (auto each = first; each != ends_.end(); ++each) {
      const auto& [user, end, at] = *each;
      if (user != request.user || end > request.submit) break;
      const Job& other = jobs_[at];
      // The other job must exist before this one can name it, and must run before its end can be
      // waited for.
      if (other.id == job.id || submitted(other.request) > submitted(request) ||
          end <= submitted(request)) {
        continue;
      }
      const bool namesake = other.request.name == request.name;
      if (found != kNoJobKey && is_namesake && !namesake) continue;
      found = other.id;
      is_namesake = namesake;
    }
    return found;
  }

 private:
  const std::vector<Job>& jobs_;
  std::vector<std::tuple<NameId, Time, std::uint32_t>> ends_;
};

std::uint64_t find_chains(Trace& trace) {
  const auto delayed = [](const Job& job) {
    return job.request.submitted != kNoTime && job.request.after == kNoJobKey &&
           job.request.user != kNoName;
  };
  if (std::none_of(trace.jobs.begin(), trace.jobs.end(), delayed)) return 0;
  const Ends ends(trace.jobs);
  std::uint64_t found = 0;
  for (Job& job : trace.jobs) {
    if (!delayed(job)) continue;
    job.request.after = ends.before(job);
    found += job.request.after != kNoJobKey ? 1 : 0;
  }
  return found;
}

/// Lets jobs that name another and say no more join when that one had ended.
bool join_after(Trace& trace) {
  const auto open = [](const Job& job) {
    return job.request.after != kNoJobKey && job.request.submitted == kNoTime;
  };
  if (std::none_of(trace.jobs.begin(), trace.jobs.end(), open)) return false;
  std::unordered_map<JobKey, Time> ends;
  for (const Job& job : trace.jobs) ends.emplace(job.id, end_of(job));
  bool any = false;
  for (Job& job : trace.jobs) {
    if (!open(job)) continue;
    const auto end = ends.find(job.request.after);
    if (end == ends.end() || end->second == kNoTime || job.outcome.start == kNoTime ||
        end->second > job.outcome.start) {
      continue;  // not there, not told, or not what happened
    }
    join_queue(job, end->second);
    any = any || job.request.submitted != kNoTime;
  }
  return any;
}

}  // namespace

void join_queue(Job& job, Time eligible) {
  Request& request = job.request;
  if (eligible == kNoTime || eligible <= request.submit) return;
  const Time end = end_of(job);
  if (job.outcome.start != kNoTime) eligible = std::min(eligible, job.outcome.start);
  if (end != kNoTime) eligible = std::min(eligible, end);
  if (eligible <= request.submit || eligible == kNever) return;
  request.submitted = request.submit;
  request.submit = eligible;
}

bool find_dependencies(Trace& trace) {
  if (trace.knows_eligible) {
    const auto later = static_cast<std::uint64_t>(
        std::count_if(trace.jobs.begin(), trace.jobs.end(),
                      [](const Job& job) { return job.request.submitted != kNoTime; }));
    const std::uint64_t found = find_chains(trace);
    if (later > 0) {
      trace.notes.push_back(
          fmt::format("{} became eligible only after submission (dependency, begin time or hold): "
                      "waits count from then{}",
                      text::counted(later, "job"),
                      found == 0 ? std::string()
                                 : fmt::format("; {} did so as another job of the same user ended, "
                                               "and are assumed to depend on it",
                                               text::grouped(static_cast<std::int64_t>(found)))));
    }
  }
  return !trace.knows_eligible && join_after(trace);
}

bool never_ran(const Job& job) {
  const Outcome& outcome = job.outcome;
  if (outcome.run > Duration::zero()) return false;
  if (outcome.state == JobState::cancelled || outcome.state == JobState::pending) return true;
  if (outcome.start == kNoTime) return outcome.end != kNoTime;
  // Without a state, one that began and ended at once is taken for it.
  return outcome.state == JobState::unknown &&
         (outcome.end == kNoTime || outcome.end == outcome.start);
}

Time withdrawn_at(const Job& job) {
  if (job.outcome.state == JobState::pending) return kNever;
  const Time end = end_of(job);
  return end == kNoTime ? kNever : end;
}

}  // namespace almanac::trace
