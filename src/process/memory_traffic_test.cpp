// SPDX-License-Identifier: Apache-2.0

/// \file
/// On a made-up tree of files as resctrl shows them: no machine of ours has the counters.
#include "process/memory_traffic.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace almanac::process {
namespace {

namespace fs = std::filesystem;

class Tree : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "almanac-resctrl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    write("info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n");
    fs::create_directories(root_ / "mon_groups");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void counts(const fs::path& group, const std::string& first, const std::string& second) {
    write(group / "mon_data/mon_L3_00/mbm_total_bytes", first + "\n");
    write(group / "mon_data/mon_L3_01/mbm_total_bytes", second + "\n");
  }
  MemoryTraffic open() { return MemoryTraffic::open("here", root_.string()).value(); }

  fs::path root_;
};

TEST_F(Tree, AddsUpWhatTheProcessorsTell) {
  counts("mon_groups/almanac-17.1@here", "3000000000", "1500000000");
  counts("", "8000000000", "0");
  const MemoryTraffic traffic = open();
  EXPECT_DOUBLE_EQ(traffic.moved_gb("17.1").value(), 4.5);
  EXPECT_DOUBLE_EQ(traffic.moved_gb().value(), 8);
  EXPECT_FALSE(traffic.moved_gb("18.1")) << "there is no such group";
}

TEST_F(Tree, CountsOtherControlGroupsToTheMachine) {
  counts("", "1000000000", "1000000000");
  counts("somebody_elses", "500000000", "0");
  EXPECT_DOUBLE_EQ(open().moved_gb().value(), 2.5);
}

TEST_F(Tree, SaysNothingWhereTheCounterDoesNot) {
  counts("mon_groups/almanac-17.1@here", "3000000000", "Unavailable");
  EXPECT_FALSE(open().moved_gb("17.1"));
}

TEST_F(Tree, FollowsEachThreadOfAProcess) {
  write("mon_groups/almanac-17.1@here/tasks", "");
  const std::array<pid_t, 2> processes{::getpid(), 999'999'999};
  ASSERT_TRUE(open().follow("17.1", processes)) << "one that has gone is no error";
  std::ifstream file(root_ / "mon_groups/almanac-17.1@here/tasks");
  const std::set<pid_t> followed{std::istream_iterator<pid_t>(file), {}};
  EXPECT_TRUE(followed.contains(::getpid()));
  EXPECT_FALSE(followed.contains(999'999'999));
}

TEST_F(Tree, RemovesItsOwnGroupsOnly) {
  const fs::path groups = root_ / "mon_groups";
  for (const char* name :
       {"almanac-17.1@here", "almanac-18.1@here", "almanac-17.1@there", "somebody_elses"}) {
    fs::create_directories(groups / name);
  }
  open().keep_only({"18.1"});
  EXPECT_FALSE(fs::exists(groups / "almanac-17.1@here"));
  EXPECT_TRUE(fs::exists(groups / "almanac-18.1@here"));
  EXPECT_TRUE(fs::exists(groups / "almanac-17.1@there")) << "of another service";
  EXPECT_TRUE(fs::exists(groups / "somebody_elses"));
}

TEST_F(Tree, CountsTheSameJobOfTwoServicesApart) {
  MemoryTraffic ours = open();
  MemoryTraffic theirs = MemoryTraffic::open("there", root_.string()).value();
  counts("mon_groups/almanac-17.1@here", "3000000000", "0");
  counts("mon_groups/almanac-17.1@there", "1000000000", "0");
  EXPECT_DOUBLE_EQ(ours.moved_gb("17.1").value(), 3);
  EXPECT_DOUBLE_EQ(theirs.moved_gb("17.1").value(), 1);
}

TEST_F(Tree, IsRefusedWithoutTheCounters) {
  write("info/L3_MON/mon_features", "llc_occupancy\n");
  const auto refused = MemoryTraffic::open("here", root_.string());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
}

}  // namespace
}  // namespace almanac::process
