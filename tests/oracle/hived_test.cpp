// SPDX-License-Identifier: Apache-2.0

/// \file
/// The guarantee of HiveD through the ordinary engine: whatever guests and other tenants do, a job
/// that fits what its tenant's own cells have left starts when it comes and is never stopped.
#include <array>
#include <queue>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "cells/scheduler.h"
#include "policy/registry.h"
#include "support/play.h"

namespace almanac {
namespace {

/// Six nodes of two sockets of four GPUs, in pairs. Of these 48 red owns two nodes and a socket,
/// blue a node and a socket, green a node, a pair and a GPU.
struct Owner {
  const char* name;
  int gpus;
  std::array<int, 4> cells;  // nodes, sockets, pairs, GPUs
};
constexpr std::array kOwners{Owner{"red", 20, {2, 1, 0, 0}}, Owner{"blue", 12, {1, 1, 0, 0}},
                             Owner{"green", 11, {1, 0, 1, 1}}};

/// A tenant alone on its cells.
cells::Scheduler alone(const Owner& owner) {
  cells::Layout layout{.types = {{.name = "node", .child = "socket", .children = 2, .node = true},
                                 {.name = "socket", .child = "pair", .children = 2},
                                 {.name = "pair", .child = "gpu", .children = 2}}};
  for (int node = 0; node < 6; ++node) {
    cells::Place place{.type = "node"};
    for (int gpu = 0; gpu < 8; ++gpu) {
      if (gpu % 4 == 0) place.within.push_back({.type = "socket"});
      auto& pairs = place.within.back().within;
      if (gpu % 2 == 0) pairs.push_back({.type = "pair"});
      pairs.back().within.push_back({.type = "gpu", .node = std::to_string(node), .leaf = gpu});
    }
    layout.places.push_back(std::move(place));
  }
  const std::array types{"node", "socket", "pair", "gpu"};
  for (std::size_t type = 0; type < types.size(); ++type) {
    layout.shares.push_back(
        {.vc = owner.name, .chain = "node", .type = types[type], .cells = owner.cells[type]});
  }
  return cells::Scheduler(std::move(*cells::build(layout)));
}

cells::Request request_of(const Owner& owner, std::size_t job, int gpus) {
  cells::Request made{.group = std::to_string(job),
                      .vc = owner.name,
                      .priority = cells::kLeastGuaranteed,
                      .leaf_type = "gpu"};
  if (gpus / 8 > 0) made.members.push_back({gpus / 8, 8});
  if (gpus % 8 > 0) made.members.push_back({1, gpus % 8});
  return made;
}

TEST(Hived, NeverBlocksAJobThatFitsItsTenantsCells) {
  constexpr int kRequests = 20'000;  // of tenants, that fit
  Case input;
  input.cluster.add_vc("all");
  input.cluster.add_nodes({.gpus = 8, .sockets = 2}, 6);
  input.cluster.takes_every_job = true;
  std::vector<cells::Scheduler> own;
  for (const Owner& owner : kOwners) {
    input.cluster.tenants.push_back({.name = owner.name, .guarantee = double(owner.gpus)});
    own.push_back(alone(owner));
  }
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
    const std::size_t at = rng.below(kOwners.size() + 1);
    if (at < kOwners.size()) {
      const cells::Request request = request_of(kOwners[at], job, gpus);
      if (!own[at].fits(request)) continue;
      own[at].allocate(request, own[at].decide(request, own[at].everywhere()));
      ends.push({now + run, at, job});
      ++fitting;
    }
    add_job(input.trace, {.id = std::to_string(job),
                          .submit = now * 1s,
                          .gpus = gpus,
                          .run = run * 1s,
                          .user = at < kOwners.size() ? kOwners[at].name : "guest"});
    is_owned.push_back(at < kOwners.size());
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

}  // namespace
}  // namespace almanac
