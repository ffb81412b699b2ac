// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/sweep_allocator.h"

#include <algorithm>
#include <cmath>

namespace almanac::policy {
namespace {

elastic::TrialId trial_of(JobId job) { return static_cast<elastic::TrialId>(index(job)); }

}  // namespace

void SweepAllocator::reported(JobId job, double metric, const View& view) {
  const NameId group = view.request(job).group;
  const auto told = view.training(job);
  if (told) heard(job, *told, metric, view);
  if (group == kNoName || std::isnan(metric) || !told) return;
  const auto [found, is_new] = sweeps_.try_emplace(group);
  if (is_new) found->second = make_rungs(told->total);
  elastic::Rungs& rungs = *found->second;
  const elastic::Verdict verdict = rungs.report(trial_of(job), told->metric_at, metric);
  if (verdict == elastic::Verdict::stop) end(job);
  if (verdict == elastic::Verdict::pause) resting_.insert(job);
  promote(rungs, view);
  end_if_over(group, verdict == elastic::Verdict::stop ? job : kNoJob, view);
}

void SweepAllocator::recall(NameId group, const View& view, Plan& plan) {
  if (!past_reports_ || group == kNoName || !recalled_.insert(group).second) return;
  if (sweeps_.contains(group)) return;
  double most = 0;
  for (const JobId job : view.group(group)) {
    most = std::max(most, static_cast<double>(view.request(job).steps));
  }
  const std::vector<PastReport> past = past_reports_(group);
  if (past.empty() || most <= 0) return;
  elastic::Rungs& rungs = *(sweeps_[group] = make_rungs(most));
  std::set<elastic::TrialId> over;
  for (const PastReport& each : past) {
    const bool is_over = each.trial == kNoJob;
    const elastic::TrialId trial = is_over ? -1 - each.number : trial_of(each.trial);
    if (is_over) over.insert(trial);
    const elastic::Verdict verdict = rungs.report(trial, each.step, each.metric);
    if (!is_over && verdict == elastic::Verdict::pause) resting_.insert(each.trial);
    if (!is_over && verdict == elastic::Verdict::stop) {
      end(each.trial);
      plan.wake(view.now);
    }
    promote(rungs, view);
  }
  for (const elastic::TrialId trial : over) rungs.gone(trial);
  promote(rungs, view);
}

bool SweepAllocator::promote(elastic::Rungs& rungs, const View& view) {
  bool any = false;
  while (const auto trial = rungs.promote()) {
    if (*trial < 0) continue;  // one that has ended
    const JobId job{static_cast<std::uint32_t>(*trial)};
    resting_.erase(job);
    promoted_.insert(job);
    look_at(job, view);  // which may be of another virtual cluster
    any = true;
  }
  return any;
}

void SweepAllocator::left(JobId job, const View& view) {
  const Phase phase = view.progress(job).phase;
  if (phase == Phase::running || phase == Phase::waiting) return;  // the job has not ended
  resting_.erase(job);
  promoted_.erase(job);
  gone(job);
  const NameId group = view.request(job).group;
  const auto sweep = sweeps_.find(group);
  if (sweep != sweeps_.end()) {
    sweep->second->gone(trial_of(job));
    promote(*sweep->second, view);
  }
  end_if_over(group, job, view);
}

void SweepAllocator::end_if_over(NameId group, JobId gone, const View& view) {
  const auto trials = view.group(group);
  const auto may_report = [&](JobId job) {
    const Phase phase = view.progress(job).phase;
    return job != gone && !resting_.contains(job) &&
           (phase == Phase::running || phase == Phase::waiting);
  };
  if (std::any_of(trials.begin(), trials.end(), may_report)) return;
  if (const auto sweep = sweeps_.find(group); sweep != sweeps_.end()) {
    sweep->second->settle();
    if (promote(*sweep->second, view)) return;
  }
  for (const JobId job : trials) {
    if (resting_.erase(job) > 0) end(job);
  }
}

int SweepAllocator::Room::gpus_left(std::uint64_t type) const {
  for (const Stock& each : left) {
    if (each.gpu_type == type) return static_cast<int>(each.milli / cluster::kWholeGpu);
  }
  return 0;
}

Time SweepAllocator::deadline_of(NameId group, const View& view) {
  Time first = kNever;
  for (const JobId job : view.group(group)) {
    const Time own = view.request(job).deadline;
    if (own != kNoTime) first = std::min(first, own);
  }
  return first;
}

int SweepAllocator::rank(JobId job, const View& view) const {
  if (view.progress(job).phase == Phase::running) return 0;
  return promoted_.contains(job) ? 1 : 2;
}

void SweepAllocator::allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                              std::vector<Wish>& wishes) {
  for (const JobId job : jobs) recall(view.request(job).group, view, plan);
  struct Group {
    Time ends = kNever;
    bool admits = true;
  };
  std::map<NameId, Group> groups;
  std::vector<JobId> line;
  for (const JobId job : jobs) {
    const NameId name = view.request(job).group;
    const auto [group, is_new] = groups.try_emplace(name);
    if (is_new && name != kNoName) {
      group->second = {.ends = ends_at(name, view), .admits = admits(name, view)};
      if (group->second.ends > view.now && group->second.ends != kNever) {
        plan.wake(group->second.ends);
      }
    }
    const bool waits = view.progress(job).phase == Phase::waiting;
    const bool is_too_late = view.now >= group->second.ends || (waits && !group->second.admits);
    if (is_too_late) {
      end(job);
      plan.wake(view.now);
    }
    // One that runs holds its GPUs until the next decision, at this instant, ends it.
    if (!rests(job) && !(waits && is_too_late)) line.push_back(job);
  }
  std::stable_sort(line.begin(), line.end(),
                   [&](JobId a, JobId b) { return rank(a, view) < rank(b, view); });
  Room room{.vc = vc, .left = stock(vc, plan.ledger)};
  for (const Stock& each : room.left) room.free.push_back({.gpu_type = each.gpu_type});
  for (const cluster::Pool& pool : plan.ledger.pools(vc)) {
    room.per_node = std::max(room.per_node, pool.gpus_per_node);
    for (Stock& each : room.free) {
      if (each.gpu_type != pool.gpu_type) continue;
      each.milli += std::int64_t{pool.free_gpus} * cluster::kWholeGpu;
    }
  }
  for (const JobId job : line) {
    const int gpus = gpus_of(job, room, view);
    if (gpus == 0) {
      if (take(room.left, job, view)) wishes.push_back({.job = job});
      continue;
    }
    cluster::Demand demand = asked(job, view);
    demand.gpus = gpus;
    const std::uint64_t chosen = types_of(job);
    const std::uint64_t held = type_held(job, view);
    if (chosen != 0) {
      demand.gpu_types &= chosen;
    } else if (held != 0) {
      demand.gpu_types = held;
    }
    if (!take(room.left, demand)) continue;
    wishes.push_back({.job = job, .gpus = gpus});
    if (chosen != 0) wishes.back().gpu_types = chosen;
  }
  widen(room, view, wishes);
}

}  // namespace almanac::policy
