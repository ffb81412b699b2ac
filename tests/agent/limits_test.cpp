// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs held to fewer cores and let go again, on control groups that are made up; and on one that
/// is real, with a process that would like to have more.
#include "agent/limits.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made_up_groups.h"

namespace almanac::agent {
namespace {

using manager::JobNumber;
using testing::HasSubstr;

constexpr JobNumber kJob{12};

class LimitsTest : public testing::Test {
 protected:
  void open() {
    auto opened = Limits::open(node_.at("memory"));
    ASSERT_TRUE(opened) << to_string(opened.error());
    limits_.emplace(std::move(*opened));
  }
  void SetUp() override { open(); }

  /// "" = done.
  std::string hold(double cores) { return hold_all({{kJob, cores}}); }
  std::string hold_all(const std::vector<Limit>& wanted) {
    const auto troubles = limits_->hold(wanted, node_.jobs());
    return troubles.empty() ? "" : troubles.begin()->second;
  }

  MadeUpGroups node_;
  std::optional<Limits> limits_;
};

TEST_F(LimitsTest, HoldsByTimeInV2AndLetsGo) {
  node_.add_v2(12);
  EXPECT_EQ(hold(8), "");
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "800000 100000");
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpuset.cpus"), "0-15") << "Slurm's own";
  EXPECT_EQ(limits_->of(kJob), 8);
  EXPECT_EQ(hold(2.5), "");
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "250000 100000");
  EXPECT_EQ(hold_all({}), "");
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "max 100000");
  EXPECT_FALSE(limits_->of(kJob));
}

TEST_F(LimitsTest, HoldsByTimeInV1AndLetsGo) {
  node_.add_v1(12);
  EXPECT_EQ(hold(4), "");
  EXPECT_EQ(node_.read(node_.v1("cpu", 12) + "/cpu.cfs_quota_us"), "400000");
  limits_->lift_all();
  EXPECT_EQ(node_.read(node_.v1("cpu", 12) + "/cpu.cfs_quota_us"), "-1");
}

TEST_F(LimitsTest, HoldsByProcessorsWhereTimeIsNotCounted) {
  node_.add_v1(12, "4-7,12-15", "6-7", false);
  const std::string job = node_.v1("cpuset", 12) + "/cpuset.cpus";
  const std::string step = node_.v1("cpuset", 12) + "/step_batch/cpuset.cpus";
  EXPECT_EQ(hold(3), "");
  EXPECT_EQ(node_.read(job), "4-6");
  EXPECT_EQ(node_.read(step), "6") << "of its own, as far as they are left";
  EXPECT_EQ(hold(1), "");
  EXPECT_EQ(node_.read(job), "4");
  EXPECT_EQ(node_.read(step), "4") << "none of its own is left";
  EXPECT_EQ(hold(5), "");
  EXPECT_EQ(node_.read(job), "4-7,12");
  EXPECT_EQ(node_.read(step), "6-7");
  EXPECT_EQ(hold_all({}), "");
  EXPECT_EQ(node_.read(job), "4-7,12-15");
  EXPECT_EQ(node_.read(step), "6-7");
}

TEST_F(LimitsTest, NeverGivesMoreThanSlurm) {
  node_.add_v2(12, "0-7");
  EXPECT_EQ(hold(4), "");
  EXPECT_EQ(hold(8), "");
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "max 100000");
  EXPECT_FALSE(limits_->of(kJob));
  node_.add_v1(13, "0-3", "0-3", false);
  EXPECT_EQ(hold_all({{JobNumber{13}, 64}}), "");
  EXPECT_EQ(node_.read(node_.v1("cpuset", 13) + "/cpuset.cpus"), "0-3");
}

TEST_F(LimitsTest, HoldsAgainWhatSlurmWroteAnew) {
  node_.add_v1(12, "0-7", "0-7", false);
  const std::string job = node_.v1("cpuset", 12) + "/cpuset.cpus";
  EXPECT_EQ(hold(2), "");
  node_.put(job, "0-7");
  node_.put(node_.v1("cpuset", 12) + "/step_1/cpuset.cpus", "0-3");
  EXPECT_EQ(hold(2), "");
  EXPECT_EQ(node_.read(job), "0-1");
  EXPECT_EQ(node_.read(node_.v1("cpuset", 12) + "/step_1/cpuset.cpus"), "0-1");
  limits_->lift_all();
  EXPECT_EQ(node_.read(job), "0-7");
  EXPECT_EQ(node_.read(node_.v1("cpuset", 12) + "/step_1/cpuset.cpus"), "0-3");
}

TEST_F(LimitsTest, LeavesWhatSomebodyElseHasWrittenSince) {
  node_.add_v2(12);
  EXPECT_EQ(hold(8), "");
  node_.put(node_.v2(12) + "/cpu.max", "150000 100000");
  limits_->lift_all();
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "150000 100000");
}

TEST_F(LimitsTest, GivesBackALimitThatWasThereBefore) {
  node_.add_v2(12);
  node_.put(node_.v2(12) + "/cpu.max", "900000 100000");
  EXPECT_EQ(hold(2), "");
  limits_->lift_all();
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "900000 100000");
}

TEST_F(LimitsTest, OfAnAgentThatWasKilledAreLetGoByTheNext) {
  node_.add_v2(12);
  node_.add_v1(13, "0-7", "0-7", false);
  EXPECT_EQ(hold_all({{kJob, 8}, {JobNumber{13}, 2}}), "");
  open();
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "max 100000");
  EXPECT_EQ(node_.read(node_.v1("cpuset", 13) + "/cpuset.cpus"), "0-7");
  EXPECT_EQ(node_.read(node_.v1("cpuset", 13) + "/step_batch/cpuset.cpus"), "0-7");
}

