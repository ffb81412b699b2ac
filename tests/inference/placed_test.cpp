// SPDX-License-Identifier: Apache-2.0

/// \file
/// Several models on the GPUs of a plan.
#include "inference/placed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/placing.h"
#include "inference/profile/roofline.h"
#include "inference/request_log.h"
#include "support/temporary_folder.h"

namespace almanac::inference {
namespace {

using testing::HasSubstr;

class Placed : public testing::Test {
 protected:
  Plan plan(const std::string& rows) {
    const auto made = read_plan(folder_.write("plan.csv", "gpus,model\n" + rows));
    EXPECT_TRUE(made) << to_string(made.error());
    return made.value_or(Plan{});
  }
  std::string refused(const std::string& rows) {
    const auto made = read_plan(folder_.write("plan.csv", "gpus,model\n" + rows));
    return made ? "" : to_string(made.error());
  }
  /// Two models, not quite in turn.
  Requests requests() {
    std::string rows = "arrival_s,prompt_tokens,output_tokens,model\n";
    for (int each = 0; each < 60; ++each) {
      rows += std::to_string(0.02 * each) + "," + std::to_string(100 + 37 * each % 900) + "," +
              std::to_string(5 + each % 40) + "," +
              (each % 2 == 0 || each % 7 == 0 ? "llama-3.1-8b" : "qwen2.5-7b") + "\n";
    }
    return *read_requests_by_model(folder_.write("requests.csv", rows));
  }
  PlacingQuestion on(int gpus, const Objective& objective) {
    return {.pools = {{.board = service().board, .gpus = gpus}}, .objective = objective};
  }
  Service service() { return {.board = *find_board("h100"), .router = "round_robin"}; }

