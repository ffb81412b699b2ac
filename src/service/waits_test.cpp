// SPDX-License-Identifier: Apache-2.0
#include "service/waits.h"

#include <numeric>

#include <gtest/gtest.h>

namespace almanac::service {
namespace {

std::uint64_t total(const WaitHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
}

TEST(Waits, CountEachWaitInItsBucket) {
  Waits waits;
  waits.add("gpu", "ann", 8, 10s);
  waits.add("gpu", "ann", 5, 11s);
  waits.add("gpu", "bob", 1, 30 * 24h);
  waits.add("gpu", "bob", 1, -1s);
  const WaitHistogram& large = waits.by_place().at({"gpu", "5-8"});
  EXPECT_EQ(large.counts[0], 1U) << "10 s is in the bucket up to 10 s";
  EXPECT_EQ(large.counts[1], 1U) << "11 s is in the next one, up to 60 s";
  EXPECT_DOUBLE_EQ(large.sum_s, 21);
  const WaitHistogram& small = waits.by_place().at({"gpu", "1"});
  EXPECT_EQ(small.counts[0], 1U) << "a negative wait is none";
  EXPECT_EQ(small.counts.back(), 1U) << "a month is above all bounds";
  EXPECT_EQ(total(waits.by_user().at("ann")), 2U);
  EXPECT_EQ(waits.by_gpus().at(1), 2U);
}

TEST(Waits, HaveABoundedNumberOfHistograms) {
  Waits waits;
  for (int n = 0; n < 1000; ++n) {
    const std::string number = std::to_string(n);
    for (int gpus : {0, 1, 2, 8, 16, 128}) waits.add("p" + number, "u" + number, gpus, 1min);
  }
  EXPECT_EQ(waits.by_user().size(), Waits::kMostUsers + 1);
  EXPECT_EQ(waits.by_place().size(), (Waits::kMostPartitions + 1) * 6);
  EXPECT_EQ(total(waits.by_user().at("other")), 6 * (1000 - Waits::kMostUsers));
  EXPECT_EQ(total(waits.by_user().at("u49")), 6U) << "the first fifty keep theirs";
  EXPECT_EQ(total(waits.by_place().at({"other", "65+"})), 1000 - Waits::kMostPartitions);
}

TEST(Waits, NameSizesByTheirGpus) {
  EXPECT_EQ(size_class(0), "0");
  EXPECT_EQ(size_class(4), "2-4");
  EXPECT_EQ(size_class(5), "5-8");
  EXPECT_EQ(size_class(64), "9-64");
  EXPECT_EQ(size_class(65), "65+");
}

}  // namespace
}  // namespace almanac::service
