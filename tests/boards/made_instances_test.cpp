// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that makes instances of GPUs as jobs need them, with real processes and a driver that
/// is none (fake_driver.cpp): GPUs 0 and 1 are boards of 80 GB, in MIG mode.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/read.h"
#include "gpu/nvml.h"
#include "live/box.h"
#include "machine/instances.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using trace::JobState;

class MadeInstances : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    ::setenv("FAKE_MACHINE", "pairs", 1);
    ::setenv("FAKE_INSTANCES", instances().c_str(), 1);
    ::setenv("FAKE_IN_USE", (folder_ / "used").c_str(), 1);
    // The boards alone.
    ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
    ::unsetenv("FAKE_NO_ROOT");
    stand({});
  }
  std::string instances() const { return (folder_ / "instances").string(); }
  void stand(const std::vector<std::string>& lines) {
    std::ofstream file(instances());
    for (const std::string& each : lines) file << each << '\n';
  }
  /// "GPU ID PROFILE START COMPUTE" of each.
  std::vector<std::string> standing() const {
    std::ifstream file(instances());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void begin_here() {
    auto machine = find_machine("", true);
    ASSERT_TRUE(machine) << to_string(machine.error());
    ASSERT_TRUE(machine->makes_instances);
    begin({.state = state(), .machine = *std::move(machine), .policy = "fifo", .futures = 0});
  }
  store::Submission asking(const std::string& profile, const std::string& script,
                           int instances = 1) const {
    store::Submission asked = shell(script, instances);
    asked.gpu_profile = profile;
    return asked;
  }
  /// A job that runs until the file is there.
  JobNumber submit_until(const std::string& file, const std::string& profile) {
    return submit(asking(profile, "until [ -e " + file + " ]; do sleep 0.01; done"));
  }
  void let_go(const std::string& file) { std::ofstream(folder_ / "work" / file) << ""; }
  bool has_begun(JobNumber job) {
    return eventually([&] {
      const auto notes = service_->store().notes(job);
      return notes && std::any_of(notes->begin(), notes->end(),
                                  [](const auto& each) { return each.what == "started"; });
    });
  }
};

TEST_F(MadeInstances, AJobIsGivenTheOneThatItAsks) {
  begin_here();
  const JobNumber job = submit(
      asking("1g.10gb", "echo $CUDA_VISIBLE_DEVICES $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE > told"));
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  EXPECT_EQ(text("told"), "MIG-0-1\n");
  EXPECT_THAT(standing(), ElementsAre("0 1 19 6 1")) << "at the start that keeps most options";
  EXPECT_THAT(look(job).held_gpus, SizeIs(1));
  EXPECT_EQ(look(job).held_gpus.front().gpu_milli, 125);
}

TEST_F(MadeInstances, OneThatStandsIdleIsUsedAgain) {
  begin_here();
  for (const char* const each : {"one", "two"}) {
    const JobNumber job =
        submit(asking("2g.20gb", std::string("echo $CUDA_VISIBLE_DEVICES > ") + each));
    ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  }
  EXPECT_EQ(text("one"), text("two"));
  EXPECT_THAT(standing(), SizeIs(1));
}

TEST_F(MadeInstances, JobsAtOnceHaveOneEach) {
  begin_here();
  const JobNumber first = submit_until("go", "3g.40gb");
  ASSERT_TRUE(has_begun(first));
  const JobNumber second = submit(asking("3g.40gb", "echo $CUDA_VISIBLE_DEVICES > told"));
  ASSERT_TRUE(comes_to(second, JobState::completed)) << look(second).reason;
  EXPECT_EQ(text("told"), "MIG-0-2\n");
  EXPECT_EQ(look(first).state, JobState::running);
  let_go("go");
}

TEST_F(MadeInstances, AJobMayAskSeveral) {
  begin_here();
  const JobNumber job = submit(asking("4g.40gb", "echo $CUDA_VISIBLE_DEVICES > told", 2));
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  EXPECT_EQ(text("told"), "MIG-0-1,MIG-1-1\n");
}

TEST_F(MadeInstances, IdleOnesGoForAnotherThatDoesNotFitBesideThem) {
  stand({"0 1 19 6 1", "0 2 19 5 1", "1 1 14 0 1"});
  begin_here();
  const JobNumber job = submit(asking("7g.80gb", "echo $CUDA_VISIBLE_DEVICES > told"));
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  EXPECT_THAT(standing(), ElementsAre("1 1 14 0 1", "0 1 0 0 1"));
  EXPECT_EQ(text("told"), "MIG-0-1\n");
}

TEST_F(MadeInstances, AWholeBoardIsOneInstanceOfAllOfIt) {
  begin_here();
  const JobNumber job = submit(shell("echo $CUDA_VISIBLE_DEVICES > told", 2));
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
  EXPECT_EQ(text("told"), "MIG-0-1,MIG-1-1\n");
  EXPECT_THAT(standing(), ElementsAre("0 1 0 0 1", "1 1 0 0 1"));
}

