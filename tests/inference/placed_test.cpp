// SPDX-License-Identifier: Apache-2.0

/// \file
/// Several models on the GPUs of a plan.
#include "inference/placed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_DOUBLE_EQ((*shared)[1].finish, (*apart)[0].finish + (*apart)[1].finish);
}

TEST_F(Placed, RefusesWhatCannotBe) {
  EXPECT_THAT(refused("0-,llama-3.1-8b\n"), HasSubstr("plan.csv:2: gpus: \"0-\" are no GPUs"));
  EXPECT_THAT(refused("3-1,llama-3.1-8b\n"), HasSubstr("\"3-1\" are no GPUs"));
  EXPECT_THAT(refused("0-1,llama-3.1-8b\n1,qwen2.5-7b\n"), HasSubstr("plan.csv:3: GPUs 1 are in"));
  EXPECT_THAT(refused("0,qwen2.5-7b\n0,qwen2.5-7b\n"), HasSubstr("GPUs 0 have qwen2.5-7b twice"));
  EXPECT_THAT(refused("0,llama-9\n"), HasSubstr("plan.csv:2: "));
  EXPECT_THAT(refused(""), HasSubstr("puts no model anywhere"));
  const auto why = [&](Service service, const Requests& requests, const std::string& rows) {
    const auto made = play_placed(service, requests, plan(rows));
    return made ? "" : to_string(made.error());
  };
  EXPECT_THAT(why(service(), requests(), "0,llama-3.1-8b\n"),
              HasSubstr("requests ask for \"qwen2.5-7b\", which no GPU of the plan has"));
  EXPECT_THAT(why(service(), Requests{.all = {{.prompt = 1}}}, "0,llama-3.1-8b\n1,qwen2.5-7b\n"),
              HasSubstr("the plan has 2 models, and requests name none"));
  EXPECT_THAT(why(service(), requests(), "0-1,llama-3.1-8b\n0-1,qwen2.5-7b\n0-1,llama-3.1-70b\n"),
              HasSubstr("do not fit together on 2 h100"));
  Service moves = service();
  moves.router = "llumnix";
  EXPECT_THAT(why(moves, requests(), "0,llama-3.1-8b\n1,qwen2.5-7b\n"),
              HasSubstr("router llumnix moves requests"));
}

}  // namespace
}  // namespace almanac::inference
