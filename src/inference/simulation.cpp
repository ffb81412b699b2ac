// SPDX-License-Identifier: Apache-2.0

#include "inference/simulation.h"

#include <algorithm>
#include <utility>

namespace almanac::inference {

std::uint32_t Simulation::add(const Limits& limits, const StepTime& step,
                              std::unique_ptr<Former> former) {
  const auto number = static_cast<std::uint32_t>(replicas_.size());
  replicas_.push_back(std::make_unique<Replica>(static_cast<std::int32_t>(number), limits, step,
                                                std::move(former),
                                                Books{requests_, outcomes_, busy_}));
  open_.push_back(replicas_.back().get());
  planned_iteration_.push_back(false);
  for (const RequestId request : std::exchange(homeless_, {})) plan(now_, Kind::arrival, request);
  return number;
}

void Simulation::take_out(std::uint32_t replica) { std::erase(open_, replicas_[replica].get()); }

void Simulation::close(std::uint32_t replica) {
  take_out(replica);
  if (replicas_[replica]->empty()) replicas_[replica].reset();
}

void Simulation::lose(std::uint32_t replica) {
  take_out(replica);
  std::vector<RequestId> lost;
  replicas_[replica]->abandon(lost);
  replicas_[replica].reset();
  for (const RequestId request : lost) plan(now_, Kind::arrival, request);
}

Load Simulation::load() const {
  Load seen{.ready = static_cast<int>(open_.size()),
            .waiting = static_cast<std::int64_t>(homeless_.size()),
            .arrived = static_cast<std::int64_t>(next_ + requests_.size() - logged_),
            .over = next() == kNever && homeless_.empty()};
  double blocks = 0, held = 0;
  for (const Replica* replica : open_) {
    seen.waiting += static_cast<std::int64_t>(replica->waiting());
    seen.running += static_cast<std::int64_t>(replica->running());
    blocks += replica->cache().size();
    held += replica->cache().size() - replica->cache().free();
  }
  seen.kv_use = blocks > 0 ? held / blocks : 0;
  return seen;
}

RequestId Simulation::submit(const Request& request) {
  const auto id = static_cast<RequestId>(requests_.size());
  requests_.all.push_back(request);
  outcomes_.emplace_back();
  plan(request.arrival + delay_, Kind::arrival, id);
  return id;
}

bool Simulation::log_is_next() const {
  if (next_ == logged_) return false;
  const Micros at = requests_.all[next_].arrival + delay_;
  return agenda_.empty() || at < agenda_.top().at ||
         (at == agenda_.top().at && agenda_.top().kind != Kind::arrival);
}

Micros Simulation::next() const {
  if (log_is_next()) return requests_.all[next_].arrival + delay_;
  return agenda_.empty() ? kNever : agenda_.top().at;
}

void Simulation::advance(Micros until, Router& router) {
  while (next_ < logged_ || !agenda_.empty()) {
    // What the log tells stands in order already and needs no place in the agenda.
    if (log_is_next()) {
      const Micros at = requests_.all[next_].arrival + delay_;
      if (at > until) break;
      now_ = at;
      arrive(static_cast<RequestId>(next_++), router);
      continue;
    }
    const Event event = agenda_.top();
    if (event.at > until) break;
    agenda_.pop();
    now_ = event.at;
    if (event.kind == Kind::arrival) {
      arrive(event.subject, router);
    } else {
      planned_iteration_[event.subject] = false;
      if (replicas_[event.subject] != nullptr) iterate(*replicas_[event.subject]);
    }
  }
  if (until != kNever) now_ = std::max(now_, until);
}

void Simulation::arrive(RequestId request, Router& router) {
  if (open_.empty()) {
    homeless_.push_back(request);
    return;
  }
  Replica& replica = *open_[router.choose(request, open_)];
  if (!replica.enqueue(request)) return;
  const auto number = static_cast<std::uint32_t>(replica.number());
  if (planned_iteration_[number]) return;
  planned_iteration_[number] = true;
  plan(now_, Kind::iteration, number);
}

void Simulation::iterate(Replica& replica) {
  if (replica.busy()) end(replica, now_);
  const Micros at = replica.begin(now_);
  if (at == kNever) {
    const bool closed = std::find(open_.begin(), open_.end(), &replica) == open_.end();
    if (closed && replica.empty()) replicas_[static_cast<std::size_t>(replica.number())].reset();
    return;
  }
  if (replica.limits().as_blis) {
    end(replica, at);
    if (replica.empty()) return;
  }
  const auto number = static_cast<std::uint32_t>(replica.number());
  planned_iteration_[number] = true;
  plan(at, Kind::iteration, number);
}

void Simulation::end(Replica& replica, Micros at) {
  done_.clear();
  replica.end(at, done_);
  if (!finished_) return;
  for (const RequestId request : done_) finished_(request, at);
}

}  // namespace almanac::inference
