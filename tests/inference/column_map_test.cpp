// SPDX-License-Identifier: Apache-2.0

/// \file
/// Request logs whose units and blocks the log itself must show, and column maps for any other.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/request_log.h"
#include "support/temporary_folder.h"

namespace almanac::inference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Columns : public testing::Test {
 protected:
  Result<Requests> read(const std::string& content) {
    return read_requests(folder_.write("log.jsonl", content));
  }
  Result<Requests> read(const std::string& map, const std::string& content) {
    return read_requests(folder_.write("log", content), {}, folder_.write("map.toml", map));
  }
  static std::string error(const Result<Requests>& made) {
    return made ? "read" : to_string(made.error());
  }
  /// Requests of 1,600 tokens `gap` apart whose ids stand for `block` tokens; half are shared.
  static std::string lines(int count, int gap, int block, const std::string& more = {},
                           const char* point = "") {
    std::string made;
    const int ids = (1600 + block - 1) / block;
    for (int each = 0; each < count; ++each) {
      std::string list;
      for (int id = 0; id < ids; ++id) {
        list +=
            fmt::format("{}{}", id == 0 ? "" : ", ", id < ids / 2 ? id : 1000 * (each + 1) + id);
      }
      made += fmt::format(
          "{{{}\"timestamp\": {}{}, \"input_length\": 1600, \"output_length\": 200, \"hash_ids\": "
          "[{}]}}\n",
          more, each * gap, point, list);
    }
    return made;
  }
  TemporaryFolder folder_;
};

TEST_F(Columns, OfBailianAreSecondsAndBlocksOfSixteenTokens) {
  const auto made =
      read(lines(20, 12, 16, "\"chat_id\": 1, \"parent_chat_id\": -1, \"turn\": 1, ", ".0"));
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all.back().arrival, 228e6);
  EXPECT_EQ(made->tokens_per_block, 16);
  EXPECT_EQ(made->all.back().blocks, 100U);
  EXPECT_THAT(made->notes, IsEmpty());
}

TEST_F(Columns, OfBailianAreSecondsWhateverTheBlocks) {
  const auto made = read(lines(20, 12, 32, "\"chat_id\": 1, \"parent_chat_id\": -1, ", ".0"));
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all.back().arrival, 228e6);
  EXPECT_EQ(made->tokens_per_block, 32);
  EXPECT_THAT(made->notes, ElementsAre(StartsWith("a block id stands for 32 tokens")));
}

TEST_F(Columns, OfMooncakeAreMillisecondsAndBlocksOf512Tokens) {
  const auto made = read(lines(20, 12'000, 512));
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all.back().arrival, 228e6);
  EXPECT_EQ(made->tokens_per_block, 512);
  EXPECT_THAT(made->notes, IsEmpty());
}

TEST_F(Columns, AreToldByTheIdsAndTheRate) {
  // Without chats, 16 tokens an id, and 1,000 requests a second if these were milliseconds.
  const auto made = read(lines(20, 1, 16, "", ".5"));
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all.back().arrival, 19.5e6);
  EXPECT_EQ(made->tokens_per_block, 16);
  EXPECT_THAT(
      made->notes,
      ElementsAre(
          "a block id stands for 16 tokens, because the prompts have that many ids, not 512 as "
          "usual",
          "timestamp is assumed to be in seconds: only then is the rate of requests plausible"));
}

TEST_F(Columns, AreAskedForWhereTheLogDoesNotShowThem) {
  EXPECT_THAT(error(read(lines(20, 12, 16))),
              HasSubstr("log.jsonl: timestamp may be in seconds (0.0833 requests/s) or "
                        "milliseconds (83.3 requests/s) (choose one with --columns FILE: [columns] "
                        "arrival_s = {column = \"timestamp\", unit = \"ms\"}"));
  // 1,600 tokens in three ids: 534 to 799.
  EXPECT_THAT(
      error(read("columns = {arrival_s = \"timestamp\", prompt_tokens = \"input_length\", "
                 "output_tokens = \"output_length\", block_ids = \"hash_ids\"}",
                 lines(20, 12, 700))),
      HasSubstr("the number of tokens of a block is unclear: all prompts fit 534 to 799 tokens"));
}

TEST_F(Columns, RefuseIdsThatFitNoBlock) {
  const auto made = read(
      "{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 5, \"hash_ids\": [0]}\n"
      "{\"timestamp\": 200, \"input_length\": 20, \"output_length\": 8, \"hash_ids\": [0, 1]}\n"
      "{\"timestamp\": 400, \"input_length\": 2000, \"output_length\": 6, \"hash_ids\": [2]}\n");
  EXPECT_THAT(error(made), HasSubstr("log.jsonl:2: no block size fits the ids: 2 block ids for a "
                                     "prompt of 20 tokens, which has 1 block of 512 tokens; 2 of 3 "
                                     "requests do not fit"));
}

