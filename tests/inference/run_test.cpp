// SPDX-License-Identifier: Apache-2.0

/// \file
/// What must hold of every run of a fleet, whatever batches and routes it.
#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/profile/fitted.h"
#include "inference/registry.h"
#include "inference/scaled.h"
#include "inference/service.h"
#include "inference/simulation.h"
#include "inference/tenants.h"

namespace almanac::inference {
namespace {

Requests draw(std::size_t count, double rate_s, std::int32_t prompt, std::int32_t output) {
  Rng rng(7);
  Requests made;
  double at = 0;
  for (std::size_t each = 0; each < count; ++each) {
    at += rng.exponential() / rate_s * 1e6;
    made.all.push_back({.arrival = at,
                        .prompt = 1 + static_cast<std::int32_t>(rng.exponential() * prompt),
                        .output = 1 + static_cast<std::int32_t>(rng.exponential() * output)});
  }
  return made;
}

/// An iteration of so many microseconds, whatever is in it, and so many a token.
Fitted linear(double iteration, double token) {
  return {{iteration, token, 0}, {iteration, token, 0}, {iteration, token, 0}, 1};
}

/// Counts the tokens that iterations compute.
class Counting final : public StepTime {
 public:
  Micros operator()(const Batch& batch) const override {
    prefilled += batch.prefill_tokens();
    decoded += batch.decodes;
    busy += 1000;
    return 1000;
  }
  mutable std::int64_t prefilled = 0, decoded = 0;
  mutable Micros busy = 0;
};

enum class Shape { alike, pools, swapping, adapters, stages };
struct Choice {
  std::string former, router;
  Shape shape = Shape::alike;
};
constexpr Micros kSwapBlock = 20, kLinkToken = 2;

class Runs : public testing::TestWithParam<Choice> {
 protected:
  static constexpr std::size_t kRequests = 2000;
  Requests requests_ = draw(kRequests, 400, 300, 50);

