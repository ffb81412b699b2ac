// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/jahani/node_search.h"

#include <algorithm>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::policy {
namespace {

struct Puzzle {
  cluster::Cluster cluster = cluster::uniform(3, 2);
  std::vector<NodeSearch::Offer> nodes{};
  std::vector<NodeSearch::Ask> jobs{};
};

Puzzle any_puzzle(int most_jobs) {
  Puzzle made;
  for (std::uint32_t node = 0; node < 3; ++node) {
    made.nodes.push_back({.id = NodeId{node},
                          .price = static_cast<double>(*rc::gen::inRange(1, 4)),
                          .paid_s = static_cast<double>(*rc::gen::inRange(0, 9))});
  }
  for (int job = *rc::gen::inRange(0, most_jobs + 1); job > 0; --job) {
    NodeSearch::Ask& each = made.jobs.emplace_back();
    each.demand.gpus = 1;
    each.waits_cost = *rc::gen::inRange(0, 60);
    for (int gpus = 1; gpus <= *rc::gen::inRange(0, 3); ++gpus) {
      each.ways.push_back({.gpus = gpus,
                           .gpu_type = 1,
                           .time_s = static_cast<double>(*rc::gen::inRange(1, 20)),
                           .cost = static_cast<double>(*rc::gen::inRange(0, 20))});
    }
  }
  return made;
}

/// What nodes and jobs cost when each job has the way of its number, or waits; infinite where nodes
/// lack the GPUs. A node costs until the last job there ends, whichever came first.
double cost_of(const Puzzle& puzzle, const std::vector<std::pair<std::size_t, int>>& picks) {
  double cost = 0;
  std::map<std::size_t, double> until_s;
  std::map<std::size_t, int> gpus;
  for (std::size_t job = 0; job < picks.size(); ++job) {
    const auto [node, way] = picks[job];
    if (way < 0) {
      cost += puzzle.jobs[job].waits_cost;
      continue;
    }
    const NodeSearch::Way& each = puzzle.jobs[job].ways[static_cast<std::size_t>(way)];
    cost += each.cost;
    until_s[node] = std::max(until_s[node], each.time_s);
    gpus[node] += each.gpus;
  }
  for (const auto& [node, last_s] : until_s) {
    if (gpus[node] > 2) return std::numeric_limits<double>::infinity();
    const NodeSearch::Offer& each = puzzle.nodes[node];
    cost += each.price * std::max(0.0, last_s - each.paid_s);
  }
  return cost;
}

double least_of_all(const Puzzle& puzzle, std::vector<std::pair<std::size_t, int>>& picks) {
  if (picks.size() == puzzle.jobs.size()) return cost_of(puzzle, picks);
  double least = std::numeric_limits<double>::infinity();
  const auto ways = static_cast<int>(puzzle.jobs[picks.size()].ways.size());
  for (std::size_t node = 0; node < puzzle.nodes.size(); ++node) {
    for (int way = -1; way < ways; ++way) {
      picks.emplace_back(node, way);
      least = std::min(least, least_of_all(puzzle, picks));
      picks.pop_back();
    }
  }
  return least;
}

double found(const Puzzle& puzzle, int most_steps) {
  cluster::Ledger ledger(puzzle.cluster);
  NodeSearch search(ledger);
  for (const NodeSearch::Offer& node : puzzle.nodes) search.offer(node);
  std::vector<std::pair<std::size_t, int>> picks;
  const auto choices = search.place(puzzle.jobs, most_steps);
  for (std::size_t job = 0; job < choices.size(); ++job) {
    picks.emplace_back(index(choices[job].node), choices[job].gpus - 1);
  }
  return cost_of(puzzle, picks);
}

RC_GTEST_PROP(NodeSearch, CostsNoMoreThanTheBestOfAllWays, ()) {
  const Puzzle puzzle = any_puzzle(4);
  std::vector<std::pair<std::size_t, int>> picks;
  RC_ASSERT(std::abs(found(puzzle, 1'000'000) - least_of_all(puzzle, picks)) < 1e-9);
}

RC_GTEST_PROP(NodeSearch, HasAnAnswerHoweverSoonItIsCutShort, ()) {
  const Puzzle puzzle = any_puzzle(8);
  const double cut = found(puzzle, *rc::gen::inRange(0, 30));
  RC_ASSERT(cut < std::numeric_limits<double>::infinity());
  RC_ASSERT(cut >= found(puzzle, 1'000'000) - 1e-9);
}

}  // namespace
}  // namespace almanac::policy