TEST_F(Columns, DropIdsOfFewRequestsThatDoNotFit) {
  std::string log = lines(30, 12'000, 512);
  log += "{\"timestamp\": 9, \"input_length\": 5000, \"output_length\": 6, \"hash_ids\": [2]}\n";
  const auto made = read(log);
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all[1].prompt, 5000);
  EXPECT_EQ(made->all[1].blocks, 0U);
  EXPECT_EQ(made->all[2].blocks, 4U);
  EXPECT_THAT(
      made->notes,
      ElementsAre("1 of 31 requests have ids that do not fit their prompts in blocks of 512 "
                  "tokens; their ids are not used (first in line 31: 1 block id for 5000 "
                  "tokens)"));
}

TEST_F(Columns, OfThePlainTableMayHaveOtherBlocksAndIdsOfHeadsOnly) {
  const auto heads = read(
      "arrival_s,prompt_tokens,output_tokens,block_ids\n0,5000,1,0-1\n1,6000,1,0-1\n"
      "2,3000,1,0\n");
  ASSERT_TRUE(heads) << error(heads);
  EXPECT_EQ(heads->tokens_per_block, 512);
  EXPECT_THAT(heads->notes, IsEmpty());
  const auto small = read(
      "arrival_s,prompt_tokens,output_tokens,block_ids\n0,160,1,0-9\n1,320,1,0-19\n2,75,1,0-4\n"
      "3,1000,1,0-62\n");
  ASSERT_TRUE(small) << error(small);
  EXPECT_EQ(small->tokens_per_block, 16);
  EXPECT_THAT(small->notes, ElementsAre(StartsWith("a block id stands for 16 tokens")));
}

TEST_F(Columns, OfVidurAndOtherDelimitersAreKnown) {
  const auto made =
      read("arrived_at;num_prefill_tokens;num_decode_tokens\n0.5;374;44\n4.5;396;109\n");
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all[1].arrival, 4.5e6);
  EXPECT_EQ(made->all[1].output, 109);
}

TEST_F(Columns, OfAnyTableAreNamedInAMap) {
  const auto made = read(R"(
delimiter = ";"
block_tokens = 32
[columns]
arrival_s = {column = "when", unit = "ms"}
prompt_tokens = "in"
output_tokens = "out"
tenant = "who"
block_ids = "ids"
)",
                         "when;in;out;who;ids\n500;64;1;ann;0-1\n2500;96;2;bob;0 7 9\n");
  ASSERT_TRUE(made) << error(made);
  EXPECT_EQ(made->all[1].arrival, 2.5e6);
  EXPECT_EQ(made->tokens_per_block, 32);
  EXPECT_THAT(made->tenants, ElementsAre("ann", "bob"));
  const auto gaps = read(
      "columns = {gap_s = \"interval\", prompt_tokens = \"in\", output_tokens = \"out\"}",
      "{\"interval\": 1.5, \"in\": 10, \"out\": 2}\n{\"interval\": 2, \"in\": 10, \"out\": 2}\n");
  ASSERT_TRUE(gaps) << error(gaps);
  EXPECT_EQ(gaps->all[1].arrival, 3.5e6);
}

TEST_F(Columns, OfAMapNameTheLineOfAMistake) {
  const std::string needed = "prompt_tokens = \"in\"\noutput_tokens = \"out\"\n";
  EXPECT_THAT(error(read("[columns]\n" + needed, "in,out\n1,1\n")),
              HasSubstr("map.toml:1:1: [columns] must have one of arrival_s and gap_s"));
  EXPECT_THAT(error(read("[columns]\narrival = \"t\"\n" + needed, "t,in,out\n1,1,1\n")),
              HasSubstr("map.toml:2:1: unknown key arrival"));
  EXPECT_THAT(error(read("[columns]\narrival_s = {column = \"t\", unit = \"seconds\"}\n" + needed,
                         "t,in,out\n1,1,1\n")),
              HasSubstr("unit must be one of date us ms s min h d, found \"seconds\""));
  EXPECT_THAT(error(read("[columns]\narrival_s = \"time\"\n" + needed, "t,in,out\n1,1,1\n")),
              HasSubstr("log:1: the column \"time\" is missing: the header has t, in, out"));
  EXPECT_THAT(error(read("block_tokens = 0\n", "t,in,out\n1,1,1\n")),
              HasSubstr("map.toml:1:16: block_tokens must be a whole number"));
}

TEST_F(Columns, ThatAreNoneAreSaid) {
  EXPECT_THAT(error(read("a,b\n1,2\n")),
              HasSubstr("a plain table has the columns arrival_s, prompt_tokens and output_tokens; "
                        "map other names with --columns FILE"));
  EXPECT_THAT(error(read("num_prefill_tokens,num_decode_tokens,num_total_tokens\n1,2,3\n")),
              HasSubstr("log.jsonl:1: has lengths of requests but no arrival times"));
  EXPECT_THAT(error(read("{\"conversation_id\": \"x\", \"conversation\": [], \"turn\": 1}\n")),
              HasSubstr("has texts; Almanac needs counts of tokens"));
  EXPECT_THAT(error(read("{\"session_id\": \"a\", \"delay\": 5, \"input_length\": 1, "
                         "\"output_length\": 1}\n")),
              HasSubstr("log.jsonl:1: timestamp is not a number, or is missing (turns that follow "
                        "an answer are not supported)"));
}

}  // namespace
}  // namespace almanac::inference
