// SPDX-License-Identifier: Apache-2.0

/// \file
/// CODA's allocator on real processes: what they say of their GPUs decides how many processors they
/// have, and those are theirs in truth.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "live/box.h"
#include "process/cpus.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

/// One GPU and two processors of this machine; trials of a second instead of 90.
class Cores : public Box {
 protected:
  void SetUp() override {
    Box::SetUp();
    cores_ = process::allowed_cpus();
    if (cores_.size() < 2) GTEST_SKIP() << "one processor only";
    cores_.resize(2);
    std::ofstream(folder_ / "hasty.toml")
        << "base = 'coda'\nsize = {name = 'adaptive', trial_s = 1}\n";
    begin_here();
  }
  void begin_here() {
    Machine machine = made_up(1);
    machine.cluster.classes.front().cpus = 2;
    machine.cores = cores_;
    begin({.state = state(),
           .machine = machine,
           .policy = (folder_ / "hasty.toml").string(),
           .futures = 0,
           .measuring = {.every = 50ms, .settling = 300ms, .least = 300ms, .window = 1s}});
  }
  /// Works without a pause and says that its GPUs are fed by `enough` processors; with fewer they
  /// wait in proportion. How many it has it asks the kernel, not OpenMP.
  JobNumber fed_by(int enough, double cpus) {
    store::Submission asked = shell(
        "unset OMP_NUM_THREADS; while :; do n=$(nproc); echo $n > now; [ $n -lt $0 ] || n=$0; "
        "echo gpu_use $((n / $0)).$((n % $0 * 10 / $0)) >> $ALMANAC_PROGRESS; done");
    asked.argv.push_back(std::to_string(enough));
    asked.cpus = cpus;
    return submit(asked);
  }
  /// The same, by as many as the file `needs` says when it looks.
  JobNumber fed_by_what_it_needs(double cpus) {
    store::Submission asked = shell(
        "unset OMP_NUM_THREADS; while :; do n=$(nproc); echo $n > now; m=$(cat needs); "
        "[ $n -lt $m ] || n=$m; "
        "echo gpu_use $((n / m)).$((n % m * 10 / m)) >> $ALMANAC_PROGRESS; done");
    asked.cpus = cpus;
    return submit(asked);
  }
  void needs(int processors) {
    std::ofstream(folder_ / "work" / "next") << processors << "\n";
    std::filesystem::rename(folder_ / "work" / "next", folder_ / "work" / "needs");
  }
  bool comes_to_have(const std::string& processors) {
    return eventually([&] { return text("now") == processors + "\n"; });
  }
  /// What the service says of its changes.
  std::vector<std::string> changes(JobNumber job) {
    std::vector<std::string> made;
    const auto notes = service_->store().notes(job);
    for (const store::Note& note : *notes) {
      if (note.what == "resized") made.push_back(note.detail);
    }
    return made;
  }
  bool end_job(JobNumber job) {
    return service_->cancel({job}, me_, false) && comes_to(job, JobState::cancelled);
  }

  std::vector<int> cores_;
};

TEST_F(Cores, AreTakenFromWhoAskedTooMany) {
  const JobNumber job = fed_by(1, 2);
  ASSERT_TRUE(comes_to_have("1"));
  EXPECT_EQ(look(job).cores.size(), 1U);
  ASSERT_TRUE(eventually([&] { return !changes(job).empty(); }));
  EXPECT_EQ(changes(job).front(), "2 cores to 1; its GPUs were 100 % busy");
  const auto lines = service_->explain(job, service::Eyes::owner).value();
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.ends_with(": 2 cores to 1; its GPUs were 100 % busy");
  }));
  end();
  begin_here();
  EXPECT_EQ(look(job).cores.size(), 1U) << "a new service leaves it what it has";
  EXPECT_TRUE(end_job(job));
}

TEST_F(Cores, AreGivenToWhoAskedTooFew) {
  const JobNumber job = fed_by(2, 1);
  ASSERT_TRUE(comes_to_have("2"));
  EXPECT_EQ(look(job).cores, cores_);
  ASSERT_TRUE(eventually([&] { return !changes(job).empty(); }));
  EXPECT_EQ(changes(job).front(), "1 core to 2; its GPUs were 50 % busy");
  EXPECT_TRUE(end_job(job));
}

TEST_F(Cores, AreLookedForAnewWhenAJobDoesSomethingElse) {
  needs(1);
  const JobNumber job = fed_by_what_it_needs(2);
  ASSERT_TRUE(comes_to_have("1"));
  // It has settled, and is looked at twice before it changes what it does.
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_EQ(changes(job).size(), 1U);
  needs(2);
  ASSERT_TRUE(comes_to_have("2"));
  EXPECT_EQ(changes(job).back(), "1 core to 2; its GPUs were 50 % busy");
  EXPECT_TRUE(end_job(job));
}

TEST_F(Cores, TakenFromOneAreAnothers) {
  const JobNumber job = fed_by(1, 2);
  ASSERT_TRUE(eventually([&] { return !changes(job).empty(); }));
  store::Submission asked =
      shell("unset OMP_NUM_THREADS; nproc; taskset -cp $$ | sed 's/.*: //'", 0);
  asked.cpus = 1;
  const JobNumber other = submit(asked);
  ASSERT_TRUE(comes_to(other, JobState::completed));
  ASSERT_EQ(look(job).cores.size(), 1U);
  const int taken = look(job).cores.front();
  const int free = cores_[0] == taken ? cores_[1] : cores_[0];
  EXPECT_EQ(text("almanac-2.out"), "1\n" + std::to_string(free) + "\n");
  EXPECT_TRUE(end_job(job));
}

TEST_F(Cores, AreOneJobsOnlyWhenItIsToStartAgain) {
  end();
  Machine machine = made_up(2);
  machine.cluster.classes.front().cpus = 2;
  machine.cores = cores_;
  begin({.state = state(),
         .machine = machine,
         .policy = "srtf+limit",
         .policy_is_told = true,
         .futures = 0});
  const auto limited = [&](const std::string& command, int gpus, Duration limit) {
    store::Submission asked = shell(command, gpus);
    asked.cpus = gpus;
    asked.time_limit = limit;
    return asked;
  };
  const JobNumber first =
      submit(limited("trap '' TERM; echo + >> log; while :; do sleep 0.05; done", 1, 2h));
  ASSERT_TRUE(eventually([&] { return text("log") == "+\n"; }));
  // Stopped for a job that goes away, it is to start again before its process has gone.
  const JobNumber shorter = submit(limited("true", 2, 1min));
  ASSERT_TRUE(eventually([&] { return look(first).preemptions == 1; }));
  ASSERT_TRUE(service_->cancel({shorter}, me_, false));
  ASSERT_EQ(look(first).state, JobState::pending) << "it has its GPU, and no process yet";
  ASSERT_EQ(text("log"), "+\n") << "its process goes only after its grace";
  const JobNumber second = submit(limited("sleep 1000", 1, 1h));
  ASSERT_TRUE(comes_to(second, JobState::running));
  ASSERT_EQ(look(first).cores.size(), 1U);
  ASSERT_EQ(look(second).cores.size(), 1U);
  EXPECT_NE(look(first).cores, look(second).cores);
  EXPECT_TRUE(end_job(first));
  EXPECT_TRUE(end_job(second));
}

}  // namespace
}  // namespace almanac::machine
