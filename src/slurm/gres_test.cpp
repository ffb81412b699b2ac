// SPDX-License-Identifier: Apache-2.0
#include "slurm/gres.h"

#include <gtest/gtest.h>

namespace almanac::slurm {
namespace {

TEST(Gres, ReadsEverySpelling) {
  EXPECT_EQ(parse_gres("gpu:v100:8(S:0-1),shard:16"),
            (Gres{.gpus = 8, .gpu_type = "v100", .shards = 16}));
  EXPECT_EQ(parse_gres("gpu:v100:2(IDX:0-1)"),
            (Gres{.gpus = 2, .gpu_type = "v100", .index = 0b11}));
  EXPECT_EQ(parse_gres("shard:a100:2(IDX:3)"), (Gres{.index = 0b1000, .shards = 2}));
  EXPECT_EQ(parse_gres("gpu:v100:3(IDX:0,2,5),shard:4"),
            (Gres{.gpus = 3, .gpu_type = "v100", .index = 0b100101, .shards = 4}));
  EXPECT_EQ(parse_gres("gres:gpu:8"), (Gres{.gpus = 8}));
  EXPECT_EQ(parse_gres("gres/gpu:a100=4"), (Gres{.gpus = 4, .gpu_type = "a100"}));
  EXPECT_EQ(parse_gres("gpu"), (Gres{.gpus = 1}));
  EXPECT_EQ(parse_gres("gpu:a100:4,gpu:h100:4"), (Gres{.gpus = 8, .gpu_type = "a100|h100"}));
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
}  // namespace almanac::slurm