  void SetUp() override {
    if (GetParam().shape != Shape::adapters) return;
    for (RequestId id = 0; id < requests_.size(); ++id) requests_.all[id].adapter = id % 5;
  }
  void run(Simulation& simulation, const StepTime& step, std::int32_t blocks) {
    const bool pools = GetParam().shape == Shape::pools;
    const std::int32_t swap = GetParam().shape == Shape::swapping ? 1'000'000 : 0;
    for (int each = 0; each < 3; ++each) {
      const Role role = !pools ? Role::both : each == 0 ? Role::prefill : Role::decode;
      simulation.add({.sequences = 32,
                      .tokens = 512,
                      .kv_blocks = blocks,
                      .gather = 3e3,
                      .swap_blocks = swap,
                      .swap_block = kSwapBlock,
                      .adapters = GetParam().shape == Shape::adapters ? 2 : 0,
                      .adapter_load = 700,
                      .stages = GetParam().shape == Shape::stages ? 3 : 1},
                     step, registry().formers.find(GetParam().former)->make(), {.role = role});
    }
    simulation.connect([](std::int32_t tokens) { return kLinkToken * tokens; });
    const auto router = registry().routers.find(GetParam().router)->make(1);
    const auto decodes = registry().routers.find(GetParam().router)->make(2);
    if (pools) simulation.route_decodes(*decodes);
    simulation.run(*router);
  }
};

TEST_P(Runs, EveryTokenOfEveryRequestIsComputedOnceWhereNothingIsSentBack) {
  const Counting step;
  Simulation simulation(requests_);
  run(simulation, step, 100'000);
  std::int64_t prompts = 0, outputs = 0;
  for (RequestId id = 0; id < requests_.size(); ++id) {
    prompts += requests_[id].prompt;
    outputs += requests_[id].output - 1;
    const Outcome& outcome = simulation.outcomes()[id];
    ASSERT_EQ(outcome.preemptions, 0);
    ASSERT_LE(requests_[id].arrival, outcome.start);
    ASSERT_LT(outcome.start, outcome.first_token);
    ASSERT_LE(outcome.first_token, outcome.finish);
    ASSERT_LT(outcome.finish, kNever);
  }
  EXPECT_EQ(step.prefilled, prompts);
  EXPECT_EQ(step.decoded, outputs);
}

TEST_P(Runs, SequencesThatAreSentBackForWantOfMemoryStillFinish) {
  const Counting step;
  Simulation simulation(requests_);
  run(simulation, step, 200);
  std::int64_t preemptions = 0, prompts = 0, outputs = 0;
  for (RequestId id = 0; id < requests_.size(); ++id) {
    const Outcome& outcome = simulation.outcomes()[id];
    preemptions += outcome.preemptions;
    prompts += requests_[id].prompt;
    outputs += requests_[id].output - 1;
    ASSERT_LT(outcome.finish, kNever) << id;
  }
  // Few adapters at a time are few requests at a time, which find room.
  if (GetParam().shape == Shape::adapters) return;
  EXPECT_GT(preemptions, 0);
  if (GetParam().shape == Shape::swapping) {
    EXPECT_EQ(step.decoded, outputs);
  } else {
    EXPECT_GT(step.prefilled, prompts);
    EXPECT_LE(step.decoded, outputs);
  }
}

TEST_P(Runs, TheNumberPresentIsTheRateTimesTheStay) {
  // Little's law, with the number present counted at every end and arrival from what the run tells
  // as it goes, and the stay from what it says in the end.
  const Fitted step = linear(2000, 10);
  Simulation simulation(requests_);
  std::size_t finished = 0;
  double area = 0, last = 0;
  std::size_t arrived = 0;
  const auto advance = [&](Micros now) {
    while (arrived < requests_.size() && requests_.all[arrived].arrival <= now) {
      area += static_cast<double>(arrived - finished) * (requests_.all[arrived].arrival - last);
      last = requests_.all[arrived++].arrival;
    }
    area += static_cast<double>(arrived - finished) * (now - last);
    last = now;
  };
  simulation.on_finish([&](RequestId, Micros now) {
    advance(now);
    ++finished;
  });
  run(simulation, step, 100'000);
  double stay = 0;
  for (RequestId id = 0; id < requests_.size(); ++id) {
    stay += simulation.outcomes()[id].finish - requests_[id].arrival;
  }
  EXPECT_EQ(finished, requests_.size());
  EXPECT_NEAR(area / stay, 1, 1e-9);
}

TEST_P(Runs, AreTheSameTwice) {
  const Fitted step = linear(2000, 10);
  Simulation one(requests_), other(requests_);
  run(one, step, 300);
  run(other, step, 300);
  for (RequestId id = 0; id < requests_.size(); ++id) {
    ASSERT_EQ(one.outcomes()[id].finish, other.outcomes()[id].finish);
  }
}

std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const auto& former : registry().formers.names()) {
    for (const auto& router : registry().routers.names()) {
      for (const Shape shape :
           {Shape::alike, Shape::pools, Shape::swapping, Shape::adapters, Shape::stages}) {
        all.push_back({former, router, shape});
      }
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Choice>& each) {
  constexpr const char* kShapes[] = {"", "_pools", "_swapping", "_adapters", "_stages"};
  return each.param.former + "_" + each.param.router +
         kShapes[static_cast<std::size_t>(each.param.shape)];
}

INSTANTIATE_TEST_SUITE_P(All, Runs, testing::ValuesIn(choices()), name_of);

// Replicas come and go meanwhile: whatever batches, routes and scales, each token is computed once,
// and those present at any look are those that have arrived and are not finished.
TEST(ScaledRuns, LoseNothingWhateverBatchesRoutesAndScales) {
  const Requests requests = draw(1500, 20, 300, 50);
  std::int64_t prompts = 0, outputs = 0;
  for (const Request& each : requests.all) {
    prompts += each.prompt;
    outputs += each.output - 1;
  }
  bool some_changed = false;
  for (const auto& former : registry().formers.names()) {
    for (const auto& router : registry().routers.names()) {
      for (const auto& scaler : registry().scalers.names()) {
        SCOPED_TRACE(former + "+" + router + "+" + scaler);
        const auto step = std::make_shared<Counting>();
        const Service service{.model = *find_model("llama-3.1-8b"),
                              .board = *find_board("h100"),
                              .limits = {.sequences = 32, .tokens = 512, .kv_blocks = 100'000},
                              .former = former,
                              .router = router,
                              .measured = step};
        const auto made = play_scaled(
            service, requests,
            {scaler, {.least = 1, .most = 4, .replica_requests_per_s = 8, .cold_start = 1e6}});
        ASSERT_TRUE(made) << to_string(made.error());
        EXPECT_EQ(step->prefilled, prompts);
        EXPECT_EQ(step->decoded, outputs);
        for (const Scaled::Look& look : made->looks) {
          std::int64_t present = 0;
          for (RequestId id = 0; id < requests.size(); ++id) {
            ASSERT_LT(made->outcomes[id].finish, kNever);
            present += requests[id].arrival <= look.at && made->outcomes[id].finish > look.at;
          }
          EXPECT_EQ(look.load.waiting + look.load.running, present) << look.at;
          some_changed = some_changed || look.wanted != made->looks.front().wanted;
        }
      }
    }
  }
  EXPECT_TRUE(some_changed);
}

TEST(ScaledRuns, StartWithoutReplicasIfTheMinimumIsZero) {
  // Two bursts an hour apart: each waits for a look of the scaler and a cold start of 600 s.
  Requests requests;
  for (int each = 0; each < 10; ++each) {
    const double at_s = each < 5 ? 1000 + each : 4600 + each;
    requests.all.push_back({.arrival = at_s * 1e6, .prompt = 500, .output = 50});
  }
  const Service service{.model = *find_model("llama-3.1-8b"), .board = *find_board("h100")};
  for (const auto& scaler : registry().scalers.names()) {
    SCOPED_TRACE(scaler);
    const auto made = play_scaled(
        service, requests,
        {scaler, {.least = 0, .most = 4, .replica_requests_per_s = 8, .cold_start = 600e6}});
    ASSERT_TRUE(made) << to_string(made.error());
    const Micros waited = made->outcomes[0].first_token - requests[0].arrival;
    EXPECT_GT(waited, 600e6);
    EXPECT_LT(waited, 661e6) << "a minute at most to the next look";
    for (const Outcome& each : made->outcomes) EXPECT_LT(each.finish, kNever);
  }
}

TEST(Pools, HandOverTheKvAtThePaceOfTheLink) {
  const Requests requests{.all = {{.arrival = 0, .prompt = 100, .output = 3}}};
  const Counting step;
  Simulation simulation(requests);
  for (const Role role : {Role::prefill, Role::decode}) {
    simulation.add({.kv_blocks = 100}, step, registry().formers.find("chunked")->make(),
                   {.role = role});
  }
  simulation.connect([](std::int32_t tokens) { return 50.0 * tokens; });
  simulation.run(*registry().routers.find("round_robin")->make(1));
  const Outcome& seen = simulation.outcomes()[0];
  EXPECT_DOUBLE_EQ(seen.first_token, 1000);
  EXPECT_DOUBLE_EQ(seen.finish, 1000 + 50 * 100 + 2 * 1000);
  EXPECT_DOUBLE_EQ(seen.longest_gap, 50 * 100 + 1000);
  EXPECT_EQ(seen.replica, 1);
}

TEST(Swapping, CopiesOutAndInAndComputesNothingTwice) {
  // Two sequences of 32 tokens fill four blocks; the 33rd of the first sends the other out, which
  // comes back when the first has gone.
  const Requests requests{.all = {{.arrival = 0, .prompt = 32, .output = 3},
                                  {.arrival = 0, .prompt = 32, .output = 3}}};
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.kv_blocks = 4, .swap_blocks = 2, .swap_block = 100}, step,
                 registry().formers.find("chunked")->make());
  simulation.run(*registry().routers.find("round_robin")->make(1));
  EXPECT_EQ(step.prefilled, 64);
  EXPECT_EQ(step.decoded, 4);
  EXPECT_EQ(simulation.outcomes()[1].preemptions, 1);
  EXPECT_DOUBLE_EQ(simulation.outcomes()[0].finish, 3 * 1000 + 200);
  EXPECT_DOUBLE_EQ(simulation.outcomes()[1].finish, 3 * 1000 + 200 + 2 * 1000 + 200);
}

TEST(Preemption, ComputesTokensAgainInOnePrefillAsVllm) {
  // As above without host memory: the 33 tokens that are known of the second are one prefill, which
  // yields its next token. Its first token stays where it was.
  const Requests requests{.all = {{.arrival = 0, .prompt = 32, .output = 3},
                                  {.arrival = 0, .prompt = 32, .output = 3}}};
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.kv_blocks = 4}, step, registry().formers.find("chunked")->make());
  simulation.run(*registry().routers.find("round_robin")->make(1));
  EXPECT_EQ(step.prefilled, 64 + 33);
  EXPECT_EQ(step.decoded, 2 + 1);
  const Outcome& second = simulation.outcomes()[1];
  EXPECT_EQ(second.preemptions, 1);
  EXPECT_DOUBLE_EQ(second.first_token, 1000);
  EXPECT_DOUBLE_EQ(second.longest_gap, 3000);
  EXPECT_DOUBLE_EQ(second.finish, 5000);
}

TEST(Llumnix, MovesARequestAwayFromWhereMemoryRunsOut) {
  // Round robin would leave the long answers of every other request on one replica.
  Requests requests;
  for (int each = 0; each < 12; ++each) {
    requests.all.push_back(
        {.arrival = each * 1e3, .prompt = 64, .output = each % 2 == 0 ? 400 : 40});
  }
  const auto preemptions = [&](const char* name) {
    const Counting step;
    Simulation simulation(requests);
    for (int each = 0; each < 2; ++each) {
      simulation.add({.kv_blocks = 100}, step, registry().formers.find("chunked")->make());
    }
    simulation.connect([](std::int32_t tokens) { return 10.0 * tokens; });
    simulation.run(*registry().routers.find(name)->make(1));
    std::int32_t sum = 0;
    for (const Outcome& each : simulation.outcomes()) {
      EXPECT_LT(each.finish, kNever);
      sum += each.preemptions;
    }
    return sum;
  };
  EXPECT_GT(preemptions("round_robin"), 0);
  EXPECT_EQ(preemptions("llumnix"), 0);
}

/// A replica with room for so many adapters, of requests of one token each that come at once.
std::vector<Outcome> with_adapters(std::int32_t places, const std::vector<std::uint32_t>& adapters,
                                   std::int64_t& loads) {
  Requests requests;
  for (const std::uint32_t each : adapters) {
    requests.all.push_back({.arrival = 0, .prompt = 16, .output = 1, .adapter = each});
  }
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.kv_blocks = 100, .adapters = places, .adapter_load = 300, .adapter_read = 10},
                 step, registry().formers.find("chunked")->make());
  simulation.run(*registry().routers.find("round_robin")->make(1));
  loads = simulation.busy().adapter_loads;
  return simulation.outcomes();
}

