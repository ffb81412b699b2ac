// SPDX-License-Identifier: Apache-2.0
#include "support/witness.h"

#include <algorithm>

#include <fmt/format.h>

namespace almanac {
namespace {

using cluster::GpuMask;
using cluster::Grant;

/// What is left of a GPU, asked as a policy would: the most that could be taken.
std::int32_t left_of(const cluster::Ledger& ledger, NodeId node, int gpu) {
  const auto can_take = [&](std::int32_t milli) {
    return ledger.can_take({.node = node, .gpu_milli = milli, .gpus = GpuMask{1} << gpu});
  };
  if (can_take(cluster::kWholeGpu)) return cluster::kWholeGpu;
  std::int32_t least = 0;
  std::int32_t most = ledger.open_milli(node);
  while (least < most) {
    const std::int32_t middle = (least + most + 1) / 2;
    can_take(middle) ? least = middle : most = middle - 1;
  }
  return least;
}

/// Adds `milli` to each GPU of a mask; gives whether none is then below nothing or more than whole.
bool add_to(std::vector<std::int32_t>& gpus, GpuMask mask, std::int32_t milli) {
  bool is_there = true;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if ((mask >> gpu & 1) == 0) continue;
    gpus[gpu] += milli;
    is_there = is_there && gpus[gpu] >= 0 && gpus[gpu] <= cluster::kWholeGpu;
  }
  return is_there;
}

std::vector<FreeRoom> free_rooms(const cluster::Cluster& cluster, const cluster::Ledger& ledger) {
  std::vector<FreeRoom> free(cluster.nodes.size());
  for (std::uint32_t node = 0; node < free.size(); ++node) {
    const cluster::Amount room = ledger.room(NodeId{node});
    free[node] = {{}, room.cpu_milli, room.memory_mb};
    for (int gpu = 0; gpu < cluster.gpus(NodeId{node}); ++gpu) {
      free[node].gpu_milli.push_back(left_of(ledger, NodeId{node}, gpu));
    }
  }
  return free;
}

void give(FreeRoom& room, const Grant& grant) {
  add_to(room.gpu_milli, grant.gpus, grant.gpu_milli);
  room.cpu_milli += grant.cpu_milli;
  room.memory_mb += grant.memory_mb;
}

/// Whether there was as much.
bool take(FreeRoom& room, const Grant& grant) {
  const bool is_there = add_to(room.gpu_milli, grant.gpus, -grant.gpu_milli) &&
                        grant.cpu_milli <= room.cpu_milli && grant.memory_mb <= room.memory_mb;
  room.cpu_milli -= grant.cpu_milli;
  room.memory_mb -= grant.memory_mb;
  return is_there;
}

using Action = policy::Plan::Action;
using Change = policy::Plan::Change;

std::vector<Grant> grants_of(const policy::Plan& plan, const Change& change) {
  const auto held = plan.grants(change);
  return {held.begin(), held.end()};
}

bool stops(const Change& change) {
  return change.action == Action::stop || change.action == Action::move;
}

bool starts(const Change& change) {
  return change.action == Action::start || change.action == Action::move;
}

bool resizes(const Change& change) { return change.action == Action::resize; }

/// Calls `act` with each change that is so, in order.
template <typename Act>
void each_of(const policy::Plan& plan, bool (*is)(const Change&), Act&& act) {
  for (const Change& change : plan.changes()) {
    if (is(change)) act(change);
  }
}

}  // namespace

void Witness::decide(std::span<const policy::Event> events, const policy::View& view,
                     policy::Plan& plan) {
  for (const policy::Event& event : events) {
    const JobId job{event.subject};
    if (event.kind == policy::EventKind::job_ended) close(job, view.now, Why::done);
    if (event.kind == policy::EventKind::job_failed) close(job, view.now, Why::failed);
  }
  for (Sleep& sleep : sleeps_) {
    const bool sleeps = plan.ledger.power(sleep.node) == cluster::Power::asleep;
    if (sleep.end != kNever || sleeps) continue;
    sleep.end = view.now;
    sleep.drained = true;
  }
  const std::vector<FreeRoom> before = free_rooms(view.cluster, plan.ledger);
  watched_.decide(events, view, plan);
  check_ledger(before, view, plan);
  check_line(view, plan);
  note_power(view, plan);
  each_of(plan, stops, [&](const Change& stop) { close(stop.job, view.now, Why::stopped); });
  each_of(plan, resizes, [&](const Change& resize) {
    const auto found = open_.find(resize.job);
    if (found == open_.end()) {
      fault(view, fmt::format("job {} is resized but does not run", index(resize.job)));
    } else {
      runs_[found->second].resizes.push_back({view.now, grants_of(plan, resize)});
    }
  });
  each_of(plan, starts, [&](const Change& start) {
    const bool waits = stops(start) || view.progress(start.job).phase == policy::Phase::waiting;
    if (!waits || open_.contains(start.job)) {
      fault(view, fmt::format("job {} starts but does not wait", index(start.job)));
    }
    open_[start.job] = runs_.size();
    runs_.push_back(
        {.job = start.job, .start = view.now, .begin = view.now, .grants = grants_of(plan, start)});
  });
  for (const JobId job : plan.ended) {
    if (view.progress(job).phase == policy::Phase::running) close(job, view.now, Why::stopped);
  }
  for (const Time wake : plan.wakes) {
    if (wake < view.now) fault(view, "it asks to be woken in the past");
  }
}

