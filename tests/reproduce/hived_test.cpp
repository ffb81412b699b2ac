// SPDX-License-Identifier: Apache-2.0

/// \file
/// HiveD on the shared data, and on a layout of our own with a file that is malformed.
#include <filesystem>

#include <gmock/gmock.h>

#include "base/result.h"
#include "reproduce/rows.h"
#include "support/temporary_folder.h"

namespace almanac::reproduce {
namespace {

TEST(Hived, EveryBindAndScenarioIsEqual) {
  ALMANAC_MADE_OR_SKIP(outcome, "hived");
  expect_near(*outcome, [](const Row&) { return 0; });
}

TEST(Hived, TakesOtherLayoutsAndLeavesOutWhatIsMalformed) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "data/hived");
  std::filesystem::create_directories(folder / "golden/hived");
  folder.write("data/hived/kinds.csv",
               "config,cell_type,child_type,child_number,is_node\n"
               "mine,HOST,GPU,2,1\n");
  folder.write("data/hived/cells.csv",
               "config,order,depth,chain,level,cell_type,address,parent_address,node,leaf_index,"
               "is_node,pinned_cell\n"
               "mine,0,0,HOST,2,HOST,h,,h,,1,\n"
               "mine,1,1,HOST,1,GPU,h/0,h,h,0,0,\n"
               "mine,2,1,HOST,1,GPU,h/1,h,h,1,0,\n");
  folder.write("data/hived/owners.csv",
               "config,vc,order,kind,chain,cell_type,number\n"
               "mine,us,0,cells,HOST,HOST,1\n");
  const std::string header =
      "scenario,config,step,op,node,group,vc,priority,lazy,leaf_type,pinned_cell,members,outcome,"
      "placements,victims,lazy_preempted\n";
  folder.write("golden/hived/some_scenarios.csv",
               header +
                   "one,mine,0,submit,,g1,us,-1,0,GPU,,1x2,bind,h:0-1,,\n"
                   "one,mine,1,submit,,g2,us,3,0,GPU,,2x1,preempt,h:0;h:1,g1,\n"
                   "one,mine,2,submit,,g3,us,2,0,GPU,,1x1,bind,h:0,,\n");  // in fact it waits
  folder.write("golden/hived/torn_scenarios.csv",
               header + "one,mine,0,submit,,g1,us,high,0,GPU,,1x2,bind,h:0-1,,\n");
  const Outcome outcome = reproduce(*recipes().find("hived"), folder / "");
  ASSERT_EQ(outcome.malformed.size(), 1);
  EXPECT_THAT(to_string(outcome.malformed[0]), ::testing::HasSubstr("torn_scenarios.csv:2: "));
  EXPECT_THAT(to_string(outcome.malformed[0]), ::testing::HasSubstr("found 'high'"));
  double requests = 0;
  for (const Row& row : outcome.rows) {
    if (row.what.find("as published") == std::string::npos) continue;
    EXPECT_EQ(row.published, 3);
    requests = row.ours;
  }
  EXPECT_EQ(requests, 2);
}

}  // namespace
}  // namespace almanac::reproduce
