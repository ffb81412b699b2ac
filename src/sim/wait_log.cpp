// SPDX-License-Identifier: Apache-2.0
#include "sim/wait_log.h"

#include <algorithm>

namespace almanac::sim {
namespace {

constexpr Duration kLeast = 1min;
constexpr int kPart = 10;

}  // namespace

void WaitLog::look(Time now, schedule::Round& round) {
  while (!due_.empty() && due_.top().first <= now) {
    const JobId job = due_.top().second;
    due_.pop();
    if (index(job) >= last_.size()) {
      last_.resize(index(job) + 1);
      came_.resize(index(job) + 1, now);
    }
    const policy::Progress& state = round.progress(job);
    if (state.phase == policy::Phase::waiting) note(job, now, round);
    const bool runs = state.phase == policy::Phase::running;
    if (state.phase != policy::Phase::waiting && last_[index(job)] > 0) {
      // It may have started, and even ended, since it was asked last.
      Wait& last = waits_[last_[index(job)] - 1].wait;
      const Time began = runs                     ? state.since
                         : state.start != kNoTime ? state.start
                                                  : state.end;  // withdrawn
      if (last.until == kNever) last.until = std::max(last.from, std::min(now, began));
    }
    if (state.phase != policy::Phase::waiting && !runs) continue;
    due_.push({now + std::max(kLeast, (now - came_[index(job)]) / kPart), job});
  }
}

void WaitLog::note(JobId job, Time now, schedule::Round& round) {
  const policy::Reason reason = round.why_waiting(now, job);
  std::uint32_t& last = last_[index(job)];
  if (last > 0 && waits_[last - 1].wait.until == kNever) {
    Wait& lasts = waits_[last - 1].wait;
    if (lasts.reason.kind == reason.kind && lasts.reason.other == reason.other) return;
    lasts.until = now;
  }
  waits_.push_back({job, {now, kNever, reason}});
  last = static_cast<std::uint32_t>(waits_.size());
}

std::vector<JobWait> WaitLog::take(Time finish) {
  for (JobWait& each : waits_) each.wait.until = std::min(each.wait.until, finish);
  std::erase_if(waits_, [](const JobWait& each) { return each.wait.until <= each.wait.from; });
  std::stable_sort(waits_.begin(), waits_.end(),
                   [](const JobWait& a, const JobWait& b) { return a.job < b.job; });
  return std::move(waits_);
}

}  // namespace almanac::sim
