// SPDX-License-Identifier: Apache-2.0
#include "perf/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/catalogue_file.h"
#include "perf/speed_models.h"
#include "support/temporary_folder.h"

namespace almanac::perf {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader = "model,gpus,cpus,mem_gb,norm_throughput\n";

/// Twice as fast with 12 cores, three times if there is memory for it.
constexpr const char* kRows =
    "hungry,1,3,50,1\nhungry,1,3,100,1\nhungry,1,12,50,2\nhungry,1,12,100,3\n";

TEST(InputTableTest, RepeatsItsPointsAndDrawsLinesBetween) {
  const InputTable table({2, 4}, {10, 20}, {0.25, 0.5, 0.5, 1});
  EXPECT_EQ(table(2, 10), 0.25);
  EXPECT_EQ(table(4, 20), 1);
  EXPECT_EQ(table(3, 20), 0.75);
  EXPECT_EQ(table(4, 15), 0.75);
  EXPECT_EQ(table(3, 15), 0.5625);  // the mean of the four
  EXPECT_EQ(table(1, 20), 0.25);    // half the fewest cores
  EXPECT_EQ(table(1, 5), 0.125);    // less memory than was tried changes nothing more
  EXPECT_EQ(table(99, 99), 1);
}

TEST(MeasuredTest, AJobRunsAsItsTableSays) {
  const TemporaryFolder folder;
  const auto catalogue = read_catalogue(folder.write("t.csv", std::string(kHeader) + kRows));
  ASSERT_TRUE(catalogue) << to_string(catalogue.error());
  SpeedModels models(*catalogue);
  const Found found = models.find({.name = "hungry"});
  ASSERT_EQ(found.match, Match::name);
  const Grant share{.gpus = 2, .cpus = 6, .memory_gb = 100};
  const JobSpeed job(*found.speed, {&share, 1});
  const auto rate = [&](double cpus, double memory_gb) {
    const Grant held{.gpus = 2, .cpus = cpus, .memory_gb = memory_gb};
    return job.rate({&held, 1});
  };
  EXPECT_DOUBLE_EQ(rate(6, 100), 1);
  EXPECT_DOUBLE_EQ(rate(24, 100), 2);
  EXPECT_DOUBLE_EQ(rate(24, 200), 3);
  EXPECT_DOUBLE_EQ(rate(15, 200), 2);  // half way from 3 to 12 cores of a GPU
  EXPECT_DOUBLE_EQ(rate(48, 999), 3);
  // What is enough is the least that is as fast as the most.
  const InputCurve& enough = catalogue->find("hungry")->input->curve;
  EXPECT_EQ(enough.enough_cpus, 12);
  EXPECT_EQ(enough.enough_memory_gb(), 100);
}

TEST(MeasuredTest, AGridWithAHoleIsRefused) {
  const TemporaryFolder folder;
  const auto holed = read_catalogue(
      folder.write("t.csv", std::string(kHeader) + "a,1,3,50,1\na,1,3,100,1\na,1,12,50,2\n"));
  ASSERT_FALSE(holed);
  EXPECT_THAT(
      to_string(holed.error()),
      HasSubstr("a was not measured with 12 cores and 100 GB per GPU: a table needs each "));
  const auto none = read_catalogue(folder.write("u.csv", std::string(kHeader) + "a,2,3,50,1\n"));
  ASSERT_FALSE(none);
  EXPECT_THAT(to_string(none.error()),
              HasSubstr("no model was measured on one GPU with known cores"));
}

TEST(MeasuredTest, WithoutMemoryCoresAreAll) {
  const TemporaryFolder folder;
  const auto catalogue = read_catalogue(
      folder.write("t.csv", "model,cpus_per_gpu,throughput\na,1,10\na,2,20\na,4,20\n"));
  ASSERT_TRUE(catalogue) << to_string(catalogue.error());
  const InputCurve& enough = catalogue->find("a")->input->curve;
  EXPECT_EQ(enough.enough_cpus, 2);
  EXPECT_EQ(enough.enough_memory_gb(), 0);
}

TEST(MeasuredTest, TheSlowerOfCoresAndMemoryFillsACellThatWasNotMeasured) {
  const TemporaryFolder folder;
  const auto catalogue = read_catalogue(folder.write(
      "t.csv",
      "model,cpus_per_gpu,memory_gb_per_gpu,throughput\na,1,64,10\na,4,64,40\na,4,16,20\n"));
  ASSERT_TRUE(catalogue) << to_string(catalogue.error());
  const InputTable& table = *catalogue->find("a")->input->table;
  EXPECT_EQ(table(1, 16), 0.25);  // of 40: cores allow 10, memory 20
  EXPECT_EQ(table(4, 16), 0.5);
  EXPECT_EQ(table(1, 64), 0.25);
}

TEST(MeasuredTest, RowsWithoutCoresTellOfGpusAndNeighbours) {
  const TemporaryFolder folder;
  const auto catalogue = read_catalogue(
      folder.write("t.csv",
                   "model,batch,gpus,cpus_per_gpu,neighbour,neighbour_batch,throughput\n"
                   "a,8,1,1,,,50\na,8,1,2,,,100\n"
                   "a,8,1,,,,100\na,16,2,,,,160\na,8,1,,a,8,50\n"));
  ASSERT_TRUE(catalogue) << to_string(catalogue.error());
  SpeedModels models(*catalogue);
  const Found found = models.find({.name = "a"});
  const Grant one{.gpus = 1, .cpus = 2};
  const Grant two{.gpus = 2, .cpus = 4};
  const JobSpeed job(*found.speed, {&one, 1});
  EXPECT_NEAR(job.rate({&two, 1}), 1.6, 1e-3);
  const SpeedModel* const neighbour = found.speed;
  EXPECT_NEAR(job.rate({&one, 1}, {&neighbour, 1}), 0.5, 1e-3);
  const Grant fewer{.gpus = 1, .cpus = 1};
  EXPECT_NEAR(job.rate({&fewer, 1}), 0.5, 1e-3);
}

}  // namespace
}  // namespace almanac::perf
