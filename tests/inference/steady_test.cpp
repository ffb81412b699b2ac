// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replicas that keep steady sequences give the same outcomes, to the last bit, as replicas that
/// look at each sequence in each iteration.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/registry.h"
#include "inference/simulation.h"

namespace almanac::inference {
namespace {

/// Batches as `chunked` does, but has no steady sequences.
class LooksAtAll final : public Former {
 public:
  void form(Replica& replica) override { chunked_->form(replica); }

 private:
  std::unique_ptr<Former> chunked_ = registry().formers.find("chunked")->make();
};

/// An iteration takes a different time for each batch, no whole number of microseconds.
class Uneven final : public StepTime {
 public:
  Micros operator()(const Batch& batch) const override {
    return 937.3 + 1.7 * static_cast<double>(batch.prefill_tokens()) +
           static_cast<double>(batch.decodes) / 3 + static_cast<double>(batch.context) / 700;
  }
};

/// Conversations: many prompts begin with the ids of an earlier one.
Requests conversations(std::size_t count) {
  Rng rng(11);
  Requests made;
  made.tokens_per_block = 16;
  Micros at = 0;
  for (std::size_t each = 0; each < count; ++each) {
    at += rng.exponential() * 2500;
    const auto prompt = 1 + static_cast<std::int32_t>(rng.exponential() * 300);
    const auto output = 1 + static_cast<std::int32_t>(rng.exponential() * 60);
    const auto first = static_cast<std::uint32_t>(made.blocks.size());
    const auto ids = static_cast<std::uint32_t>(prompt / 16);
    for (std::uint32_t id = 0; id < ids; ++id) made.blocks.push_back(100 * (each % 7) + id);
    made.all.push_back(
        {.arrival = at, .prompt = prompt, .output = output, .first_block = first, .blocks = ids});
  }
  return made;
}

struct Fleet {
  Limits limits{};
  const char* router = "shortest_queue";
  int prefill = 0;     // of three replicas
  bool loses = false;  // replicas, at times
  Requests requests = conversations(2000);
};

std::vector<Outcome> played(const Fleet& fleet, bool steady) {
  const Uneven step;
  Simulation simulation(fleet.requests);
  const auto add = [&](Role role) {
    std::unique_ptr<Former> former = std::make_unique<LooksAtAll>();
    if (steady) former = registry().formers.find("chunked")->make();
    return simulation.add(fleet.limits, step, std::move(former), {.role = role});
  };
  for (int each = 0; each < 3; ++each) {
    add(fleet.prefill == 0 ? Role::both : each < fleet.prefill ? Role::prefill : Role::decode);
  }
  simulation.connect([](std::int32_t tokens) { return 1.3 * tokens; });
  const auto router = registry().routers.find(fleet.router)->make(1);
  const auto decodes = registry().routers.find(fleet.router)->make(2);
  if (fleet.prefill > 0) simulation.route_decodes(*decodes);
  if (fleet.loses) {
    simulation.advance(1e6, *router);
    simulation.lose(0);
    const std::uint32_t fresh = add(Role::both);
    simulation.advance(2e6, *router);
    EXPECT_GT(simulation.tokens_of(1), 0);
    for (const Visit& each : simulation.take(1)) simulation.resume(each, fresh);
  }
  simulation.run(*router);
  return simulation.outcomes();
}

void expect_same(const Fleet& fleet) {
  const auto one = played(fleet, true), other = played(fleet, false);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t each = 0; each < one.size(); ++each) {
    const Outcome &a = one[each], &b = other[each];
    ASSERT_LT(a.finish, kNever) << each;
    ASSERT_EQ(a.start, b.start) << each;
    ASSERT_EQ(a.first_token, b.first_token) << each;
    ASSERT_EQ(a.finish, b.finish) << each;
    ASSERT_EQ(a.decoding, b.decoding) << each;
    ASSERT_EQ(a.longest_gap, b.longest_gap) << each;
    ASSERT_EQ(a.computed, b.computed) << each;
    ASSERT_EQ(a.preemptions, b.preemptions) << each;
    ASSERT_EQ(a.hit_tokens, b.hit_tokens) << each;
    ASSERT_EQ(a.replica, b.replica) << each;
  }
}

constexpr Limits kRoomy{.sequences = 32, .tokens = 512, .kv_blocks = 100'000};
constexpr Limits kShort{.sequences = 64, .tokens = 512, .kv_blocks = 200};

TEST(Steady, GivesTheSameOutcomes) {
  expect_same({.limits = kRoomy});
  Limits reuses = kRoomy;
  reuses.reuse = true;
  expect_same({.limits = reuses});
}

TEST(Steady, GivesTheSameOutcomesWhereMemoryIsShort) {
  expect_same({.limits = kShort});
  // Which blocks are taken, in which order, decides what later prompts find.
  Limits reuses = kShort;
  reuses.reuse = true;
  expect_same({.limits = reuses});
  Limits swaps = kShort;
  swaps.swap_blocks = 300;
  swaps.swap_block = 20.5;
  expect_same({.limits = swaps});
}

TEST(Steady, GivesTheSameOutcomesWhereTokensOfAnIterationAreShort) {
  Limits chunks = kRoomy;
  chunks.chunk = 48;
  expect_same({.limits = chunks});
  chunks.reuse = true;
  expect_same({.limits = chunks});
  Limits few = kRoomy;
  few.tokens = 24;
  few.sequences = 32;
  expect_same({.limits = few});
}

TEST(Steady, GivesTheSameOutcomesWhereRequestsMove) {
  for (const Limits& limits : {kRoomy, kShort}) {
    for (const char* router : {"llumnix", "punica"}) {
      expect_same({.limits = limits, .router = router});
    }
    expect_same({.limits = limits, .prefill = 1});
    expect_same({.limits = limits, .loses = true});
  }
}

TEST(Steady, ForgetsIterationsOfLongAnswers) {
  Fleet fleet{.limits = {.sequences = 8, .tokens = 512, .kv_blocks = 100'000}};
  fleet.requests = {};
  for (int each = 0; each < 6; ++each) {
    fleet.requests.all.push_back({.arrival = each * 1e4, .prompt = 100, .output = 50'000 + each});
  }
  expect_same(fleet);
}

}  // namespace
}  // namespace almanac::inference
