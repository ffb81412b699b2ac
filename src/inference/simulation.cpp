// SPDX-License-Identifier: Apache-2.0

#include "inference/simulation.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace almanac::inference {

std::uint32_t Simulation::add(const Limits& limits, const StepTime& step,
                              std::unique_ptr<Former> former, const Duty& duty) {
  const auto number = static_cast<std::uint32_t>(replicas_.size());
  replicas_.push_back(std::make_unique<Replica>(static_cast<std::int32_t>(number), limits, step,
                                                std::move(former),
                                                Books{requests_, outcomes_, busy_}));
  duties_.push_back(duty);
  planned_iteration_.push_back(false);
  if (pools_.size() <= duty.model) pools_.resize(duty.model + 1);
  if (duty.lane != Duty::kAlone && lanes_.size() <= duty.lane) lanes_.resize(duty.lane + 1);
  Pool& pool = pool_of(number);
  pool.open.push_back(replicas_.back().get());
  for (const RequestId request : std::exchange(pool.homeless, {})) {
    plan(now_, Kind::arrival, request);
  }
  return number;
}

Simulation::Pool& Simulation::pool_of(std::uint32_t replica) {
  const Duty& duty = duties_[replica];
  Pools& pools = pools_[duty.model];
  return duty.role == Role::decode ? pools.decode : pools.fresh;
}

void Simulation::take_out(std::uint32_t replica) {
  std::erase(pool_of(replica).open, replicas_[replica].get());
}

void Simulation::close(std::uint32_t replica) {
  take_out(replica);
  end_of_work(replica);
}

void Simulation::end_of_work(std::uint32_t number) {
  Replica& replica = *replicas_[number];
  const auto& open = pool_of(number).open;
  const bool closed = std::find(open.begin(), open.end(), &replica) == open.end();
  if (closed && replica.empty()) replicas_[number].reset();
}

void Simulation::lose(std::uint32_t replica) {
  take_out(replica);
  std::vector<RequestId> lost;
  replicas_[replica]->abandon(lost);
  replicas_[replica].reset();
  for (const RequestId request : lost) {
    release(request);
    plan(now_, Kind::arrival, request);
  }
  // The event that ends the replica's current iteration lets its lane continue.
  const std::uint32_t lane = duties_[replica].lane;
  if (lane != Duty::kAlone) std::erase(lanes_[lane].next, replica);
}

std::vector<Visit> Simulation::take(std::uint32_t replica) {
  ALMANAC_CHECK(duties_[replica].lane == Duty::kAlone, "a replica that takes turns was taken");
  take_out(replica);
  std::vector<Visit> visits;
  replicas_[replica]->hand_out(visits);
  replicas_[replica].reset();
  for (const Visit& each : visits) release(each.request);
  return visits;
}

void Simulation::resume(const Visit& visit, std::uint32_t replica) {
  if (visit.ready == 0 && visit.known == 0) return plan(now_, Kind::arrival, visit.request);
  enter(*replicas_[replica], visit);
}

Load Simulation::load() const {
  Load seen{.arrived = static_cast<std::int64_t>(next_ + requests_.size() - logged_),
            .over = next() == kNever};
  double blocks = 0, held = 0;
  for (const Pools& pools : pools_) {
    for (const Pool* pool : {&pools.fresh, &pools.decode}) {
      seen.ready += static_cast<int>(pool->open.size());
      seen.waiting += static_cast<std::int64_t>(pool->homeless.size());
      seen.over = seen.over && pool->homeless.empty();
      for (const Replica* replica : pool->open) {
        seen.waiting += static_cast<std::int64_t>(replica->waiting());
        seen.running += static_cast<std::int64_t>(replica->running());
        blocks += replica->cache().size();
        held += replica->cache().size() - replica->cache().free();
      }
    }
  }
  seen.kv_use = blocks > 0 ? held / blocks : 0;
  return seen;
}

RequestId Simulation::submit(const Request& request) {
  const auto id = static_cast<RequestId>(requests_.size());
  requests_.all.push_back(request);
  outcomes_.emplace_back();
  plan(request.arrival, Kind::arrival, id);
  return id;
}

bool Simulation::log_is_next() const {
  if (next_ == logged_) return false;
  const Micros at = requests_.all[next_].arrival;
  return agenda_.empty() || at < agenda_.top().at ||
         (at == agenda_.top().at && agenda_.top().kind != Kind::arrival);
}

