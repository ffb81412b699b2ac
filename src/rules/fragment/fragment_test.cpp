// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/fragment/curve.h"
#include "rules/fragment/mix.h"

namespace almanac::fragment {
namespace {

NodeImage node_of(std::int64_t cores, std::initializer_list<std::int16_t> free) {
  NodeImage node{.cpu_milli = cores * 1000, .memory_mib = 1 << 20, .model = 1};
  for (const std::int16_t milli : free) {
    node.free_milli[static_cast<std::size_t>(node.gpus++)] = milli;
  }
  return node;
}

Request part_of(int milli, std::int64_t cores = 1) { return {cores * 1000, 0, 1, milli}; }
Request whole(int gpus, std::int64_t cores = 1) { return {cores * 1000, 0, gpus, kWhole}; }

TEST(Mix, CountsWhatEachKindCannotUse) {
  const Mix mix({{part_of(300), 0.5}, {whole(1), 0.25}, {{1000, 0, 0, 0}, 0.25}});
  // Of 200, 500 and 1000 free the first kind cannot use 200, the second 700, the third all 1700.
  EXPECT_DOUBLE_EQ(mix.unusable(node_of(8, {200, 500, 1000})),
                   0.5 * 200 + 0.25 * 700 + 0.25 * 1700);
  // Without cores nothing is of use.
  EXPECT_DOUBLE_EQ(mix.unusable(node_of(0, {200, 500, 1000})), 1700);
  EXPECT_DOUBLE_EQ(mix.unusable(node_of(8, {0, 0})), 0);
}

TEST(Mix, CountsAllOfANodeOfAnotherModel) {
  Request other = part_of(300);
  other.models = 2;
  EXPECT_DOUBLE_EQ(Mix({{other, 1}}).unusable(node_of(8, {1000})), 1000);
}

TEST(Mix, TakesTheMostFrequentKinds) {
  std::vector<Pod> pods(90, {part_of(500), ""});
  pods.insert(pods.end(), 6, {whole(1), ""});
  pods.insert(pods.end(), 4, {whole(2), ""});
  const Mix mix = mix_of(pods);
  ASSERT_EQ(mix.kinds().size(), 2);
  EXPECT_EQ(mix.kinds()[0].request, part_of(500));
  EXPECT_DOUBLE_EQ(mix.kinds()[0].frequency, 90. / 96);
  EXPECT_DOUBLE_EQ(mix.kinds()[1].frequency, 6. / 96);
}

TEST(Curve, TakesThePointsBesideWhereNothingArrived) {
  CurveSampler sampler(10);
  sampler.sample(0, 0, 0);
  sampler.sample(200, 200, 98);  // 2 %
  const Curve curve = sampler.curve();
  EXPECT_EQ(curve.allocated[0], 0);
  EXPECT_EQ(curve.allocated[1], 1);
  EXPECT_EQ(curve.allocated[2], 2);
  EXPECT_DOUBLE_EQ(curve.fragments[2], 0.98);
  EXPECT_DOUBLE_EQ(curve.of_the_idle[2], 1);
  EXPECT_TRUE(std::isnan(curve.allocated[130]));
}

}  // namespace
}  // namespace almanac::fragment
