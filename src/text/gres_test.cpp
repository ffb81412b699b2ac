// SPDX-License-Identifier: Apache-2.0
#include "text/gres.h"

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(Gres, ReadsEverySpelling) {
  EXPECT_EQ(parse_gres("gpu:v100:8(S:0-1),shard:16"),
            (Gres{.gpus = 8, .gpu_type = "v100", .shards = 16, .types = {{"v100", 8}}}));
  EXPECT_EQ(parse_gres("gpu:v100:2(IDX:0-1)"),
            (Gres{.gpus = 2, .gpu_type = "v100", .index = 0b11, .types = {{"v100", 2}}}));
  EXPECT_EQ(parse_gres("shard:a100:2(IDX:3)"), (Gres{.index = 0b1000, .shards = 2}));
  EXPECT_EQ(
      parse_gres("gpu:v100:3(IDX:0,2,5),shard:4"),
      (Gres{
          .gpus = 3, .gpu_type = "v100", .index = 0b100101, .shards = 4, .types = {{"v100", 3}}}));
  EXPECT_EQ(parse_gres("gres:gpu:8"), (Gres{.gpus = 8}));
  EXPECT_EQ(parse_gres("gres/gpu:a100=4"),
            (Gres{.gpus = 4, .gpu_type = "a100", .types = {{"a100", 4}}}));
  EXPECT_EQ(parse_gres("gpu"), (Gres{.gpus = 1}));
  EXPECT_EQ(parse_gres("gpu:a100:4,gpu:h100:4"),
            (Gres{.gpus = 8, .gpu_type = "a100|h100", .types = {{"a100", 4}, {"h100", 4}}}));
  EXPECT_EQ(
      parse_gres("gpu:1g.10gb:4(S:0),gpu:3g.40gb:1(S:1)"),
      (Gres{.gpus = 5, .gpu_type = "1g.10gb|3g.40gb", .types = {{"1g.10gb", 4}, {"3g.40gb", 1}}}));
  EXPECT_EQ(parse_gres("gpu:a100:4(S:0),gpu:a100:4(S:1)"),
            (Gres{.gpus = 8, .gpu_type = "a100", .types = {{"a100", 8}}}));
  EXPECT_EQ(parse_gres("gpu:v100:2,mps:v100:200"),
            (Gres{.gpus = 2, .gpu_type = "v100", .mps = 200, .types = {{"v100", 2}}}));
  EXPECT_EQ(parse_gres("gres/mps:50"), (Gres{.mps = 50}));
  EXPECT_EQ(parse_gres("gpu:v100:0(IDX:N/A)"), Gres{});
  EXPECT_EQ(parse_gres("craynetwork:4"), Gres{});
  EXPECT_EQ(parse_gres("(null)"), Gres{});
}

TEST(Gres, RefusesWhatIsNone) {
  for (const char* const bad :
       {",", "gpu:a:b:c:1", "gpu:2(IDX:x)", "gpu:2(IDX:3-1)", ":", "gpu=x"}) {
    EXPECT_FALSE(parse_gres(bad)) << bad;
  }
}

}  // namespace
}  // namespace almanac::text