Micros Simulation::next() const {
  if (log_is_next()) return requests_.all[next_].arrival;
  return agenda_.empty() ? kNever : agenda_.top().at;
}

void Simulation::advance(Micros until, Router& router) {
  while (!stopped_ && (next_ < logged_ || !agenda_.empty())) {
    // What the log tells stands in order already and needs no place in the agenda.
    if (log_is_next()) {
      const Micros at = requests_.all[next_].arrival;
      if (at > until) break;
      now_ = at;
      arrive(static_cast<RequestId>(next_++), router);
      continue;
    }
    const Event event = agenda_.top();
    if (event.at > until) break;
    agenda_.pop();
    now_ = event.at;
    switch (event.kind) {
      case Kind::arrival:
        arrive(event.subject, router);
        break;
      case Kind::hand_over:
        hand_over(event.subject, router);
        break;
      case Kind::copied:
        copied(event.subject);
        break;
      case Kind::balance:
        balance(router);
        break;
      case Kind::iteration:
        planned_iteration_[event.subject] = false;
        iterate(event.subject, router);
        break;
      case Kind::wake:
        if (replicas_[event.subject] != nullptr) wake(event.subject);
        break;
    }
  }
  if (until != kNever) now_ = std::max(now_, until);
}

void Simulation::wake(std::uint32_t replica) {
  // Where there are stages one iteration may begin while others are under way.
  if (replicas_[replica]->limits().stages > 1) return plan(now_, Kind::iteration, replica);
  if (planned_iteration_[replica]) return;
  planned_iteration_[replica] = true;
  plan(now_, Kind::iteration, replica);
}

void Simulation::enter(Replica& replica, const Visit& visit) {
  if (!replica.enqueue(visit)) {
    outcomes_[visit.request].replica = -1;
    release(visit.request);
    return;
  }
  wake(static_cast<std::uint32_t>(replica.number()));
}

void Simulation::arrive(RequestId request, Router& router) {
  const std::uint32_t model = requests_[request].model;
  if (pools_.size() <= model) pools_.resize(model + 1);
  Pool& pool = pools_[model].fresh;
  if (pool.open.empty()) {
    pool.homeless.push_back(request);
    return;
  }
  Replica& replica = *pool.open[router.choose(request, pool.open)];
  const Duty& duty = duties_[static_cast<std::size_t>(replica.number())];
  enter(replica, {.request = request, .only_prefill = duty.role == Role::prefill});
  if (balancing_ || router.period() == kNever) return;
  balancing_ = true;
  plan(now_ + router.period(), Kind::balance, 0);
}

void Simulation::send(std::uint32_t from, const Visit& visit, Router& router) {
  const auto moving = journeys_.find(visit.request);
  if (moving != journeys_.end() && moving->second.stage == Journey::Stage::leaves) {
    const std::int32_t rest = visit.ready - moving->second.visit.ready;
    moving->second.visit = visit;
    moving->second.stage = Journey::Stage::left;
    plan(now_ + link_(rest), Kind::hand_over, visit.request);
    return;
  }
  Pool& pool = pools_[duties_[from].model].decode;
  if (pool.open.empty()) {
    replicas_[from]->release(visit.request);
    pool.homeless.push_back(visit.request);
    return;
  }
  Router& chooser = decode_router_ == nullptr ? router : *decode_router_;
  const Replica& to = *pool.open[chooser.choose(visit.request, pool.open)];
  journeys_[visit.request] = {Journey::Stage::left, from, static_cast<std::uint32_t>(to.number()),
                              visit};
  plan(now_ + link_(visit.ready), Kind::hand_over, visit.request);
}

void Simulation::hand_over(RequestId request, Router& router) {
  const Journey& journey = journeys_.at(request);
  Pool& pool = pool_of(journey.to);
  const auto found = std::find(pool.open.begin(), pool.open.end(), replicas_[journey.to].get());
  if (found != pool.open.end()) return enter(**found, journey.visit);
  if (pool.open.empty()) {
    pool.homeless.push_back(request);
    return release(request);
  }
  enter(*pool.open[router.choose(request, pool.open)], journey.visit);
}

