// SPDX-License-Identifier: Apache-2.0
#include "replicas/pool.h"

#include <algorithm>

namespace almanac::replicas {

std::pair<const ReplicaId, Pool::Replica>* Pool::free_one() {
  std::pair<const ReplicaId, Replica>* best = nullptr;
  for (auto& each : replicas_) {
    const Replica& replica = each.second;
    if (!replica.is_open || replica.busy >= limits_.at_once) continue;
    if (best == nullptr || replica.busy < best->second.busy) best = &each;
  }
  return best;
}

std::optional<Pool::Lent> Pool::lend(Instant until, const std::function<bool()>& has_client_left) {
  constexpr std::chrono::milliseconds kLook{100};
  std::unique_lock lock(mutex_);
  if (shut_ || waiting_.size() >= limits_.waits) return std::nullopt;
  const std::uint64_t ticket = tickets_++;
  ++arrived_;
  waiting_.push_back(ticket);
  std::pair<const ReplicaId, Replica>* found = nullptr;
  const auto is_my_turn = [&] {
    if (shut_) return true;
    if (waiting_.front() != ticket) return false;
    found = free_one();
    return found != nullptr;
  };
  for (bool is_over = is_my_turn(); !is_over && !has_client_left();) {
    const Instant now = std::chrono::steady_clock::now();
    if (now >= until) break;
    is_over = news_.wait_until(lock, std::min(until, now + kLook), is_my_turn);
  }
  std::erase(waiting_, ticket);
  // The next in line may find a replica with room too.
  news_.notify_all();
  if (found == nullptr || shut_) return std::nullopt;
  ++found->second.busy;
  return Lent{found->first, found->second.port};
}

void Pool::give_back(ReplicaId replica, bool failed) {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(replica);
  --found->second.busy;
  if (failed) found->second.is_open = false;
  news_.notify_all();
}

void Pool::open(ReplicaId replica, int port) {
  const std::lock_guard lock(mutex_);
  replicas_[replica].port = port;
  replicas_[replica].is_open = true;
  news_.notify_all();
}

void Pool::close(ReplicaId replica) {
  const std::lock_guard lock(mutex_);
  if (const auto found = replicas_.find(replica); found != replicas_.end()) {
    found->second.is_open = false;
  }
}

bool Pool::is_open(ReplicaId replica) const {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(replica);
  return found != replicas_.end() && found->second.is_open;
}

int Pool::busy(ReplicaId replica) const {
  const std::lock_guard lock(mutex_);
  const auto found = replicas_.find(replica);
  return found == replicas_.end() ? 0 : found->second.busy;
}

void Pool::shut() {
  const std::lock_guard lock(mutex_);
  shut_ = true;
  news_.notify_all();
}

inference::Load Pool::load() const {
  const std::lock_guard lock(mutex_);
  inference::Load seen{.waiting = static_cast<std::int64_t>(waiting_.size()), .arrived = arrived_};
  for (const auto& [id, replica] : replicas_) {
    seen.ready += replica.is_open;
    seen.running += replica.busy;
  }
  return seen;
}

}  // namespace almanac::replicas