TEST(AdaptersOfReplicas, AreLoadedOnceAndLetThoseWithoutAPlaceWait) {
  std::int64_t loads = 0;
  // The first two run together, for they are of one adapter; the model alone needs none.
  auto seen = with_adapters(1, {1, 1, 0, 2, 1}, loads);
  EXPECT_EQ(loads, 3);
  for (const int each : {0, 1, 2}) {
    EXPECT_DOUBLE_EQ(seen[static_cast<std::size_t>(each)].finish, 300 + 10 + 1000) << each;
  }
  EXPECT_DOUBLE_EQ(seen[3].finish, 2 * (300 + 10 + 1000));
  EXPECT_DOUBLE_EQ(seen[4].finish, 3 * (300 + 10 + 1000)) << "its adapter had to go";
  seen = with_adapters(2, {1, 1, 0, 2, 1}, loads);
  EXPECT_EQ(loads, 2);
  for (const Outcome& each : seen) EXPECT_DOUBLE_EQ(each.finish, 2 * 300 + 2 * 10 + 1000);
}

TEST(AdaptersOfReplicas, TakeKvMemoryAndTheirHeadsAreNotThoseOfOthers) {
  Service service{.model = *find_model("llama-3.1-8b"), .board = *find_board("h100")};
  const std::int64_t without = fitting_blocks(service);
  service.adapters = 8;
  // 32 layers of 16 x (4 x 4096 + 2 x (4096 + 1024)) numbers of 2 bytes, by eight.
  const double bytes = 8.0 * 2 * 32 * 16 * (4 * 4096 + 2 * (4096 + 1024));
  EXPECT_NEAR(static_cast<double>(without - fitting_blocks(service)), bytes / (131072.0 * 16), 1);
  Requests requests;
  requests.tokens_per_block = 16;
  requests.blocks = {1, 2};
  for (const std::uint32_t adapter : {0U, 1U, 2U, 1U}) {
    requests.all.push_back({.prompt = 32, .output = 1, .blocks = 2, .adapter = adapter});
  }
  EXPECT_NE(prompt_keys(requests, 0, 16), prompt_keys(requests, 1, 16));
  EXPECT_NE(prompt_keys(requests, 1, 16), prompt_keys(requests, 2, 16));
  EXPECT_EQ(prompt_keys(requests, 1, 16), prompt_keys(requests, 3, 16));
}

