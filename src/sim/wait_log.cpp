// SPDX-License-Identifier: Apache-2.0
#include "sim/wait_log.h"

#include <algorithm>

namespace almanac::sim {
namespace {

constexpr Duration kLeast = 10s;
constexpr int kPart = 10;

}  // namespace

void WaitLog::begin(JobId job, Time now) {
  if (index(job) >= current_.size()) current_.resize(index(job) + 1);
  Current& current = current_[index(job)];
  if (current.last > 0) {  // stopped before its nodes have booted
    Wait& last = waits_[current.last - 1].wait;
    last.until = std::min(last.until, now);
  }
  current = {.began = now, .due = now};
  due_.push({now, job});
}

void WaitLog::end(JobId job, Time now) {
  if (index(job) >= current_.size()) return;
  Current& current = current_[index(job)];
  if (current.last > 0) waits_[current.last - 1].wait.until = now;
  current = {};
}

void WaitLog::boot(JobId job, Time from, Time until, int gpus) {
  waits_.push_back({job, {from, until, {.kind = policy::ReasonKind::booting, .wanted = gpus}}});
  current_[index(job)].last = static_cast<std::uint32_t>(waits_.size());
}

void WaitLog::hold(JobId job, Time now, const policy::Reason& reason) {
  if (index(job) >= current_.size()) current_.resize(index(job) + 1);
  waits_.push_back({job, {now, kNever, reason}});
  current_[index(job)] = {.began = now, .last = static_cast<std::uint32_t>(waits_.size())};
}

void WaitLog::look(Time now, schedule::Round& round) {
  while (!due_.empty() && due_.top().first <= now) {
    const auto [due, job] = due_.top();
    due_.pop();
    Current& current = current_[index(job)];
    if (current.due != due) continue;  // of a wait that is over
    note(job, now, round);
    current.due = now + std::max(kLeast, (now - current.began) / kPart);
    due_.push({current.due, job});
  }
}

void WaitLog::note(JobId job, Time now, schedule::Round& round) {
  const policy::Reason reason = round.why_waiting(now, job);
  std::uint32_t& last = current_[index(job)].last;
  if (last > 0) {
    Wait& lasts = waits_[last - 1].wait;
    if (lasts.reason.kind == reason.kind && lasts.reason.slurm == reason.slurm &&
        lasts.reason.other == reason.other) {
      return;
    }
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
