// SPDX-License-Identifier: Apache-2.0

/// \file
/// What jobs draw, by a model and by a driver that is none (tests/boards/fake_driver.cpp): counted
/// for as long as a process has GPUs, once, whatever happens to the service.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "live/box.h"
#include "machine/power.h"

namespace almanac::machine {
namespace {

namespace fs = std::filesystem;

using store::JobNumber;
using trace::JobState;

/// A node of two GPUs that draws 500 W, and 400 W more for each GPU that is held.
class Drawn : public Box {
 protected:
  static constexpr double kGpuW = 500.0 / 2 + 400;

  void begin_drawing(bool has_driver = false, service::IdleRule idle = {}) {
    energy::PowerModel model;
    model.idle_w = 500;
    model.full_w = 900;
    Machine machine = made_up(2);
    machine.has_driver = has_driver;
    if (has_driver) machine.driver_numbers = {{0, 1}};
    begin(Config{.state = state(),
                 .machine = machine,
                 .policy = "fifo",
                 .futures = 0,
                 .measuring = {.every = 20ms},
                 .power = model,
                 .idle = std::move(idle)});
  }
  /// A job that says that its GPU does not compute, and which run of it this is.
  store::Submission idles() const {
    return shell(
        "echo $ALMANAC_ATTEMPT >> runs; while [ ! -e go ]; do echo gpu_use 0 >> "
        "\"$ALMANAC_PROGRESS\"; sleep 0.02; done",
        1);
  }
  /// The notes about idle GPUs of a job.
  std::vector<std::string> idle_notes(JobNumber job) {
    std::vector<std::string> made;
    const auto notes = service_->store().notes(job);
    for (const store::Note& note : notes.value()) {
      if (note.what == "idle GPUs") made.push_back(note.detail);
    }
    return made;
  }
  store::Submission waits_for_go(int gpus) const {
    return shell("while [ ! -e go ]; do sleep 0.02; done", gpus);
  }
  void go() { std::ofstream(folder_ / "work" / "go").close(); }
  bool has_drawn(JobNumber job, double least_j) {
    return eventually([&] { return look(job).energy.total_j() > least_j; });
  }
  /// Of `gpus` GPUs by the model, from its start to where it is counted.
  static double modelled_j(const store::Job& job, int gpus) {
    return gpus * kGpuW * static_cast<double>((job.energy.counted_to - job.start).count()) / 1e3;
  }
};

TEST(PowerLimit, IsSetAndWhatTheDriverRefusesIsNamed) {
  Machine machine = made_up(2);
  machine.driver_numbers = {{0, 1}};
  machine.cluster.classes.front().gpu_power_limit_w = 200;
  limit_gpus(machine);
  EXPECT_EQ(
      machine.notes,
      (std::vector<std::string>{"gpu_power_limit_w of 1 GPU: not held: Insufficient Permissions"}));

  ::setenv("FAKE_FORGETS", "1", 1);
  machine.notes.clear();
  machine.driver_numbers = {{0, std::nullopt}};
  limit_gpus(machine);
  ::unsetenv("FAKE_FORGETS");
  ASSERT_EQ(machine.notes.size(), 2U);
  EXPECT_EQ(machine.notes[0],
            "gpu_power_limit_w of 1 GPU: lost whenever the GPU is unused (no persistence mode): "
            "Not Supported");
  EXPECT_EQ(machine.notes[1],
            "gpu_power_limit_w of 1 GPU: not enforced: the driver does not support it");
}

TEST_F(Drawn, IsTheGpusOfAJobForAsLongAsItRuns) {
  begin_drawing();
  const JobNumber one = submit(waits_for_go(1));
  const JobNumber none = submit(shell("true", 0));
  ASSERT_TRUE(has_drawn(one, 50));
  go();
  ASSERT_TRUE(comes_to(one, JobState::completed));
  ASSERT_TRUE(comes_to(none, JobState::completed));
  const store::Job ended = look(one);
  EXPECT_EQ(ended.energy.measured_j, 0);
  EXPECT_NEAR(ended.energy.modelled_j, modelled_j(ended, 1), 1e-6);
  EXPECT_GE(ended.energy.counted_to, ended.end);
  EXPECT_EQ(look(none).energy.total_j(), 0);
}

TEST_F(Drawn, IsNeitherLostNorDoubledWhereTheServiceIsBegunAgain) {
  begin_drawing();
  const JobNumber job = submit(waits_for_go(2));
  ASSERT_TRUE(has_drawn(job, 50));
  end();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  begin_drawing();
  ASSERT_TRUE(has_drawn(job, 300));
  const store::Job runs = look(job);
  EXPECT_NEAR(runs.energy.modelled_j, modelled_j(runs, 2), 1e-6);
  end();
  go();
  ASSERT_TRUE(eventually([&] { return fs::exists(fs::path(state()) / "runs/1.1/exit.json"); }));
  const Time gone = wall_clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  begin_drawing();
  ASSERT_TRUE(comes_to(job, JobState::completed));
  const store::Job ended = look(job);
  EXPECT_NEAR(ended.energy.modelled_j, modelled_j(ended, 2), 1e-6);
  EXPECT_LE(ended.energy.counted_to, gone + 100ms)
      << "not to when the service saw that it had ended";
}

TEST_F(Drawn, IsKeptBesideWhatAJobUsed) {
  begin_drawing();
  const JobNumber job = submit(shell(
      "while [ ! -e go ]; do echo gpu_use 0.4 >> \"$ALMANAC_PROGRESS\"; sleep 0.02; done", 1));
  ASSERT_TRUE(eventually([&] {
    const store::Used used = look(job).used;
    return used.gpu_seen_s > 0 && used.core_seen_s > 0 && used.most_memory_gb > 0;
  }));
  go();
  ASSERT_TRUE(comes_to(job, JobState::completed));
  const store::Used used = look(job).used;
  EXPECT_NEAR(used.gpu_s, 0.4 * used.gpu_seen_s, 1e-9) << "as the job said";
  EXPECT_GE(used.core_s, 0);
  EXPECT_LT(used.most_memory_gb, 1) << "a shell";
  end();
  begin_drawing();
  EXPECT_EQ(look(job).used, used) << "the store keeps it";
}

TEST_F(Drawn, IsGivenBackByAJobThatDoesNotUseIt) {
  const std::string told = folder_ / "told";
  begin_drawing(false, {.mode = service::IdleMode::requeue,
                        .after = 300ms,
                        .grace = 200ms,
                        .hook = "echo $ALMANAC_JOB_ID $ALMANAC_TEXT >> '" + told + "'"});
  store::Submission again = idles();
  again.requeue = trace::Requeue::yes;
  const JobNumber job = submit(again);
  ASSERT_TRUE(eventually([&] { return look(job).attempts == 2; }));
  const auto notes = idle_notes(job);
  ASSERT_GE(notes.size(), 2U);
  EXPECT_EQ(notes[0].rfind("its GPUs have been idle for 00:00:00.300; it will be requeued in", 0),
            0U);
  EXPECT_EQ(notes[1], "requeued: its GPUs were idle");
  ASSERT_TRUE(eventually([&] {
    std::ifstream file(told);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.find("1 its GPUs have been idle") != std::string::npos &&
           text.find("1 requeued: its GPUs were idle") != std::string::npos;
  }));
  go();
  ASSERT_TRUE(comes_to(job, JobState::completed));
}

TEST_F(Drawn, StaysWithAnIdleJobWhereNobodySaidItMayRunAgain) {
  begin_drawing(false, {.mode = service::IdleMode::requeue, .after = 100ms, .grace = 50ms});
  const JobNumber job = submit(idles());
  ASSERT_TRUE(eventually([&] { return !idle_notes(job).empty(); }));
  ASSERT_TRUE(has_drawn(job, 500));
  EXPECT_EQ(look(job).attempts, 1);
  EXPECT_EQ(idle_notes(job).size(), 1U) << "it is said once";
  go();
  ASSERT_TRUE(comes_to(job, JobState::completed));
}

TEST_F(Drawn, IsOnlySpokenOfInADryRunAndOnlyOfTheCanary) {
  begin_drawing(false, {.mode = service::IdleMode::dry, .after = 100ms, .grace = 50ms});
  store::Submission again = idles();
  again.requeue = trace::Requeue::yes;
  const JobNumber job = submit(again);
  ASSERT_TRUE(eventually([&] { return !idle_notes(job).empty(); }));
  ASSERT_TRUE(has_drawn(job, 500));
  EXPECT_EQ(look(job).attempts, 1);
  EXPECT_NE(idle_notes(job)[0].find("(dry: no one is notified)"), std::string::npos);
  end();
  begin_drawing(false,
                {.mode = service::IdleMode::requeue, .after = 100ms, .only = {"somebody else"}});
  const JobNumber other = submit(again);
  ASSERT_TRUE(has_drawn(other, 500));
  EXPECT_TRUE(idle_notes(other).empty());
  go();
  ASSERT_TRUE(comes_to(job, JobState::completed));
  ASSERT_TRUE(comes_to(other, JobState::completed));
}

TEST_F(Drawn, AddsUpOverTheRunsOfAJob) {
  begin_drawing();
  const JobNumber job = submit(waits_for_go(1));
  ASSERT_TRUE(has_drawn(job, 50));
  ASSERT_TRUE(service_->requeue({job}, me_));
  ASSERT_TRUE(eventually([&] { return look(job).attempts == 2; }));
  const double first_j = look(job).energy.total_j();
  EXPECT_GT(first_j, 50);
  ASSERT_TRUE(has_drawn(job, first_j + 50));
  go();
  ASSERT_TRUE(comes_to(job, JobState::completed));
}

// The driver tells that GPU 0 draws 300 W, and nothing of GPU 1.
TEST_F(Drawn, IsWhatTheDriverTellsAndElseTheModels) {
  begin_drawing(true);
  const JobNumber job = submit(waits_for_go(2));
  ASSERT_TRUE(has_drawn(job, 50));
  EXPECT_TRUE(service_->overview().power_is_measured);
  EXPECT_EQ(service_->overview().power_w, 300);
  go();
  ASSERT_TRUE(comes_to(job, JobState::completed));
  const store::Job ended = look(job);
  EXPECT_GT(ended.energy.measured_j, 0);
  const double all_s = static_cast<double>((ended.energy.counted_to - ended.start).count()) / 1e3;
  const double of_the_second_j = kGpuW * all_s;
  // Of the first the model knows what was before the first look.
  const double measured_s = ended.energy.measured_j / 300;
  EXPECT_NEAR(ended.energy.modelled_j, of_the_second_j + kGpuW * (all_s - measured_s), 1e-6);
  ASSERT_TRUE(eventually([&] { return !service_->store().moments(Time{}).value().empty(); }));
  const auto moments = service_->store().moments(Time{});
  EXPECT_EQ(moments->front().power_is_measured, true);
}

}  // namespace
}  // namespace almanac::machine