TEST(AdaptersOfReplicas, ComputeForTheirTokensAlone) {
  // Two requests of 16 tokens for an adapter and one without: 20 for each token of the two, 50 for
  // the kernels, whatever adapters there are.
  Requests requests;
  for (const std::uint32_t each : {1U, 2U, 0U}) {
    requests.all.push_back({.arrival = 0, .prompt = 16, .output = 1, .adapter = each});
  }
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.kv_blocks = 100, .adapters = 2, .adapter_token = 20, .adapter_kernels = 50},
                 step, registry().formers.find("chunked")->make());
  simulation.run(*registry().routers.find("round_robin")->make(1));
  EXPECT_DOUBLE_EQ(simulation.outcomes()[0].finish, 1000 + 50 + 2 * 16 * 20);
  // Of llama-3.1-8b at rank 16: four matrices of 4,096 or 1,024 by 4,096 in each of 32 layers, two
  // operations for each number. Eight kernels of a layer are about 15 % of a decode.
  Service service{.model = *find_model("llama-3.1-8b"), .board = *find_board("h100")};
  service.adapters = 8;
  const auto made = parts(service);
  ASSERT_TRUE(made);
  const double numbers = 16.0 * 32 * (2 * (4096 + 4096) + 2 * (4096 + 1024));
  EXPECT_NEAR(made->limits.adapter_token, 1e6 * 2 * numbers / 989e12, 1e-9);
  const Micros decode = (*made->step)({.decodes = 8, .context = 8 * 500});
  EXPECT_GT(made->limits.adapter_kernels, 0.05 * decode);
  EXPECT_LT(made->limits.adapter_kernels, 0.2 * decode);
}