TEST_F(LimitsTest, EndWithTheJob) {
  node_.add_v2(12);
  EXPECT_EQ(hold(8), "");
  std::filesystem::remove_all(node_.v2(12));
  EXPECT_EQ(hold(8), "");
  EXPECT_TRUE(limits_->none());
  open();
}

TEST_F(LimitsTest, SayWhatIsMissing) {
  node_.put(node_.v2(12) + "/cgroup.procs", "");
  EXPECT_THAT(hold(8), HasSubstr("no control group"));
  EXPECT_TRUE(limits_->none());
}

TEST_F(LimitsTest, AreNotSetIfTheyCannotBeRemembered) {
  node_.add_v2(12);
  std::filesystem::create_directories(node_.at("memory.new/in the way"));
  EXPECT_THAT(hold(8), HasSubstr("memory.new"));
  EXPECT_EQ(node_.read(node_.v2(12) + "/cpu.max"), "max 100000");
  EXPECT_FALSE(limits_->of(kJob));
}

TEST_F(LimitsTest, AnotherFileInThePlaceOfTheMemoryIsRefused) {
  node_.put(node_.at("other"), "{\"changed\": [{\"file\": 7}]}");
  const auto opened = Limits::open(node_.at("other"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::corrupt);
}

RC_GTEST_PROP(Limits, WhateverIsHeldAllIsAsItWasInTheEnd, ()) {
  MadeUpGroups node;
  node.add_v2(1);
  node.add_v1(2);
  node.add_v1(3, "0-3,8-11", "2-3,8", false);
  const std::string file[] = {node.v2(1) + "/cpu.max", node.v1("cpu", 2) + "/cpu.cfs_quota_us",
                              node.v1("cpuset", 3) + "/cpuset.cpus",
                              node.v1("cpuset", 3) + "/step_batch/cpuset.cpus"};
  std::vector<std::string> before;
  for (const std::string& each : file) before.push_back(node.read(each));
  std::optional<Limits> limits(std::move(*Limits::open(node.at("memory"))));
  const int steps = *rc::gen::inRange(1, 8);
  for (int step = 0; step < steps; ++step) {
    std::vector<Limit> wanted;
    for (std::uint32_t job = 1; job <= 3; ++job) {
      if (*rc::gen::arbitrary<bool>())
        wanted.push_back({JobNumber{job}, *rc::gen::inRange(1, 20) / 2.0});
    }
    RC_ASSERT(limits->hold(wanted, node.jobs()).empty());
    if (*rc::gen::inRange(0, 4) == 0) limits.emplace(std::move(*Limits::open(node.at("memory"))));
  }
  limits->lift_all();
  for (std::size_t at = 0; at < before.size(); ++at) RC_ASSERT(node.read(file[at]) == before[at]);
}

/// A group of the kernel's own in the place where Slurm would make it in v1 (of v2, see
/// unified_test.cpp); none where that is not allowed.
class RealGroup {
 public:
  RealGroup() {
    const Mounts mounts = find_mounts();
    if (mounts.cpu.empty()) return;
    top_ = mounts.cpu + "/slurm_almanac_test_" + std::to_string(::getpid());
    job_ = {.job = kJob, .cpu = top_ + "/uid_0/job_12"};
    std::error_code error;
    is_there_ = std::filesystem::create_directories(job_.cpu, error);
  }
  ~RealGroup() {
    if (top_.empty()) return;
    std::error_code error;
    for (std::string each = job_.cpu; each.size() >= top_.size();
         each = std::filesystem::path(each).parent_path()) {
      std::filesystem::remove(each, error);
    }
  }
  const std::string& folder() const { return job_.cpu; }
  const JobGroups& job() const { return job_; }
  bool is_there() const { return is_there_; }

 private:
  std::string top_;
  JobGroups job_;
  bool is_there_ = false;
};

/// In how many periods the group was held.
int times_held(const RealGroup& group) {
  std::ifstream file(group.folder() + "/cpu.stat");
  std::string word;
  for (long value = 0; file >> word >> value;) {
    if (word == "nr_throttled") return static_cast<int>(value);
  }
  return 0;
}

TEST(LimitsOfTheKernel, HoldAProcessThatWouldHaveMore) {
  const RealGroup group;
  if (!group.is_there()) {
    GTEST_SKIP()
        << "no control group can be made here: it needs root, and the cpu controller of v1";
  }
  MadeUpGroups elsewhere;
  auto limits = Limits::open(elsewhere.at("memory"));
  ASSERT_TRUE(limits);
  ASSERT_TRUE(limits->hold({{kJob, 0.1}}, {group.job()}).empty());
  const pid_t process = ::fork();
  if (process == 0) {
    for (volatile unsigned turn = 0;;) turn = turn + 1;
  }
  std::ofstream(group.folder() + "/cgroup.procs") << process << '\n';
  constexpr int kEnough = 3;
  for (int tries = 0; tries < 6000 && times_held(group) < kEnough; ++tries) ::usleep(10'000);
  EXPECT_GE(times_held(group), kEnough);
  limits->lift_all();
  EXPECT_EQ(elsewhere.read(group.folder() + "/cpu.cfs_quota_us"), "-1");
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

}  // namespace
}  // namespace almanac::agent
