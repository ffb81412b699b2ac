// SPDX-License-Identifier: Apache-2.0

#include "inference/simulation.h"

#include <utility>

namespace almanac::inference {

void Simulation::add(const Limits& limits, const StepTime& step, std::unique_ptr<Former> former) {
  replicas_.push_back(std::make_unique<Replica>(static_cast<std::int32_t>(replicas_.size()), limits,
                                                step, std::move(former),
                                                Books{requests_, outcomes_}));
  open_.push_back(replicas_.back().get());
  planned_iteration_.push_back(false);
}

RequestId Simulation::submit(const Request& request) {
  const auto id = static_cast<RequestId>(requests_.size());
  requests_.all.push_back(request);
  outcomes_.emplace_back();
  plan(request.arrival + delay_, Kind::arrival, id);
  return id;
}

void Simulation::run(Router& router) {
  std::size_t next = 0;
  while (next < logged_ || !agenda_.empty()) {
    // What the log tells stands in order already and needs no place in the agenda.
    if (next < logged_) {
      const Micros at = requests_.all[next].arrival + delay_;
      if (agenda_.empty() || at < agenda_.top().at ||
          (at == agenda_.top().at && agenda_.top().kind != Kind::arrival)) {
        now_ = at;
        arrive(static_cast<RequestId>(next++), router);
        continue;
      }
    }
    const Event event = agenda_.top();
    agenda_.pop();
    now_ = event.at;
    if (event.kind == Kind::arrival) {
      arrive(event.subject, router);
    } else {
      planned_iteration_[event.subject] = false;
      iterate(*replicas_[event.subject]);
    }
  }
}

void Simulation::arrive(RequestId request, Router& router) {
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
  if (at == kNever) return;
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