TEST(Punica, FillsReplicasAndEmptiesOthers) {
  Requests requests;
  for (const std::int32_t output : {10, 3000, 3000}) {
    requests.all.push_back({.arrival = 0, .prompt = 16, .output = output});
  }
  const Counting step;
  Simulation simulation(requests);
  for (int each = 0; each < 3; ++each) {
    simulation.add({.sequences = 2, .kv_blocks = 1000}, step,
                   registry().formers.find("chunked")->make());
  }
  const auto router = registry().routers.find("punica")->make(1);
  simulation.advance(500e3, *router);
  // The last of empty replicas, until it is full.
  EXPECT_EQ(simulation.outcomes()[0].replica, 2);
  EXPECT_EQ(simulation.outcomes()[1].replica, 2);
  EXPECT_EQ(simulation.outcomes()[2].replica, 1);
  // The first is answered; after a second the third joins the second.
  simulation.run(*router);
  EXPECT_EQ(simulation.outcomes()[2].replica, 2);
  EXPECT_EQ(simulation.outcomes()[2].preemptions, 0);
  EXPECT_LT(simulation.outcomes()[2].finish, kNever);
}

TEST(AdapterAffinity, KeepsAdaptersApartSoThatFewAreLoaded) {
  Requests requests;
  Rng rng(3);
  for (int each = 0; each < 400; ++each) {
    requests.all.push_back({.arrival = each * 4e3,
                            .prompt = 64,
                            .output = 20,
                            .adapter = 1 + static_cast<std::uint32_t>(rng.below(6))});
  }
  const auto loads = [&](const char* name) {
    const Counting step;
    Simulation simulation(requests);
    for (int each = 0; each < 3; ++each) {
      simulation.add({.kv_blocks = 1000, .adapters = 2, .adapter_load = 500}, step,
                     registry().formers.find("chunked")->make());
    }
    simulation.run(*registry().routers.find(name)->make(1));
    for (const Outcome& each : simulation.outcomes()) EXPECT_LT(each.finish, kNever);
    return simulation.busy().adapter_loads;
  };
  EXPECT_LE(loads("adapter_affinity"), 12) << "each twice at most";
  EXPECT_GT(loads("shortest_queue"), 60);
}