TEST_F(MadeInstances, WhatAProcessUsesStaysAndTheJobIsTriedAgain) {
  stand({"0 1 0 0 1", "1 1 0 0 1"});
  std::ofstream(folder_ / "used") << "0 1\n1 1\n";
  begin_here();
  const JobNumber job = submit(asking("1g.10gb", "true"));
  EXPECT_TRUE(eventually([&] {
    // It is the trouble of this job, and of no other.
    return testing::PrintToString(service_->explain(job, service::Eyes::owner).value())
               .find("GPU 0: In use by another client") != std::string::npos;
  })) << testing::PrintToString(service_->explain(job, service::Eyes::owner).value());
  EXPECT_THAT(standing(), ElementsAre("0 1 0 0 1", "1 1 0 0 1"));
  std::ofstream(folder_ / "used") << "";
  EXPECT_TRUE(comes_to(job, JobState::completed)) << look(job).reason;
}

TEST_F(MadeInstances, WhatAServiceThatDiedLeftIsUsedOrMadeAnew) {
  // It died before the job began: the one has no compute instance yet, the other stands.
  stand({"0 1 19 6 0", "0 2 19 5 1"});
  begin_here();
  const JobNumber first = submit(asking("1g.10gb",
                                        "echo $CUDA_VISIBLE_DEVICES > one; until [ -e "
                                        "go ]; do sleep 0.01; done"));
  ASSERT_TRUE(eventually([&] { return text("one") == "MIG-0-3\n"; })) << text("one");
  EXPECT_THAT(standing(), ElementsAre("0 2 19 5 1", "0 3 19 6 1"));
  const JobNumber second = submit(asking("1g.10gb", "echo $CUDA_VISIBLE_DEVICES > two"));
  ASSERT_TRUE(comes_to(second, JobState::completed)) << look(second).reason;
  EXPECT_EQ(text("two"), "MIG-0-2\n");
  let_go("go");
  EXPECT_TRUE(comes_to(first, JobState::completed));
}

TEST_F(MadeInstances, TheNextServiceKeepsThoseOfJobsThatRun) {
  begin_here();
  const JobNumber first = submit_until("go", "1g.10gb");
  ASSERT_TRUE(has_begun(first));
  end();
  begin_here();
  // On the other board there is room for all of it, on this one there is none.
  const JobNumber all = submit(asking("7g.80gb", "echo $CUDA_VISIBLE_DEVICES > told"));
  ASSERT_TRUE(comes_to(all, JobState::completed)) << look(all).reason;
  EXPECT_EQ(text("told"), "MIG-1-1\n");
  EXPECT_EQ(look(first).state, JobState::running);
  EXPECT_THAT(standing(), ElementsAre("0 1 19 6 1", "1 1 0 0 1"));
  let_go("go");
  EXPECT_TRUE(comes_to(first, JobState::completed));
}

TEST_F(MadeInstances, SaysWhatNoBoardIsCutIn) {
  begin_here();
  const auto refused = service_->submit(asking("1g.5gb", "true"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("needs a 1g.5gb, but an A100-80GB offers"));
}

TEST_F(MadeInstances, NeverGoWhileAJobHoldsThem) {
  stand({"0 1 19 6 1"});
  auto machine = find_machine("", true);
  ASSERT_TRUE(machine) << to_string(machine.error());
  auto driver = gpu::Nvml::open();
  ASSERT_TRUE(driver) << to_string(driver.error());
  const cluster::Grant one{.node = NodeId{0},
                           .gpu_milli = 125,
                           .gpus = 1,
                           .profile = *slices::profile_id("1g.10gb"),
                           .slice = 6};
  const cluster::Grant all{.node = NodeId{0}, .gpus = 1};
  EXPECT_TRUE(overlap(one, all, *machine));
  auto there = machine->standing;
  const auto refused = make_instances(*driver, *machine, {{all}}, {{one}}, there);
  EXPECT_EQ(refused.error().message, "GPU 0: a job uses the 1g.10gb at slice 6, which overlaps");
  EXPECT_THAT(standing(), ElementsAre("0 1 19 6 1"));
  EXPECT_TRUE(make_instances(*driver, *machine, {{all}}, {}, there));
  EXPECT_THAT(standing(), ElementsAre("0 1 0 0 1"));
}

TEST_F(MadeInstances, OnlyWhereItIsAsked) {
  stand({"0 1 19 6 1"});
  const auto machine = find_machine("");
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_FALSE(machine->makes_instances);
  EXPECT_THAT(machine->standing, IsEmpty());
  const std::string file = (folder_ / "box.toml").string();
  std::ofstream(file) << cluster::to_toml(find_machine("", true)->cluster);
  EXPECT_FALSE(find_machine(file));
  EXPECT_TRUE(find_machine(file, true));
}

}  // namespace
}  // namespace almanac::machine
