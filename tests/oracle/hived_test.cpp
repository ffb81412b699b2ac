// SPDX-License-Identifier: Apache-2.0

/// \file
/// The guarantee of HiveD through the ordinary engine: whatever guests and other tenants do, a job
/// that fits what its tenant's own cells have left starts when it comes and is never stopped.
#include <array>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "cluster/cells/scheduler.h"
#include "cluster/read_toml.h"
#include "policy/registry.h"
#include "support/play.h"

namespace almanac {
namespace {

constexpr int kNodes = 6;

/// Nodes of two sockets of four GPUs, in pairs.
struct Owner {
  const char* name;
  int gpus;
  std::array<int, 5> cells;  // racks of two nodes, nodes, sockets, pairs, GPUs
  int pinned = -1;           // a node
};

/// By its guarantee, of 48 GPUs without racks.
constexpr std::array kGuaranteed{Owner{"red", 20, {0, 2, 1, 0, 0}},
                                 Owner{"blue", 12, {0, 1, 1, 0, 0}},
                                 Owner{"green", 11, {0, 1, 0, 1, 1}}};
/// By its cells, in three racks.
constexpr std::array kTold{Owner{"red", 20, {1, 0, 1, 0, 0}}, Owner{"blue", 12, {0, 0, 1, 0, 0}, 3},
                           Owner{"green", 11, {0, 1, 0, 0, 3}}};

/// A tenant alone on its cells.
cells::Scheduler alone(const Owner& owner, bool has_racks) {
  const std::string top = has_racks ? "rack" : "node";
  cells::Layout layout{.types = {{.name = "node", .child = "socket", .children = 2, .node = true},
                                 {.name = "socket", .child = "pair", .children = 2},
                                 {.name = "pair", .child = "gpu", .children = 2}}};
  if (has_racks) layout.types.push_back({.name = "rack", .child = "node", .children = 2});
  for (int node = 0; node < kNodes; ++node) {
    cells::Place place{.type = "node"};
    if (node == owner.pinned) place.pinned = "pinned";
    for (int gpu = 0; gpu < 8; ++gpu) {
      if (gpu % 4 == 0) place.within.push_back({.type = "socket"});
      auto& pairs = place.within.back().within;
      if (gpu % 2 == 0) pairs.push_back({.type = "pair"});
      pairs.back().within.push_back({.type = "gpu", .node = std::to_string(node), .leaf = gpu});
    }
    if (has_racks && node % 2 == 0) layout.places.push_back({.type = "rack"});
    auto& within = has_racks ? layout.places.back().within : layout.places;
    within.push_back(std::move(place));
  }
  const std::array types{"rack", "node", "socket", "pair", "gpu"};
  for (std::size_t type = has_racks ? 0 : 1; type < types.size(); ++type) {
    layout.shares.push_back(
        {.vc = owner.name, .chain = top, .type = types[type], .cells = owner.cells[type]});
  }
  if (owner.pinned >= 0) {
    layout.shares.push_back({.vc = owner.name, .pinned = "pinned", .chain = top});
  }
  return cells::Scheduler(std::move(*cells::build(layout)));
}

/// Takes what a job of so many GPUs would have of the tenant's cells; false = they have no room.
bool takes(cells::Scheduler& own, const Owner& owner, std::size_t job, int gpus) {
  cells::Request request{.group = std::to_string(job),
                         .vc = owner.name,
                         .priority = cells::kLeastGuaranteed,
                         .leaf_type = "gpu"};
  if (gpus / 8 > 0) request.members.push_back({gpus / 8, 8});
  if (gpus % 8 > 0) request.members.push_back({1, gpus % 8});
  for (const std::string& pinned : {std::string("pinned"), std::string()}) {
    if (!pinned.empty() && owner.pinned < 0) continue;
    request.pinned = pinned;
    if (!own.fits(request)) continue;
    own.allocate(request, own.decide(request, own.everywhere()));
    return true;
  }
  return false;
}

/// Plays so many requests of tenants that fit.
template <std::size_t kCount>
void play(Case input, const std::array<Owner, kCount>& owners, bool has_racks) {
  constexpr int kRequests = 20'000;
  std::vector<cells::Scheduler> own;
  for (const Owner& owner : owners) own.push_back(alone(owner, has_racks));
  struct End {
    std::int64_t at;
    std::size_t owner;
    std::size_t job;
    bool operator>(const End& other) const { return at > other.at; }
  };
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  Rng rng(1);
  std::vector<bool> is_owned;
  int fitting = 0;
  for (std::int64_t now = 0; fitting < kRequests; now += static_cast<std::int64_t>(rng.below(12))) {
    for (; !ends.empty() && ends.top().at <= now; ends.pop()) {
      own[ends.top().owner].release(std::to_string(ends.top().job));
    }
    const std::size_t job = input.trace.jobs.size();
    const auto run = static_cast<std::int64_t>(1 + rng.below(200));
    const int gpus = static_cast<int>(1 + rng.below(rng.below(3) == 0 ? 16 : 6));
    const std::size_t at = rng.below(kCount + 1);
    if (at < kCount) {
      if (!takes(own[at], owners[at], job, gpus)) continue;
      ends.push({now + run, at, job});
      ++fitting;
    }
    add_job(input.trace, {.id = std::to_string(job),
                          .submit = now * 1s,
                          .gpus = gpus,
                          .run = run * 1s,
                          .user = at < kCount ? owners[at].name : "guest"});
    is_owned.push_back(at < kCount);
  }
  const auto policy = policy::registry().make(*policy::registry().compose("hived"), {});
  const sim::Schedule schedule = sim::simulate(input.trace, input.cluster, *policy, input.options);
  std::uint64_t stopped = 0;
  for (std::size_t job = 0; job < is_owned.size(); ++job) {
    const sim::JobResult result = schedule.jobs[job];
    if (!is_owned[job]) {
      stopped += result.preemptions;
      continue;
    }
    ASSERT_EQ(result.start, input.trace.jobs[job].request.submit) << "job " << job;
    ASSERT_EQ(result.preemptions, 0U) << "job " << job;
  }
  EXPECT_GT(stopped, 1000U) << "guests are in the way, and go";
}

TEST(Hived, NeverBlocksAJobThatFitsItsTenantsGuarantee) {
  Case input;
  input.cluster.add_vc("all");
  input.cluster.add_nodes({.gpus = 8, .sockets = 2}, kNodes);
  input.cluster.takes_every_job = true;
  for (const Owner& owner : kGuaranteed) {
    input.cluster.tenants.push_back({.name = owner.name, .guarantee = double(owner.gpus)});
  }
  play(std::move(input), kGuaranteed, /*has_racks=*/false);
}

TEST(Hived, NeverBlocksAJobThatFitsItsTenantsCells) {
  Case input;
  std::string toml =
      "takes_every_job = true\n[node]\ngpus = 8\nsockets = 2\n[[vc]]\nname = \"all\"\n";
  for (const char* const rack : {"a", "b", "c"}) {
    toml += fmt::format("[[vc.group]]\nnodes = 2\nrack = \"{}\"\n", rack);
  }
  const std::array kinds{"rack", "node", "socket", "", "gpu"};
  for (const Owner& owner : kTold) {
    toml += fmt::format("[[tenant]]\nname = \"{}\"\n", owner.name);
    if (owner.pinned >= 0) {
      toml += fmt::format("[[tenant.cell]]\nkind = \"node\"\npinned = \"{}\"\n", owner.pinned);
    }
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      if (owner.cells[kind] == 0) continue;
      toml += fmt::format("[[tenant.cell]]\nkind = \"{}\"\ncells = {}\n", kinds[kind],
                          owner.cells[kind]);
    }
  }
  auto cluster = cluster::parse_toml(toml, "cells.toml");
  ASSERT_TRUE(cluster) << cluster.error().message;
  input.cluster = std::move(*cluster);
  play(std::move(input), kTold, /*has_racks=*/true);
}

}  // namespace
}  // namespace almanac