TEST(TenantsSeen, AddUpToAllAndTheWorstComesFirst) {
  Requests requests = draw(600, 40, 300, 50);
  requests.tenants = {"quick", "patient"};
  for (RequestId id = 0; id < requests.size(); ++id) {
    requests.all[id].tenant = id % 3 == 0 ? 1 : 0;
    if (id % 3 == 0) {
      requests.all[id].prompt += 8000;
    } else {
      requests.all[id].output = 10;
    }
    requests.all[id].arrival *= 5;
  }
  const Service service{.model = *find_model("llama-3.1-8b"), .board = *find_board("h100")};
  const Objective objective{.first_token = 150e3};
  const auto outcomes = play(service, requests);
  ASSERT_TRUE(outcomes);
  const auto seen = by_tenant(requests, *outcomes, objective);
  const Seen all = summarize(requests, *outcomes, objective);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].tenant, "patient");
  EXPECT_LT(seen[0].seen.attainment(), seen[1].seen.attainment());
  EXPECT_EQ(seen[0].seen.attained + seen[1].seen.attained, all.attained);
  EXPECT_EQ(seen[0].seen.prompt_tokens + seen[1].seen.prompt_tokens, all.prompt_tokens);
  EXPECT_NEAR(seen[0].gpu_share + seen[1].gpu_share, 1, 1e-12);
  EXPECT_GT(seen[0].gpu_share, 0.7) << "a third of the requests, of some 25 times the length";
}

