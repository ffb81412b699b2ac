// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "steer/decision.h"

namespace almanac::steer {

using policy::EventKind;
using slurm::JobNumber;

namespace {

cluster::Amount total_of(std::span<const cluster::Grant> held) {
  cluster::Amount made;
  for (const cluster::Grant& grant : held) made += grant.amount();
  return made;
}

}  // namespace

bool Decider::can_be_placed(const slurm::Job& job) {
  if (elsewhere_.contains(job.number)) return false;
  if (!Suitable::is_choosy(job)) return true;
  // What names its nodes is Slurm's, which starts it as soon as they are free.
  const bool ever = !Suitable::names_nodes(job);
  return suitable_->has_room(job, {.gpus = job.gpus}, round_->ledger(), ever);
}

void Decider::take_pinned(const Mirror& mirror) {
  for (const auto& [number, held] : pinned_) {
    const slurm::Job& job = *mirror.find(number);
    const JobId id = add(job);
    quotas_->put(id, job);
    if (round_->adopt(id, held, past_of(job, decision_.at))) continue;
    events_.push_back({EventKind::job_adopted, static_cast<std::uint32_t>(index(id))});
    started_.push_back(id);
  }
}

bool Decider::move_misplaced(const Mirror& mirror, bool is_last) {
  const auto is_new = [&, first = num_running_ + pinned_.size()](JobId id) {
    return index(id) >= first && mirror.find(numbers_[index(id)]) != nullptr;
  };
  const auto is_misplaced = [&](JobId id) {
    return is_new(id) && !suitable_->suits(*mirror.find(numbers_[index(id)]), round_->grants(id));
  };
  if (std::none_of(started_.begin(), started_.end(), is_misplaced)) return false;
  if (is_last) {
    for (const JobId id : started_) {
      if (is_misplaced(id)) elsewhere_.insert(numbers_[index(id)]);
    }
    std::erase_if(started_, is_misplaced);
    for (const JobNumber number : elsewhere_) decision_.aside.emplace(number, Aside::elsewhere);
    return false;
  }
  // What starts before it keeps its place; the others are planned again.
  cluster::Ledger ledger = round_->ledger();
  for (const JobId id : started_) {
    if (!is_new(id)) continue;
    for (const cluster::Grant& grant : round_->grants(id)) ledger.give_back(grant);
  }
  for (const JobId id : started_) {
    if (!is_new(id)) continue;
    const auto planned = round_->grants(id);
    if (!is_misplaced(id)) {
      for (const cluster::Grant& grant : planned) {
        if (ledger.can_take(grant)) ledger.take(grant);
      }
      continue;
    }
    const slurm::Job& job = *mirror.find(numbers_[index(id)]);
    auto held = suitable_->take(job, total_of(planned), ledger);
    if (held.empty()) {
      elsewhere_.insert(job.number);
    } else {
      pinned_.emplace_back(job.number, std::move(held));
    }
  }
  return true;
}

}  // namespace almanac::steer