std::vector<Run> Witness::runs_of(JobId job) const {
  std::vector<Run> found;
  for (const Run& run : runs_) {
    if (run.job == job) found.push_back(run);
  }
  return found;
}

void Witness::close(JobId job, Time now, Why why) {
  const auto found = open_.find(job);
  if (found == open_.end()) {
    faults_.push_back(fmt::format("{} s: job {} ends but does not run", seconds(now), index(job)));
    return;
  }
  runs_[found->second].end = now;
  runs_[found->second].stopped = why != Why::done;
  runs_[found->second].failed = why == Why::failed;
  open_.erase(found);
}

/// The ledger must have changed by what the plan says, and by nothing else.
void Witness::check_ledger(const std::vector<FreeRoom>& before, const policy::View& view,
                           const policy::Plan& plan) {
  std::vector<FreeRoom> expected = before;
  const auto give_back = [&](JobId job) {
    for (const Grant& grant : view.grants(job)) {
      if (!plan.ledger.drained(grant.node)) give(expected[index(grant.node)], grant);
    }
  };
  each_of(plan, stops, [&](const Change& stop) { give_back(stop.job); });
  each_of(plan, resizes, [&](const Change& resize) { give_back(resize.job); });
  for (const JobId job : plan.ended) {
    if (view.progress(job).phase == policy::Phase::running) give_back(job);
  }
  const auto take_all = [&](const Change& held, bool may_be_drained) {
    for (const Grant& grant : grants_of(plan, held)) {
      if (may_be_drained && plan.ledger.drained(grant.node)) continue;
      // It was not free before either; the rules look which other job has it.
      if (plan.ledger.power(grant.node) == cluster::Power::booting) continue;
      if (take(expected[index(grant.node)], grant)) continue;
      fault(view, fmt::format("it gives away node {} twice", index(grant.node)));
    }
  };
  each_of(plan, resizes, [&](const Change& resize) { take_all(resize, true); });
  each_of(plan, starts, [&](const Change& start) { take_all(start, false); });
  for (const NodeId node : plan.sleeps) {
    std::vector<std::int32_t>& gpus = expected[index(node)].gpu_milli;
    expected[index(node)] = {std::vector<std::int32_t>(gpus.size(), 0)};
  }
  if (free_rooms(view.cluster, plan.ledger) != expected) {
    fault(view, "a what-if stays in the ledger");
  }
}

/// All that wait and do not start now stand in line, each once, virtual cluster by virtual cluster;
/// but for those whose quotas have no room, which a job stopped in this plan may yet give back.
void Witness::check_line(const policy::View& view, const policy::Plan& plan) {
  constexpr std::size_t kFew = 300;
  if (view.num_jobs() > kFew) return;
  std::vector<JobId> line;
  watched_.line_up(line);
  const auto is_aside = [&](JobId job) {
    if (plan.quotas == nullptr) return false;
    const ClaimId claim = plan.quotas->of(job);
    if (!plan.quotas->has_room(claim)) return true;
    const bool stands = std::find(line.begin(), line.end(), job) != line.end();
    return claim != kNoClaim && plan.num_stops() > 0 && !stands;
  };
  std::vector<JobId> expected;
  for (std::uint32_t job = 0; job < view.num_jobs(); ++job) {
    const bool waits = view.progress(JobId{job}).phase == policy::Phase::waiting;
    const Change* const change = plan.find(JobId{job});
    const bool leaves =
        std::find(plan.ended.begin(), plan.ended.end(), JobId{job}) != plan.ended.end() ||
        std::find(plan.declined.begin(), plan.declined.end(), JobId{job}) != plan.declined.end();
    const bool starts_now = change != nullptr && change->action == Action::start;
    if (waits && !starts_now && !leaves && !is_aside(JobId{job})) expected.push_back(JobId{job});
  }
  const auto by_vc = [&](JobId a, JobId b) { return view.progress(a).vc < view.progress(b).vc; };
  if (!std::is_sorted(line.begin(), line.end(), by_vc)) {
    fault(view, "its line goes to and fro between virtual clusters");
  }
  std::sort(line.begin(), line.end());
  if (line != expected) fault(view, "its line is not of the jobs that wait");
}

void Witness::note_power(const policy::View& view, const policy::Plan& plan) {
  const auto open = [&](NodeId node) {
    return std::find_if(sleeps_.begin(), sleeps_.end(), [&](const Sleep& sleep) {
      return sleep.node == node && sleep.end == kNever;
    });
  };
  for (const NodeId node : plan.sleeps) {
    if (open(node) != sleeps_.end()) fault(view, fmt::format("node {} sleeps twice", index(node)));
    sleeps_.push_back({.node = node, .start = view.now});
  }
  for (const NodeId node : plan.boots) {
    const auto sleep = open(node);
    if (sleep == sleeps_.end()) {
      fault(view, fmt::format("node {} boots but did not sleep", index(node)));
    } else {
      sleep->end = view.now;
    }
  }
}

void Witness::fault(const policy::View& view, const std::string& sentence) {
  faults_.push_back(fmt::format("{} s: {}", seconds(view.now), sentence));
}

}  // namespace almanac
