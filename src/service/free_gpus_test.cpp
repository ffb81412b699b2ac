// SPDX-License-Identifier: Apache-2.0
#include "service/free_gpus.h"

#include <gtest/gtest.h>

namespace almanac::service {
namespace {

/// A node of eight GPUs, of which `free` are held by no job.
NodeView node(int free) {
  NodeView made;
  for (int gpu = 0; gpu < 8; ++gpu) {
    made.gpus.push_back({.number = gpu});
    if (gpu >= free) made.gpus.back().jobs.push_back(store::JobNumber{1});
  }
  return made;
}

TEST(FreeGpus, AreFragmentsForJobsThatNeedMoreThanANodeHas) {
  // Three jobs of one GPU for each job of four.
  const FreeGpus made = count_free_gpus({node(2), node(3), node(0), node(8)}, {{1, 3}, {4, 1}});
  EXPECT_EQ(made.gpus, 13);
  EXPECT_EQ(made.most_on_a_node, 8);
  EXPECT_EQ(made.whole_nodes, 1);
  EXPECT_DOUBLE_EQ(made.fragmented.value(), 5 / 4.0)
      << "the five GPUs of the first two nodes, for one job in four";
}

TEST(FreeGpus, TakeAJobLargerThanANodeForWholeNodes) {
  EXPECT_DOUBLE_EQ(count_free_gpus({node(8), node(7)}, {{64, 1}}).fragmented.value(), 7);
}

TEST(FreeGpus, OfNodesThatAcceptNoJobsDoNotCount) {
  NodeView drained = node(8);
  drained.drained = true;
  NodeView broken = node(8);
  broken.gpus[3].in_service = false;
  const FreeGpus made = count_free_gpus({drained, broken}, {{0, 9}});
  EXPECT_EQ(made.gpus, 7);
  EXPECT_EQ(made.whole_nodes, 0);
  EXPECT_FALSE(made.fragmented) << "no job with GPUs says what is needed";
}

}  // namespace
}  // namespace almanac::service
