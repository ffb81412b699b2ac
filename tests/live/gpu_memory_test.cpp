// SPDX-License-Identifier: Apache-2.0

/// \file
/// Memory of GPUs that jobs share: real processes, and a driver that is none
/// (tests/boards/fake_driver.cpp), of whose first GPU processes here say what they hold.
#include "machine/gpu_memory.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "live/box.h"
#include "machine/book.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using trace::JobState;

/// The driver's two GPUs, each of 80 GB; it lists processes of the first only.
Machine made_up_driver() {
  Machine made = made_up(2);
  made.cluster.classes.front().gpu_memory_gb = 80;
  made.driver_numbers = {{0, 1}};
  made.has_driver = true;
  made.numbers_processes_as_driver = true;
  return made;
}

/// Shell: a process below says that it holds so much of the first GPU.
std::string holding(const std::string& megabytes) {
  return "sh -c 'echo $$ " + megabytes + " >> told; exec sleep 1000' & ";
}

class GpuMemoryTest : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    told_ = (folder_ / "work/told").string();
    ::setenv("FAKE_PROCESSES", told_.c_str(), 1);
  }
  void TearDown() override {
    Box::TearDown();
    ::unsetenv("FAKE_PROCESSES");
  }
  void begin_here() {
    begin({.state = state(),
           .machine = made_up_driver(),
           .policy = "fifo",
           .futures = 0,
           .measuring = {.every = 20ms}});
  }
  JobNumber submit_half(const std::string& script) {
    store::Submission asked = shell(script);
    asked.gpu_share = 0.5;
    asked.grace = 10min;
    return submit(asked);
  }
  std::vector<std::string> excesses_of(JobNumber job) {
    std::vector<std::string> made;
    const auto notes = service_->store().notes(job);
    for (const store::Note& note : *notes) {
      if (note.what == kTooMuchGpu) made.push_back(note.detail);
    }
    return made;
  }

  std::string told_;
};

TEST_F(GpuMemoryTest, AJobIsEndedThatHoldsMoreThanItsPart) {
  begin_here();
  const JobNumber modest = submit_half(holding("40960") + "wait");
  ASSERT_TRUE(eventually([&] { return service_->job(modest)->gpu_memory_gb == 40; }));
  EXPECT_THAT(service_->job(modest)->limits_by, EndsWith("GPU memory: watched"));
  const JobNumber greedy = submit_half("trap '' TERM; " + holding("20480") + holding("21504") +
                                       "while :; do wait; done");
  ASSERT_TRUE(comes_to(greedy, JobState::failed));
  EXPECT_EQ(look(greedy).reason, "out of memory");
  EXPECT_EQ(look(greedy).signal, SIGKILL);
  EXPECT_EQ(look(greedy).held_gpus.front().gpus, look(modest).held_gpus.front().gpus);
  const std::string said = "used 41.0 GB of GPU 0 of 0, but its share is 40.0";
  EXPECT_EQ(excesses_of(greedy), std::vector{said});
  EXPECT_THAT(service_->explain(greedy, service::Eyes::owner)->back(), EndsWith(said));
  EXPECT_EQ(look(modest).state, JobState::running);
  EXPECT_TRUE(excesses_of(modest).empty());
}

TEST_F(GpuMemoryTest, APartHasTheComputeAndTheMemoryThatItAsks) {
  begin_here();
  const auto ask = [&](double share, double memory_gb, const std::string& script) {
    store::Submission asked = shell(script);
    asked.gpu_share = share;
    asked.gpu_memory_gb = memory_gb;
    return submit(asked);
  };
  // 0.3 of a GPU and 50 of its 80 GB; limits of NVIDIA MPS are in MiB.
  const JobNumber large = ask(0.3, 50,
                              "echo $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE "
                              "$CUDA_MPS_PINNED_DEVICE_MEM_LIMIT > limits; sleep 1000");
  ASSERT_TRUE(eventually([&] { return text("limits") == "30 0=51200M\n"; }));
  // Next to it 0.7 of the compute are left, but 30 GB only; the second GPU has both.
  const JobNumber other = ask(0.3, 40, "sleep 1000");
  ASSERT_TRUE(eventually([&] { return look(other).state == JobState::running; }));
  EXPECT_NE(look(other).held_gpus.front().gpus, look(large).held_gpus.front().gpus);
  const JobNumber third = ask(0.1, 45, "true");
  EXPECT_THAT(*service_->explain(third, service::Eyes::owner),
              Contains(HasSubstr("needs 45 GB, and no GPU with enough compute left has more than "
                                 "40 GB free")));
}

TEST_F(GpuMemoryTest, AJobIsAdoptedAndEndedForWhatItTookMeanwhile) {
  begin_here();
  const JobNumber job =
      submit_half("until [ -e grow ]; do sleep 0.01; done; " + holding("50000") + "wait");
  ASSERT_TRUE(eventually([&] { return service_->job(job)->gpu_memory_gb == 0; }));
  end();
  std::ofstream(folder_ / "work/grow") << "";
  ASSERT_TRUE(eventually([&] { return !text("told").empty(); }));
  begin_here();
  ASSERT_TRUE(comes_to(job, JobState::failed));
  EXPECT_EQ(look(job).reason, "out of memory");
}

