// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/room_by_rank.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace almanac::policy {
namespace {

constexpr double kNowhere = -std::numeric_limits<double>::infinity();
constexpr double kAtOnce = std::numeric_limits<double>::infinity();

}  // namespace

RoomByRank::RoomByRank(Desk& desk, VcId vc) : desk_(desk), vc_(vc) {
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
  for (const cluster::Grant& grant : grants) {
    std::erase(nodes_[member(grant.node)].jobs, job);
    changed(grant.node);
  }
}

void RoomByRank::all_changed() {
  for (Node& node : nodes_) ++node.version;
  log_.clear();
  ++log_number_;
}

std::span<const JobId> RoomByRank::in_the_way(DemandId id, const cluster::Demand& demand,
                                              double rank) {
  Board& known = board(id);
  catch_up(known, demand);
  // What became less was not told: the worst is believed when it was looked at just now.
  for (std::uint32_t looked_at = ~std::uint32_t{0};;) {
    const std::uint32_t node = known.worst[1];
    if (!(known.last[node].key.rank > rank)) return {};
    if (node == looked_at) break;
    look_at(known, node, demand);
    looked_at = node;
  }
  const Last last = known.last[known.worst[1]];
  ALMANAC_CHECK(last.job != kNoJob, "there is room for a demand that could not be placed");
  answer_.clear();
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

RoomByRank::Board& RoomByRank::board(DemandId id) {
  if (boards_.size() <= index(id)) boards_.resize(index(id) + 1);
  Board& known = boards_[index(id)];
  if (known.worst.empty()) {
    known.last.assign(nodes_.size() + 1, {.key = {.rank = kNowhere}});
    // Of no version that there is yet.
    known.seen.assign(nodes_.size(), ~std::uint32_t{0});
    const std::size_t leaves = std::bit_ceil(nodes_.size());
    known.worst.assign(2 * leaves, static_cast<std::uint32_t>(nodes_.size()));
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) known.worst[leaves + node] = node;
  }
  return known;
}

void RoomByRank::catch_up(Board& board, const cluster::Demand& demand) {
  if (log_.size() > 8 * nodes_.size()) {
    log_.clear();
    ++log_number_;
  }
  const auto look = [&](std::uint32_t node) {
    if (board.seen[node] != nodes_[node].version) look_at(board, node, demand);
  };
  if (board.log_number == log_number_ && log_.size() - board.read < nodes_.size()) {
    for (; board.read < log_.size(); ++board.read) look(log_[board.read]);
    return;
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) look(node);
  board.log_number = log_number_;
  board.read = log_.size();
}

void RoomByRank::look_at(Board& board, std::uint32_t node, const cluster::Demand& demand) {
  board.last[node] = last_to_go(node, demand);
  board.seen[node] = nodes_[node].version;
  for (std::size_t at = (board.worst.size() / 2 + node) / 2; at > 0; at /= 2) {
    const std::uint32_t left = board.worst[2 * at];
    const std::uint32_t right = board.worst[2 * at + 1];
    board.worst[at] = board.last[left].key < board.last[right].key ? right : left;
  }
}

RoomByRank::Last RoomByRank::last_to_go(std::uint32_t node, const cluster::Demand& demand) {
  const Last nowhere{.key = {.rank = kNowhere}};
  const cluster::Ledger& ledger = desk_.ledger();
  const NodeId id = node_of(node);
  const bool ready = !ledger.drained(id) && ledger.power(id) == cluster::Power::on;
  if (!ready || !ledger.pools(vc_)[pool_of_[node]].suits(demand)) return nowhere;
  const cluster::Amount wanted = demand.total();
  cluster::Amount room = ledger.room(id);
  if (room.covers(wanted)) return {.key = {.rank = kAtOnce}};
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
    gathered_.push_back({desk_.running_key(job), job});
  }
  std::sort(gathered_.begin(), gathered_.end(),
            [](const Last& a, const Last& b) { return b.key < a.key; });
}

}  // namespace almanac::policy