void Simulation::balance(Router& router) {
  bool present = false;
  for (Pools& pools : pools_) {
    const auto& open = pools.decode.open.empty() ? pools.fresh.open : pools.decode.open;
    for (Replica* const replica : open) {
      present = present || !replica->empty();
      replica->catch_up();
    }
    if (open.size() < 2) continue;
    for (const Router::Move& move : router.moves(open)) {
      const Replica& from = *open[move.from];
      for (const Replica::Slot slot : from.run()) {
        const Replica::Sequence& sequence = from.at(slot);
        if (sequence.request != move.request || sequence.prefilling()) continue;
        // One that is being copied already stays. One that was to leave and was sent back to the
        // queue has a journey that came to nothing.
        const auto before = journeys_.find(move.request);
        if (before != journeys_.end() &&
            (sequence.leaves || before->second.stage == Journey::Stage::copied_beside)) {
          continue;
        }
        journeys_[move.request] = {Journey::Stage::copied_beside,
                                   static_cast<std::uint32_t>(from.number()),
                                   static_cast<std::uint32_t>(open[move.to]->number()),
                                   {move.request, sequence.done},
                                   outcomes_[move.request].preemptions};
        plan(now_ + link_(sequence.done), Kind::copied, move.request);
      }
    }
  }
  balancing_ = present;
  if (present) plan(now_ + router.period(), Kind::balance, 0);
}

void Simulation::copied(RequestId request) {
  const auto found = journeys_.find(request);
  if (found == journeys_.end() || found->second.stage != Journey::Stage::copied_beside) return;
  Journey& journey = found->second;
  const Outcome& outcome = outcomes_[request];
  Replica* const from = replicas_[journey.from].get();
  const Replica* const to = replicas_[journey.to].get();
  const bool same = outcome.finish == kNever && outcome.preemptions == journey.preemptions;
  const bool room = to != nullptr &&
                    to->wanted_blocks() + to->blocks_for(journey.visit.ready) <= to->cache().free();
  if (same && room && from != nullptr && from->let_leave(request)) {
    journey.stage = Journey::Stage::leaves;
  } else {
    journeys_.erase(found);
  }
}

void Simulation::release(RequestId request) {
  const auto found = journeys_.find(request);
  if (found == journeys_.end()) return;
  const std::uint32_t from = found->second.from;
  const bool held = found->second.stage == Journey::Stage::left && replicas_[from] != nullptr;
  journeys_.erase(found);
  if (!held) return;
  replicas_[from]->release(request);
  wake(from);
}

void Simulation::iterate(std::uint32_t number, Router& router) {
  const std::uint32_t lane = duties_[number].lane;
  Replica* const replica = replicas_[number].get();
  const bool has_stages = replica != nullptr && replica->limits().stages > 1;
  if (has_stages ? replica->ends_at() <= now_ : replica != nullptr && replica->busy()) {
    end(*replica, now_, router);
  }
  if (lane == Duty::kAlone) {
    if (replica != nullptr) begin(number);
    return;
  }
  Lane& shared = lanes_[lane];
  if (replica != nullptr) {
    planned_iteration_[number] = true;
    shared.next.push_back(number);
  }
  if (shared.computes == number) shared.computes = Lane::kFree;
  next_of_lane(lane);
}

void Simulation::next_of_lane(std::uint32_t lane) {
  Lane& shared = lanes_[lane];
  while (shared.computes == Lane::kFree && !shared.next.empty()) {
    const std::uint32_t number = shared.next.front();
    shared.next.pop_front();
    planned_iteration_[number] = false;
    if (begin(number)) shared.computes = number;
  }
}

bool Simulation::begin(std::uint32_t number) {
  Replica& replica = *replicas_[number];
  const Micros at = replica.begin(now_);
  for (const RequestId request : replica.settled()) release(request);
  if (at == kNever) {
    if (replica.ask_again() != kNever) plan(replica.ask_again(), Kind::wake, number);
    end_of_work(number);
    return false;
  }
  planned_iteration_[number] = true;
  plan(at, Kind::iteration, number);
  if (replica.limits().stages > 1) plan(replica.opens_at(), Kind::wake, number);
  return true;
}

void Simulation::end(Replica& replica, Micros at, Router& router) {
  done_.clear();
  replica.end(at, done_);
  for (const Visit& visit : replica.left()) {
    send(static_cast<std::uint32_t>(replica.number()), visit, router);
  }
  for (const RequestId request : done_) {
    journeys_.erase(request);
    if (finished_) finished_(request, at);
  }
}

}  // namespace almanac::inference