TEST_F(GpuMemoryTest, SaysThatNothingIsHeldWhereTheDriverDoesNotTellTheMemory) {
  begin_here();
  const JobNumber job =
      submit_half("until [ -e go ]; do sleep 0.01; done; " + holding("") + "wait");
  ASSERT_TRUE(eventually([&] { return service_->job(job)->gpu_memory_gb == 0; }));
  std::ofstream(folder_ / "work/go") << "";
  ASSERT_TRUE(eventually([&] { return service_->job(job)->gpu_memory_gb == -1; }));
  EXPECT_EQ(look(job).state, JobState::running);
  EXPECT_THAT(service_->job(job)->limits_by, EndsWith("GPU memory: not held"));
}

/// A child of ours stands for a job.
class LookTest : public GpuMemoryTest {
 protected:
  void SetUp() override {
    GpuMemoryTest::SetUp();
    child_ = ::fork();
    if (child_ == 0) {
      ::pause();
      ::_exit(0);
    }
    auto opened = gpu::open_driver();
    ASSERT_TRUE(opened) << to_string(opened.error());
    driver_ = *std::move(opened);
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    GpuMemoryTest::TearDown();
  }
  void tell(const std::string& megabytes) {
    std::ofstream(told_) << "1 70000\n" << child_ << " " << megabytes << "\n";
  }
  static Patient patient(int milli, cluster::GpuMask gpus, bool asks_part) {
    return {.job = JobNumber{7},
            .shepherd = ::getpid(),
            .folder = "7.1",
            .held = {{.node = NodeId{0}, .gpu_milli = milli, .gpus = gpus}},
            .asks_part = asks_part};
  }

  std::unique_ptr<gpu::Driver> driver_;
  pid_t child_ = -1;
};

TEST_F(LookTest, OnlyWhatItsOwnProcessesHoldIsAJobs) {
  tell("61440");
  const GpuMemory found = look_at_gpu_memory(*driver_, made_up_driver(), {patient(750, 1, true)});
  EXPECT_EQ(found.held_gb.at(JobNumber{7}), 60) << "and all of its part";
  EXPECT_TRUE(found.excesses.empty());
}

TEST_F(LookTest, TellsWhoHoldsMoreThanThePartThatItAsked) {
  tell("61440");
  const GpuMemory found = look_at_gpu_memory(*driver_, made_up_driver(), {patient(500, 1, true)});
  ASSERT_EQ(found.excesses.size(), 1);
  EXPECT_EQ(found.excesses.front().folder, "7.1");
  EXPECT_EQ(found.excesses.front().gpu, 0);
  EXPECT_EQ(found.excesses.front().held_gb, 60);
  EXPECT_EQ(found.excesses.front().part_gb, 40);
}

TEST_F(LookTest, WhoAskedAWholeGpuMayHoldItAlsoWhereThePolicyLetsItShare) {
  tell("61440");
  const GpuMemory found = look_at_gpu_memory(*driver_, made_up_driver(), {patient(500, 1, false)});
  EXPECT_EQ(found.held_gb.at(JobNumber{7}), 60);
  EXPECT_TRUE(found.excesses.empty());
}

TEST_F(LookTest, NothingIsKnownUnlessTheDriverTellsAll) {
  tell("");
  const auto unknown = [&](const Machine& machine, const Patient& patient) {
    const GpuMemory found = look_at_gpu_memory(*driver_, machine, {patient});
    return found.held_gb.empty() && found.excesses.empty();
  };
  EXPECT_TRUE(unknown(made_up_driver(), patient(500, 1, true)));
  tell("61440");
  EXPECT_FALSE(unknown(made_up_driver(), patient(500, 1, true)));
  EXPECT_TRUE(unknown(made_up_driver(), patient(500, 2, true))) << "it may not be asked";
  EXPECT_TRUE(unknown(made_up_driver(), patient(1000, 3, false)));
  Machine in_container = made_up_driver();
  in_container.numbers_processes_as_driver = false;
  EXPECT_TRUE(unknown(in_container, patient(500, 1, true)));
  Machine cut_up = made_up_driver();
  cut_up.driver_numbers = {{std::nullopt, std::nullopt}};
  EXPECT_TRUE(unknown(cut_up, patient(500, 1, true)));
}

TEST(WatchedGpusTest, AreSaidToBe) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  const auto both = find_machine("");
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_THAT(both->limits_by, EndsWith("memory of shared GPUs: not held")) << "nor of the second";
  ::setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  const auto first = find_machine("");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_THAT(first->limits_by,
              EndsWith(first->numbers_processes_as_driver ? "memory of shared GPUs: watched"
                                                          : "memory of shared GPUs: not held"));
}

}  // namespace
}  // namespace almanac::machine
