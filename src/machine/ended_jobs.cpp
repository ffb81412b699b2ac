// SPDX-License-Identifier: Apache-2.0
#include "machine/ended_jobs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "service/job.h"

namespace almanac::machine {

using store::JobNumber;

LookedUp EndedJobs::look_up_prerequisites(const store::Submission& asked) const {
  LookedUp made{.at = clock_.since_boot()};
  for (const auto* const list :
       {&asked.after, &asked.after_ok, &asked.after_not_ok, &asked.after_start}) {
    for (const JobNumber number : *list) {
      if (made.well.contains(number)) continue;
      const auto known = store_.ended_well(number);
      if (known && *known) made.well.emplace(number, **known);
    }
  }
  return made;
}

Result<LookedUp> EndedJobs::look_up(const std::vector<JobNumber>& numbers) const {
  LookedUp made{.at = clock_.since_boot()};
  if (numbers.empty()) return made;
  // The tasks of an array: their numbers follow one another.
  const auto first = static_cast<std::int64_t>(numbers.front());
  const auto range = static_cast<std::int64_t>(numbers.back()) - first + 1;
  auto jobs = store_.jobs(
      {.above = JobNumber{first - 1}, .limit = std::min(range, 2 * std::ssize(numbers))});
  if (!jobs) return tl::unexpected(jobs.error());
  for (store::Job& job : *jobs) {
    if (service::has_ended(job)) made.jobs.emplace(job.number, std::move(job));
  }
  return made;
}

bool EndedJobs::is_current(const LookedUp& looked_up, JobNumber number) const {
  const auto moved = moved_.find(number);
  return moved == moved_.end() || moved->second < looked_up.at;
}

void EndedJobs::note_move(const store::Job& job) {
  const Duration now = clock_.since_boot();
  moved_[job.number] = now;
  if (job.task) moved_[job.task->array] = now;
}

void EndedJobs::forget_old_moves() {
  // No caller who looked up so long ago still waits for an answer.
  std::erase_if(moved_, [oldest = clock_.since_boot() - 10min](const auto& each) {
    return each.second < oldest;
  });
}

std::optional<bool> EndedJobs::ended_well(JobNumber number) const {
  if (consulted_ != nullptr && is_current(*consulted_, number)) {
    const auto found = consulted_->well.find(number);
    if (found != consulted_->well.end()) return found->second;
  }
  return store_.ended_well(number).value_or(std::nullopt);
}

}  // namespace almanac::machine
