// SPDX-License-Identifier: Apache-2.0
#include "policy/size/core_search.h"

#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perf/catalogue_file.h"
#include "perf/speed_models.h"

namespace almanac::policy::size {
namespace {

constexpr int kMost = 24;

/// How busy a GPU is with so many cores.
using Curve = std::function<double(int)>;

struct Found {
  int cores = 0;
  int trials = 0;
};

Found search(const Curve& use, int start, int obtainable = kMost) {
  CoreSearch search(kMost, false);
  Found found{.cores = start};
  for (;; ++found.trials) {
    search.observe(found.cores, use(found.cores));
    found.cores = search.next(obtainable);
    if (search.done()) return found;
  }
}

int optimum(const Curve& use) {
  int cores = kMost;
  while (cores > 1 && use(cores - 1) >= 0.98 * use(kMost)) --cores;
  return cores;
}

TEST(CoreSearch, JumpsToWhatWouldFeedTheGpu) {
  // Fed in proportion up to 8 cores: 3 cores, 3/8 busy; 8 are enough; 7 are not.
  CoreSearch search(kMost, false);
  search.observe(3, 3.0 / 8);
  EXPECT_TRUE(search.wants_more());
  EXPECT_EQ(search.next(kMost), 8);
  search.observe(8, 1);
  EXPECT_EQ(search.next(kMost), 7);
  search.observe(7, 7.0 / 8);
  EXPECT_EQ(search.next(kMost), 8);
  EXPECT_TRUE(search.done());
}

TEST(CoreSearch, HalvesWhatIsEnough) {
  // 2 cores feed it: 12, 6, 3, 1 (half), 2.
  CoreSearch search(kMost, false);
  search.observe(12, 1);
  EXPECT_EQ(search.next(kMost), 6);
  search.observe(6, 1);
  EXPECT_EQ(search.next(kMost), 3);
  search.observe(3, 1);
  EXPECT_EQ(search.next(kMost), 1);
  search.observe(1, 0.5);
  EXPECT_EQ(search.next(kMost), 2);
  search.observe(2, 1);
  EXPECT_EQ(search.next(kMost), 2);
  EXPECT_TRUE(search.done());
}

TEST(CoreSearch, TriesOneLessOfWhatWasRemembered) {
  CoreSearch search(kMost, true);
  search.observe(8, 1);
  EXPECT_EQ(search.next(kMost), 7);
  search.observe(7, 7.0 / 8);
  EXPECT_EQ(search.next(kMost), 8);
  EXPECT_TRUE(search.done());
}

TEST(CoreSearch, WaitsForCoresThatAreNotThere) {
  CoreSearch search(kMost, false);
  search.observe(3, 0.25);
  EXPECT_EQ(search.next(3), 3);
  EXPECT_TRUE(search.done());
  EXPECT_TRUE(search.wants_more());
  EXPECT_EQ(search.next(5), 5);
  EXPECT_FALSE(search.done());
}

TEST(CoreSearch, StopsWhereMoreIsUseless) {
  // Something else holds the GPU up: never more than half busy.
  const Found found = search([](int cores) { return cores < 4 ? cores / 8.0 : 0.5; }, 3);
  EXPECT_EQ(found.cores, 4);
  EXPECT_LE(found.trials, 4);
}

TEST(CoreSearch, PassesOverALevelStretch) {
  // As Synergy's table of AlexNet: nothing between 6 and 8 cores, then up to 12.
  const auto use = [](int cores) { return cores < 9 ? std::min(cores, 6) * 0.1 : cores / 12.0; };
  for (const int start : {1, 3, 7, 12, 24}) {
    const Found found = search([&](int cores) { return std::min(1.0, use(cores)); }, start);
    EXPECT_EQ(found.cores, 12) << "from " << start;
  }
}

/// The ten models of Synergy that CODA's workload draws from, as fitted.
TEST(CoreSearch, FindsTheCoresOfEveryPublicModelFromAnyStart) {
  Result<perf::Catalogue> catalogue = perf::read_catalogue("public");
  ASSERT_TRUE(catalogue);
  perf::SpeedModels models(std::move(*catalogue));
  for (const char* name : {"alexnet", "shufflenet", "resnet-18", "mobilenet", "m5", "resnet-50",
                           "deepspeech2", "gnmt", "transformer", "lm"}) {
    const perf::SpeedModel& model = *models.find({.name = name}).speed;
    const Curve use = [&](int cores) { return std::min(1.0, model.fed(cores, 500)); };
    const int best = optimum(use);
    for (const int start : {1, 3, 12}) {
      const Found found = search(use, start);
      EXPECT_NEAR(found.cores, best, 1) << name << " from " << start;
      EXPECT_LE(found.trials, start == 3 && best <= 6 ? 4 : 6) << name << " from " << start;
    }
  }
}

RC_GTEST_PROP(CoreSearch, SettlesOnTheLeastThatDoesNoHarm, ()) {
  const auto steps = *rc::gen::container<std::vector<int>>(kMost, rc::gen::inRange(0, 10));
  const int start = *rc::gen::inRange(1, kMost + 1);
  const double most = *rc::gen::inRange(1, 11) / 10.0;
  const double sum = std::accumulate(steps.begin(), steps.end(), 1);
  double best_seen = 0;
  const Curve use = [&](int cores) {
    const double part = std::accumulate(steps.begin(), steps.begin() + cores, 1) / sum;
    best_seen = std::max(best_seen, most * part);
    return most * part;
  };
  const Found found = search(use, start);
  RC_ASSERT(found.trials <= 2 * kMost);
  const double seen = best_seen;
  RC_ASSERT(use(found.cores) >= 0.98 * seen);
  RC_ASSERT(found.cores == 1 || use(found.cores - 1) < 0.98 * seen);
}

}  // namespace
}  // namespace almanac::policy::size
