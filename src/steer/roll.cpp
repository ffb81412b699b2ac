// SPDX-License-Identifier: Apache-2.0
#include "steer/roll.h"

#include <algorithm>
#include <utility>

namespace almanac::steer {

Roll::Member& Roll::add() {
  if (unused_.empty()) return members_.emplace_back();
  Member& again = *unused_.back();
  unused_.pop_back();
  return again;
}

void Roll::renew(Member& member, const Mirror::Known& job) {
  member = {};
  member.job = &job;
  member.number = job.number;
  member.submit = job.submit;
  member.start = job.start;
  member.revision = job.revision;
}

void Roll::read(const Mirror& mirror, std::shared_ptr<const World> world) {
  if (world != world_) *this = {};
  world_ = std::move(world);
  std::vector<Member*> present;
  present.reserve(mirror.jobs().size());
  std::vector<Member*> gone;
  std::vector<Member*> come;
  waiting_.clear();
  auto known = by_number_.begin();
  const auto leave = [&](Member& member) {
    member.is_in_order = false;
    gone.push_back(&member);
  };
  for (const auto& [number, job] : mirror.jobs()) {
    while (known != by_number_.end() && (*known)->number < number) leave(**known++);
    const bool is_known = known != by_number_.end() && (*known)->number == number;
    Member& member = is_known ? **known++ : add();
    if (!is_known || member.revision != job.revision) {
      renew(member, job);
      if (holds_nodes(job)) come.push_back(&member);
    }
    present.push_back(&member);
    if (waits(job)) waiting_.push_back(&member);
  }
  while (known != by_number_.end()) leave(**known++);
  by_number_ = std::move(present);
  file_running(come);
  for (Member* const member : gone) {
    *member = {};
    unused_.push_back(member);
  }
}

void Roll::file_running(std::vector<Member*>& come) {
  const auto is_before = [](const Member* a, const Member* b) {
    return std::pair(a->start, a->number) < std::pair(b->start, b->number);
  };
  std::erase_if(running_, [](const Member* each) { return !each->is_in_order; });
  std::sort(come.begin(), come.end(), is_before);
  const auto middle = static_cast<std::ptrdiff_t>(running_.size());
  for (Member* const member : come) {
    member->is_in_order = true;
    running_.push_back(member);
  }
  std::inplace_merge(running_.begin(), running_.begin() + middle, running_.end(), is_before);
}

Occupation Roll::count_out(bool evenly) {
  std::vector<const Holding*> each;
  each.reserve(running_.size());
  std::vector<Holding> even;
  if (evenly) {
    std::vector<const manager::Job*> jobs;
    for (const Member* const member : running_) jobs.push_back(member->job);
    even = even_holdings(jobs, *world_);
    for (const Holding& holding : even) each.push_back(&holding);
  } else {
    for (Member* const member : running_) {
      if (!member->holding) member->holding = holding_of(*member->job, *world_);
      each.push_back(&*member->holding);
    }
  }
  return Occupation(*world_, each);
}

}  // namespace almanac::steer
