// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/room_by_rank.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "policy/contract/may_stop.h"

namespace almanac::policy {
namespace {

/// Before every job's.
constexpr QueueKey kNoPlace{.rank = -std::numeric_limits<double>::infinity(),
                            .tier = std::numeric_limits<std::int32_t>::max()};
constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

RoomByRank::RoomByRank(Desk& desk, VcId vc, const std::vector<QueueKey>* keys)
    : desk_(desk), keys_(keys), vc_(vc) {
  const cluster::VirtualCluster& home = desk.view().cluster.vcs[index(vc)];
  first_ = home.first;
  nodes_.resize(home.num_nodes);
  pool_of_.resize(home.num_nodes);
  const auto pools = desk.ledger().pools(vc);
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    for (const NodeId node : pools[pool].nodes) pool_of_[member(node)] = pool;
  }
}

void RoomByRank::enter(JobId job, std::span<const cluster::Grant> grants) {
  for (const cluster::Grant& grant : grants) {
    std::vector<JobId>& jobs = nodes_[member(grant.node)].jobs;
    // A node twice, for two pieces of one job, is a node.
    if (jobs.empty() || jobs.back() != job) jobs.push_back(job);
  }
}

void RoomByRank::leave(JobId job, std::span<const cluster::Grant> grants) {
  // No question may ever come.
  if (log_.size() > 8 * nodes_.size()) forget_log();
  for (const cluster::Grant& grant : grants) {
    std::vector<JobId>& jobs = nodes_[member(grant.node)].jobs;
    const auto found = std::find(jobs.begin(), jobs.end(), job);
    if (found != jobs.end()) {
      *found = jobs.back();
      jobs.pop_back();
    }
    changed(grant.node);
  }
}

void RoomByRank::all_changed() {
  for (NodeState& node : nodes_) ++node.version;
  forget_log();
}

std::span<const JobId> RoomByRank::in_the_way(Board& known, const cluster::Demand& demand,
                                              const QueueKey& bar) {
  catch_up(known);
  Last last{.key = bar};
  find_worst(known, 1, demand, last);
  answer_.clear();
  if (last.job == kNoJob) return answer_;
  std::vector<Last> all;
  for (const cluster::Grant& grant : desk_.grants(last.job)) {
    gather(member(grant.node));
    for (const Last& each : gathered_) {
      if (!(each.key < last.key)) all.push_back(each);
    }
  }
  std::sort(all.begin(), all.end(), [](const Last& a, const Last& b) { return b.key < a.key; });
  for (const Last& each : all) {
    if (answer_.empty() || answer_.back() != each.job) answer_.push_back(each.job);
  }
  return answer_;
}

void RoomByRank::find_worst(Board& board, std::size_t at, const cluster::Demand& demand,
                            Last& best) {
  if (!(best.key < board.last[board.worst[at]].key)) return;
  if (at < board.worst.size() / 2) {
    const std::size_t first = 2 * at + (board.worst[2 * at] == board.worst[at] ? 0 : 1);
    find_worst(board, first, demand, best);
    find_worst(board, first ^ 1, demand, best);
    return;
  }
  const std::uint32_t node = board.worst[at];
  // What became less was not told.
  look_at(board, node);
  const bool is_it = demand.total() == board.demand.total();
  const Last found = is_it ? board.last[node] : last_to_go(node, demand);
  if (!(best.key < found.key)) return;
  ALMANAC_CHECK(found.job != kNoJob, "there is room for a demand that could not be placed");
  best = found;
}

std::uint32_t RoomByRank::board_of(DemandId id, const cluster::Demand& demand) {
  if (known_for_.size() <= index(id)) known_for_.resize(index(id) + 1, kNone);
  if (known_for_[index(id)] == kNone) known_for_[index(id)] = board_of(demand);
  return known_for_[index(id)];
}

std::uint32_t RoomByRank::board_of(const cluster::Demand& demand) {
  const auto floor = [](std::int32_t amount) {
    return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(amount)));
  };
  const cluster::Demand alike{.gpus = demand.gpus,
                              .tasks = demand.tasks,
                              .gpu_types = demand.gpu_types,
                              .cpu_milli = floor(demand.cpu_milli),
                              .memory_mb = floor(demand.memory_mb)};
  const auto number = static_cast<std::uint32_t>(index(alike_.id_of(alike)));
  if (number < boards_.size()) return number;
  Board& known = boards_.emplace_back();
  known.demand = alike;
  known.last.assign(nodes_.size() + 1, {.key = kNoPlace});
  // Of no version that there is yet.
  known.seen.assign(nodes_.size(), kNone);
  const std::size_t leaves = std::bit_ceil(nodes_.size());
  known.worst.assign(2 * leaves, static_cast<std::uint32_t>(nodes_.size()));
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) known.worst[leaves + node] = node;
  return number;
}

void RoomByRank::catch_up(Board& board) {
  const auto look = [&](std::uint32_t node) {
    if (board.seen[node] != nodes_[node].version) look_at(board, node);
  };
  if (board.log_number == log_number_ && log_.size() - board.read < nodes_.size()) {
    for (; board.read < log_.size(); ++board.read) look(log_[board.read]);
    return;
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) look(node);
  board.log_number = log_number_;
  board.read = log_.size();
}

void RoomByRank::look_at(Board& board, std::uint32_t node) {
  board.last[node] = last_to_go(node, board.demand);
  board.seen[node] = nodes_[node].version;
  for (std::size_t at = (board.worst.size() / 2 + node) / 2; at > 0; at /= 2) {
    const std::uint32_t left = board.worst[2 * at];
    const std::uint32_t right = board.worst[2 * at + 1];
    board.worst[at] = board.last[left].key < board.last[right].key ? right : left;
  }
}

RoomByRank::Last RoomByRank::last_to_go(std::uint32_t node, const cluster::Demand& demand) {
  const Last nowhere{.key = kNoPlace};
  const cluster::Ledger& ledger = desk_.ledger();
  const NodeId id = node_of(node);
  const bool ready = !ledger.drained(id) && ledger.power(id) == cluster::Power::on;
  if (!ready || !ledger.pools(vc_)[pool_of_[node]].suits(demand)) return nowhere;
  const cluster::Amount wanted = demand.total();
  cluster::Amount room = ledger.room(id);
  if (room.covers(wanted)) return {.key = kNobody};
  gather(node);
  for (const Last& each : gathered_) {
    for (const cluster::Grant& grant : desk_.grants(each.job)) {
      if (grant.node == id) room += grant.amount();
    }
    if (room.covers(wanted)) return each;
  }
  return nowhere;
}

void RoomByRank::gather(std::uint32_t node) {
  gathered_.clear();
  for (const JobId job : nodes_[node].jobs) {
    if (desk_.view().progress(job).phase != Phase::running) continue;  // it starts just now
    if (!may_stop(desk_.view().request(job), Stops::all)) continue;
    const QueueKey key = keys_ == nullptr ? desk_.running_key(job) : (*keys_)[index(job)];
    gathered_.push_back({key, job});
  }
  std::sort(gathered_.begin(), gathered_.end(),
            [](const Last& a, const Last& b) { return b.key < a.key; });
}

}  // namespace almanac::policy