  TemporaryFolder folder_;
};

TEST_F(Placed, ModelsOnGpusOfTheirOwnDoNotSeeEachOther) {
  const Requests all = requests();
  const auto outcomes = play_placed(
      service(), all,
      plan("0,llama-3.1-8b\n1-2,qwen2.5-7b\n3-4,qwen2.5-7b\n5,llama-3.1-8b\n6,llama-3.1-8b\n"));
  ASSERT_TRUE(outcomes) << to_string(outcomes.error());
  for (const std::string& name : all.models) {
    const Part part = part_of(name, all, *outcomes);
    Service alone = service();
    alone.model = *find_model(name);
    alone.gpus = name == "qwen2.5-7b" ? 2 : 1;
    alone.replicas = name == "qwen2.5-7b" ? 2 : 3;
    Requests own = part.requests;
    for (Request& each : own.all) each.model = 0;
    const auto expected = play(alone, own);
    ASSERT_TRUE(expected) << to_string(expected.error());
    ASSERT_GT(own.size(), 20);
    for (RequestId id = 0; id < own.size(); ++id) {
      EXPECT_EQ(part.outcomes[id].first_token, (*expected)[id].first_token) << name << id;
      EXPECT_EQ(part.outcomes[id].finish, (*expected)[id].finish) << name << id;
    }
  }
}

TEST_F(Placed, ModelsOnOneGpuTakeTurnsByIterations) {
  // Two requests of one token at once: each prompt is an iteration, one behind the other.
  Requests both{.all = {{.prompt = 500, .output = 1}, {.prompt = 500, .output = 1, .model = 1}},
                .models = {"llama-3.1-8b", "qwen2.5-7b"}};
  const auto apart = play_placed(service(), both, plan("0,llama-3.1-8b\n1,qwen2.5-7b\n"));
  const auto shared = play_placed(service(), both, plan("0,llama-3.1-8b\n0,qwen2.5-7b\n"));
  ASSERT_TRUE(apart) << to_string(apart.error());
  ASSERT_TRUE(shared) << to_string(shared.error());
  EXPECT_DOUBLE_EQ((*shared)[0].finish, (*apart)[0].finish);
  // Each request spends 15 ms outside of the engine, at any time.
  EXPECT_DOUBLE_EQ((*shared)[1].finish, (*apart)[0].finish + (*apart)[1].finish - 15e3);
}

TEST_F(Placed, RefusesWhatCannotBe) {
  EXPECT_THAT(refused("0-,llama-3.1-8b\n"),
              HasSubstr("plan.csv:2: gpus: \"0-\" does not name the GPUs"));
  EXPECT_THAT(refused("3-1,llama-3.1-8b\n"), HasSubstr("\"3-1\" does not name the GPUs"));
  EXPECT_THAT(refused("0-1,llama-3.1-8b\n1,qwen2.5-7b\n"),
              HasSubstr("plan.csv:3: GPUs 1 overlap with"));
  EXPECT_THAT(refused("0,qwen2.5-7b\n0,qwen2.5-7b\n"), HasSubstr("GPUs 0 have qwen2.5-7b twice"));
  EXPECT_THAT(refused("0,llama-9\n"), HasSubstr("plan.csv:2: "));
  EXPECT_THAT(refused(""), HasSubstr("places no model anywhere"));
  const auto why = [&](Service service, const Requests& requests, const std::string& rows) {
    const auto made = play_placed(service, requests, plan(rows));
    return made ? "" : to_string(made.error());
  };
  EXPECT_THAT(why(service(), requests(), "0,llama-3.1-8b\n"),
              HasSubstr("requests name the model \"qwen2.5-7b\", which no GPU of the plan has"));
  EXPECT_THAT(why(service(), Requests{.all = {{.prompt = 1}}}, "0,llama-3.1-8b\n1,qwen2.5-7b\n"),
              HasSubstr("the plan has 2 models, but requests name none"));
  EXPECT_THAT(why(service(), requests(), "0-1,llama-3.1-8b\n0-1,qwen2.5-7b\n0-1,llama-3.1-70b\n"),
              HasSubstr("do not fit together on 2 h100"));
  Service moves = service();
  moves.router = "llumnix";
  EXPECT_THAT(why(moves, requests(), "0,llama-3.1-8b\n1,qwen2.5-7b\n"),
              HasSubstr("router llumnix migrates requests"));
}

TEST_F(Placed, GpusOfAPlanMayDiffer) {
  const std::string path = folder_.write("kinds.csv",
                                         "gpus,model,board,gpu_hour\n0,llama-3.1-8b,h100,4\n"
                                         "1,llama-3.1-8b,l40s,1\n2,llama-3.1-8b,,\n");
  const auto made = read_plan(path);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_DOUBLE_EQ(made->price(2), 7);
  // Three requests far apart go round: one to each board.
  Requests all;
  for (int each = 0; each < 3; ++each) {
    all.all.push_back({.arrival = 1e7 * each, .prompt = 4000, .output = 100});
  }
  const auto outcomes = play_placed(service(), all, *made);
  ASSERT_TRUE(outcomes) << to_string(outcomes.error());
  const auto stay = [&](RequestId id) { return (*outcomes)[id].finish - all[id].arrival; };
  EXPECT_GT(stay(1), 2 * stay(0));
  EXPECT_DOUBLE_EQ(stay(2), stay(0)) << "an H100, as the service has them";
  const auto refused = [&](const std::string& rows) {
    const auto read = read_plan(folder_.write("plan.csv", "gpus,model,board,gpu_hour\n" + rows));
    return read ? "" : to_string(read.error());
  };
  EXPECT_THAT(refused("0,llama-3.1-8b,h100,\n0,qwen2.5-7b,l40s,\n"),
              HasSubstr(":3: another row gives the same GPUs another board or price"));
  EXPECT_THAT(refused("0,llama-3.1-8b,h1,\n"), HasSubstr("no board is named \"h1\""));
  EXPECT_THAT(refused("0,llama-3.1-8b,,-1\n"), HasSubstr("gpu_hour: \"-1\" is not a price"));
}

/// Ten requests at once for one model, then for the other, and so on.
Requests in_turns(const Requests& like) {
  Requests made;
  made.models = like.models;
  for (int turn = 0; turn < 8; ++turn) {
    for (int each = 0; each < 10; ++each) {
      made.all.push_back({.arrival = 2e6 * turn,
                          .prompt = 2000,
                          .output = 10,
                          .model = static_cast<std::uint32_t>(turn % 2)});
    }
  }
  return made;
}

TEST_F(Placed, ModelsThatAreBusyInTurnAreGivenBothGpus) {
  // AlpaServe's case: with a GPU each, half of the GPUs are idle while requests wait.
  const Requests all = in_turns(requests());
  const Service with = service();
  const Objective objective{.first_token = 300e3};
  const auto found = place_models(with, all, on(2, objective));
  ASSERT_TRUE(found) << to_string(found.error());
  const auto attained = [&](const Plan& of) {
    return summarize(all, *play_placed(with, all, of), objective).attained;
  };
  const Plan apart = plan("0,llama-3.1-8b\n1,qwen2.5-7b\n");
  EXPECT_GT(attained(*found), attained(apart));
  EXPECT_EQ(found->replicas_of(0) + found->replicas_of(1), found->groups.size() == 2 ? 4 : 2);
  // What is written is read again.
  const auto again = read_plan(folder_.write("made.csv", to_csv(*found)));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(to_csv(*again), to_csv(*found));
  EXPECT_EQ(attained(*again), attained(*found));
}

TEST_F(Placed, TakesTheKindOfGpuThatIsEnoughAndCheapest) {
  Requests all = requests();
  for (Request& each : all.all) each.arrival *= 4;
  PlacingQuestion asked{.pools = {{.board = *find_board("h100"), .gpus = 2, .gpu_hour = 3},
                                  {.board = *find_board("l40s"), .gpus = 2, .gpu_hour = 1}},
                        .share = 0.9};
  const auto kinds = [&](Micros per_token) {
    asked.objective = {.first_token = 5e6, .per_token = per_token};
    const auto found = place_models(service(), all, asked);
    EXPECT_TRUE(found) << to_string(found.error());
    std::string made;
    for (const auto& each : found->groups) made += each.board->name + " ";
    const auto outcomes = play_placed(service(), all, *found);
    EXPECT_GE(summarize(all, *outcomes, asked.objective).attainment(), asked.share);
    return made;
  };
  EXPECT_EQ(kinds(1e6).find("h100"), std::string::npos) << "anything is quick enough";
  // A step takes two L40S 14 ms at least, of the other model 13, and one H100 7.5 and 7.
  EXPECT_EQ(kinds(12e3).find("l40s"), std::string::npos);
  asked.objective = {.first_token = 5e6, .per_token = 1e3};
  const auto never = place_models(service(), all, asked);
  ASSERT_FALSE(never);
}

TEST_F(Placed, GroupsTakeTimeForWhatTheirGpusTellEachOther) {
  Board board = *find_board("h100");
  const Model model = *find_model("llama-3.1-70b");
  Batch batch;
  batch.prefills.push_back({.fresh = 1000, .prompt = 1000});
  const Micros with = Roofline(model, board, {.gpus = 4})(batch);
  // Beyond a node the slower link counts.
  const Micros across = Roofline(model, board, {.gpus = 16, .node_link = 50e9})(batch);
  const Micros within = Roofline(model, board, {.gpus = 16})(batch);
  board.peer_bandwidth = 0;
  // 160 sums of 1,000 x 8,192 numbers of 2 bytes, 3/2 of each over four fifths of 450 GB/s.
  EXPECT_NEAR(with - Roofline(model, board, {.gpus = 4})(batch),
              160.0 * 1000 * 8192 * 2 * 1.5 / 360e9 * 1e6, 1);
  const double both = 160.0 * 1000 * 8192 * 2 * 2 * 15 / 16 * 1e6;
  EXPECT_NEAR(across - within, both / 40e9 - both / 360e9, 2);
}

TEST_F(Placed, SaysThatNothingCanBePlaced) {
  const Requests all = requests();
  const auto never = place_models(service(), all, on(2, {.first_token = 1}));
  ASSERT_FALSE(never);
  EXPECT_THAT(never.error().message, HasSubstr("lets any request meet the objective"));
  Requests nameless = all;
  nameless.models.clear();
  EXPECT_THAT(place_models(service(), nameless, on(2, {})).error().message,
              HasSubstr("name no models"));
}

}  // namespace
}  // namespace almanac::inference