TEST(Stages, LetBatchesFollowEachOtherAndOverlap) {
  // Four prompts, each of an iteration of 1,000 us in two stages: the next begins every 500.
  Requests requests;
  for (int each = 0; each < 4; ++each)
    requests.all.push_back({.arrival = 0, .prompt = 8, .output = 2});
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.sequences = 1, .tokens = 8, .kv_blocks = 100, .stages = 2}, step,
                 registry().formers.find("chunked")->make());
  simulation.run(*registry().routers.find("round_robin")->make(1));
  EXPECT_DOUBLE_EQ(simulation.outcomes()[0].first_token, 1000);
  EXPECT_DOUBLE_EQ(simulation.outcomes()[1].first_token, 1500);
  // A token of the first waits for the first stage, where the third begins no sooner.
  EXPECT_DOUBLE_EQ(simulation.outcomes()[0].finish, 2000);
  EXPECT_DOUBLE_EQ(simulation.outcomes()[1].finish, 2500);
  EXPECT_DOUBLE_EQ(simulation.outcomes()[2].first_token, 3000);
  EXPECT_DOUBLE_EQ(simulation.outcomes()[3].finish, 4500);
  const Busy& busy = simulation.busy();
  EXPECT_DOUBLE_EQ(busy.prefilling + busy.decoding, 4 * 2 * 1000 / 2.0) << "of both stages' GPUs";
}

TEST(Computed, IsAllTheTimeThatReplicasComputed) {
  const Requests requests = draw(500, 40, 300, 50);
  const Fitted step = linear(2000, 10);
  Simulation simulation(requests);
  for (int each = 0; each < 2; ++each) {
    simulation.add({.kv_blocks = 200}, step, registry().formers.find("chunked")->make());
  }
  simulation.run(*registry().routers.find("round_robin")->make(1));
  Micros computed = 0;
  for (const Outcome& each : simulation.outcomes()) computed += each.computed;
  const Busy& busy = simulation.busy();
  EXPECT_NEAR(computed / (busy.prefilling + busy.decoding), 1, 1e-9);
}

TEST(Run, TurnsAwayWhatOutgrowsAllMemory) {
  // It would be sent back to the queue and computed anew for ever.
  const Requests requests{.all = {{.arrival = 0, .prompt = 100, .output = 1000}}};
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.kv_blocks = 10}, step, registry().formers.find("chunked")->make());
  simulation.advance(1e6, *registry().routers.find("round_robin")->make(1));
  EXPECT_EQ(simulation.next(), kNever);
  EXPECT_EQ(simulation.outcomes()[0].replica, -1);
}

TEST(Lanes, LetReplicasComputeInTurn) {
  Requests requests;
  for (std::uint32_t each = 0; each < 6; ++each) {
    requests.all.push_back({.arrival = 0, .prompt = 1, .output = 1, .model = each % 2});
  }
  const Counting step;
  Simulation simulation(requests);
  for (const std::uint32_t model : {0U, 1U}) {
    simulation.add({.sequences = 1, .tokens = 1, .kv_blocks = 10}, step,
                   registry().formers.find("chunked")->make(), {.model = model, .lane = 0});
  }
  simulation.run(*registry().routers.find("round_robin")->make(1));
  for (std::size_t each = 0; each < 6; ++each) {
    EXPECT_DOUBLE_EQ(simulation.outcomes()[each].finish, 1000.0 * static_cast<double>(each + 1));
    EXPECT_EQ(simulation.outcomes()[each].replica, static_cast<std::int32_t>(each % 2));
  }
}

TEST(Prefix, IsComputedOnceForRequestsThatShareIt) {
  Requests requests;
  requests.tokens_per_block = 16;
  requests.blocks = {1, 2, 3, 4};
  for (int each = 0; each < 5; ++each) {
    requests.all.push_back(
        {.arrival = each * 1e6, .prompt = 100, .output = 1, .first_block = 0, .blocks = 4});
  }
  const Counting step;
  Simulation simulation(requests);
  simulation.add({.kv_blocks = 100, .reuse = true}, step,
                 registry().formers.find("chunked")->make());
  const auto router = registry().routers.find("round_robin")->make(1);
  simulation.run(*router);
  EXPECT_EQ(step.prefilled, 100 + 4 * 36);
  EXPECT_EQ(simulation.outcomes()[4].hit_tokens, 64);
}

}  // namespace
}  // namespace almanac::inference
