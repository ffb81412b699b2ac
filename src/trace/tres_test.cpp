// SPDX-License-Identifier: Apache-2.0
#include "trace/tres.h"

#include <gtest/gtest.h>

namespace almanac::trace {
namespace {

TEST(TresText, CountsGpusOfAllTypesTogether) {
  EXPECT_EQ(parse_tres("gres/gpu=8")->gpus, 8);
  EXPECT_EQ(parse_tres("gres/gpu:a100=8,gres/gpu=8")->gpus, 8);
  EXPECT_EQ(parse_tres("gres/gpu:a100=2,gres/gpu:h100=1")->gpus, 3);
  EXPECT_EQ(parse_tres("gpu:a100:8")->gpus, 8);
  EXPECT_EQ(parse_tres("gres:gpu:2")->gpus, 2);
  EXPECT_EQ(parse_tres("cpu=4")->gpus, 0);
  EXPECT_EQ(parse_tres("")->gpus, 0);
}

TEST(TresText, ReadsMemoryInEveryUnit) {
  EXPECT_EQ(parse_tres("mem=512M")->memory_gb, 0.5F);
  EXPECT_EQ(parse_tres("mem=1.50G")->memory_gb, 1.5F);
  EXPECT_EQ(parse_tres("mem=2T")->memory_gb, 2048);
  EXPECT_EQ(parse_tres("mem=1024")->memory_gb, 1);
}

TEST(TresText, PassesOverWhatItDoesNotNeed) {
  const auto tres = parse_tres("billing=8,energy=NO_VAL,fs/disk=1,license/matlab=1,cpu=8,node=2");
  ASSERT_TRUE(tres);
  EXPECT_EQ(tres->cpus, 8);
  EXPECT_EQ(tres->nodes, 2);
}

TEST(TresText, RefusesNonsense) {
  for (const char* text : {"gres/gpu=x", "gres/gpu=-1", "mem=1X", "cpu", "cpu="}) {
    EXPECT_FALSE(parse_tres(text)) << text;
  }
}

}  // namespace
}  // namespace almanac::trace
