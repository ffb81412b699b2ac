// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs on any number of GPUs, on real processes: their policy gives them more, or takes some for
/// others, and they go on. FfDL's dynamic program deals every second; a job doubles its GPUs once
/// it has said how long its steps take on those that it has.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "live/box.h"

namespace almanac::machine {
namespace {

using store::JobNumber;
using trace::JobState;

class Elastic : public Box {
 protected:
  void begin_ffdl(int gpus = 4) {
    begin({.state = state(),
           .machine = made_up(gpus),
           .policy = "ffdl:1",
           .futures = 0,
           .measuring = {.every = 50ms}});
  }
  store::Submission elastic(const std::string& text) const {
    store::Submission asked = shell(text);
    asked.max_gpus = 8;
    asked.batch = 64;
    asked.steps = 1'000'000;
    asked.grace = 50s;
    return asked;
  }
  /// The wrapper of docs/guide/live.md around a training that says how long its steps take, twice
  /// as fast on twice the GPUs. It takes other GPUs up once it may leave the old ones (file
  /// `leave`).
  store::Submission wrapped() const {
    return elastic(
        "train() { trap 'exit 0' TERM; echo step_s 0.$((64 / ALMANAC_GPUS)) 0 "
        ">> $ALMANAC_PROGRESS; while :; do sleep 0.02; done; }; "
        "trap 'changed=1; until [ -e leave ]; do sleep 0.02; done; kill $child' USR2; "
        "while :; do . $ALMANAC_ALLOCATION; echo $CUDA_VISIBLE_DEVICES >> log; "
        "echo gpus $CUDA_VISIBLE_DEVICES >> $ALMANAC_PROGRESS; changed=; "
        "train & child=$!; wait $child; [ $changed ] || exit 1; done");
  }
  /// It has both GPUs of the machine, and leaves none before it may.
  JobNumber grown_to_two() {
    begin_ffdl(2);
    let_leave();
    const JobNumber job = submit(wrapped());
    EXPECT_TRUE(has_log("0\n0,1\n")) << text("log");
    EXPECT_TRUE(eventually([&] { return look(job).held_gpus.front().count() == 2; }));
    keep_from_leaving();
    return job;
  }
  JobNumber submit_other() {
    return submit(shell("echo other $CUDA_VISIBLE_DEVICES >> log; sleep 1000"));
  }
  void let_leave() { std::ofstream(folder_ / "work" / "leave").flush(); }
  void keep_from_leaving() { std::filesystem::remove(folder_ / "work" / "leave"); }
  bool has_log(const std::string& lines) {
    return eventually([&] { return text("log") == lines; });
  }
  std::vector<std::string> resized(JobNumber job) {
    std::vector<std::string> made;
    const auto notes = service_->store().notes(job);
    for (const store::Note& note : *notes) {
      if (note.what == "resized") made.push_back(note.detail);
    }
    return made;
  }
};

TEST_F(Elastic, GoesOnOnMoreGpusAsItSaysHowFastItIs) {
  begin_ffdl();
  let_leave();
  const JobNumber job = submit(wrapped());
  ASSERT_TRUE(has_log("0\n0,1\n0,1,2,3\n")) << text("log");
  EXPECT_EQ(look(job).attempts, 1) << "its process is the same";
  EXPECT_EQ(look(job).preemptions, 0);
  EXPECT_EQ(resized(job), (std::vector<std::string>{"GPUs 0 to 0,1", "GPUs 0,1 to 0,1,2,3"}));
}

// A training that makes no step for half a second after it has begun.
TEST_F(Elastic, IsKnownByHowLongAChangeOfGpusTook) {
  begin_ffdl(2);
  let_leave();
  const JobNumber job = submit(elastic(
      "train() { trap 'exit 0' TERM; echo step_s 0.$((64 / ALMANAC_GPUS)) 0 >> $ALMANAC_PROGRESS; "
      "sleep 0.5; echo step $((ALMANAC_GPUS * 10)) >> $ALMANAC_PROGRESS; "
      "while :; do sleep 0.02; done; }; "
      "trap 'changed=1; kill $child' USR2; while :; do . $ALMANAC_ALLOCATION; "
      "echo gpus $CUDA_VISIBLE_DEVICES >> $ALMANAC_PROGRESS; changed=; "
      "train & child=$!; wait $child; [ $changed ] || exit 1; done"));
  const auto measured = [&] {
    const std::vector<std::string> notes = resized(job);
    return std::find_if(notes.begin(), notes.end(), [](const std::string& note) {
             return note.starts_with("made its next step ");
           }) != notes.end();
  };
  ASSERT_TRUE(eventually(measured));
  const std::vector<std::string> notes = resized(job);
  double took_s = 0;
  ASSERT_EQ(std::sscanf(notes.back().c_str(), "made its next step %lf s", &took_s), 1);
  EXPECT_GE(took_s, 0.5);
  EXPECT_EQ(look(job).attempts, 1);
}

TEST_F(Elastic, LeavesToOthersWhatItSaysThatItDoesNotUse) {
  const JobNumber first = grown_to_two();
  const JobNumber other = submit_other();
  ASSERT_TRUE(eventually([&] { return look(first).held_gpus.front().count() == 1; }));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(look(other).state, JobState::pending) << "its GPU is not free yet";
  EXPECT_EQ(text("log"), "0\n0,1\n") << "the first has both GPUs still";
  let_leave();
  ASSERT_TRUE(has_log("0\n0,1\n1\nother 0\n")) << text("log");
  EXPECT_EQ(look(first).attempts, 1);
}

TEST_F(Elastic, NeverHasFewerGpusThanItsLeast) {
  begin_ffdl(2);
  let_leave();
  store::Submission asked = wrapped();
  asked.gpus = asked.min_gpus = 2;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(has_log("0,1\n")) << text("log");
  const JobNumber other = submit_other();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(look(other).state, JobState::pending);
  EXPECT_EQ(look(job).held_gpus.front().count(), 2);
  EXPECT_EQ(text("log"), "0,1\n");
}

TEST_F(Elastic, BeginsAnewWhereItDoesNotTakeThemUpInTime) {
  begin_ffdl();
  store::Submission asked = elastic(
      "trap : USR2; echo $ALMANAC_ATTEMPT: $CUDA_VISIBLE_DEVICES >> log; "
      "printf 'gpus %s\\nstep_s 0.5\\n' $CUDA_VISIBLE_DEVICES >> $ALMANAC_PROGRESS; "
      "while :; do sleep 0.02; done");
  asked.grace = 300ms;
  const JobNumber job = submit(asked);
  ASSERT_TRUE(eventually([&] { return text("log").starts_with("1: 0\n2: 0,1\n"); })) << text("log");
  EXPECT_GE(look(job).preemptions, 1);
}

TEST_F(Elastic, BeginsAnewOnOtherGpusWhereItSaysNothingOfThem) {
  begin_ffdl(2);
  const JobNumber job =
      submit(elastic("echo $ALMANAC_ATTEMPT: $CUDA_VISIBLE_DEVICES >> log; "
                     "echo step_s 0.5 >> $ALMANAC_PROGRESS; while :; do sleep 0.02; done"));
  ASSERT_TRUE(has_log("1: 0\n2: 0,1\n")) << text("log");
  EXPECT_EQ(look(job).preemptions, 1);
  EXPECT_TRUE(resized(job).empty());
}

TEST_F(Elastic, KeepsWhatItUsesWhenTheServiceBeginsAnew) {
  begin_ffdl();
  let_leave();
  const JobNumber job = submit(wrapped());
  ASSERT_TRUE(has_log("0\n0,1\n0,1,2,3\n"));
  end();
  begin_ffdl();
  const JobNumber other = submit_other();
  ASSERT_TRUE(comes_to(other, JobState::running));
  ASSERT_TRUE(eventually([&] { return text("log").find("other") != std::string::npos; }));
  EXPECT_EQ(look(job).attempts, 1);
  EXPECT_EQ(text("log").find("0,1,2,3\nother"), std::string::npos)
      << "it has left a GPU before: " << text("log");
}

TEST_F(Elastic, IsNotToldAgainOfWhatItWasToldByAnEarlierService) {
  grown_to_two();
  let_leave();
  end();
  begin_ffdl(2);
  std::this_thread::sleep_for(2500ms);  // two deals and more
  EXPECT_EQ(text("log"), "0\n0,1\n");
}

TEST_F(Elastic, IsToldByTheNextServiceWhatTheLastDidNot) {
  const JobNumber first = grown_to_two();
  const JobNumber other = submit_other();
  ASSERT_TRUE(eventually([&] { return look(first).held_gpus.front().count() == 1; }));
  end();
  begin_ffdl(2);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(text("log"), "0\n0,1\n") << "nothing begins on a GPU that a process may use";
  let_leave();
  ASSERT_TRUE(eventually([&] { return text("log").starts_with("0\n0,1\n1\nother 0\n"); }))
      << text("log");
  EXPECT_EQ(look(first).attempts, 1);
  EXPECT_EQ(look(other).state, JobState::running);
}

/// What docs/guide/elastic.md gives its readers, word by word.
std::string wrapper_of_the_manual() {
  std::ifstream file(std::string(std::getenv("ALMANAC_SOURCE_DIR")) + "/docs/guide/elastic.md");
  const std::string manual{std::istreambuf_iterator<char>(file), {}};
  const auto begin = manual.find("#!/bin/bash");
  const auto end = manual.find("```", begin);
  return begin == std::string::npos ? "" : manual.substr(begin, end - begin);
}

TEST_F(Elastic, RunsByTheWrapperOfTheManual) {
  const std::filesystem::path programs = folder_ / "bin";
  std::filesystem::create_directory(programs);
  std::ofstream(programs / "torchrun")
      << "#!/bin/sh\ntrap 'echo saved >> log; exit 143' TERM\n"
         "echo \"$CUDA_VISIBLE_DEVICES: $*\" >> log\n"
         "echo step_s 0.$((64 / ALMANAC_GPUS)) >> $ALMANAC_PROGRESS\n"
         "[ $ALMANAC_GPUS = 2 ] || while :; do sleep 0.02; done\n";
  std::filesystem::permissions(programs / "torchrun", std::filesystem::perms::owner_all);
  begin_ffdl(2);
  store::Submission asked = elastic("");
  asked.argv.clear();
  asked.script = wrapper_of_the_manual();
  asked.environment = {"PATH=" + programs.string() + ":/usr/bin:/bin"};
  const JobNumber job = submit(asked);
  ASSERT_TRUE(comes_to(job, JobState::completed)) << look(job).reason << text("log");
  EXPECT_EQ(text("log"),
            "0: --standalone --nproc-per-node 1 train.py --resume\nsaved\n"
            "0,1: --standalone --nproc-per-node 2 train.py --resume\n");
  EXPECT_EQ(look(job).attempts, 1);
}

/// Whatever jobs say of themselves, the service goes on.
TEST_F(Elastic, MayLieAboutTheirTraining) {
  for (const std::string name :
       {"ffdl", "hasten", "pollux", "sia", "optimus", "elastic_tiresias", "slaq"}) {
    const std::string policy = name + ":every_s=1";
    SCOPED_TRACE(policy);
    begin({.state = (folder_ / name).string(),  // shepherds of the one before may write theirs yet
           .machine = made_up(4),
           .policy = policy,
           .futures = 0,
           .measuring = {.every = 20ms}});
    const auto liar = [&](const std::string& words) {
      store::Submission asked = elastic(
          "trap : USR2; while :; do for line in " + words +
          "; do . $ALMANAC_ALLOCATION; printf 'gpus %s\\n%s\\n' $CUDA_VISIBLE_DEVICES \"$line\" "
          ">> $ALMANAC_PROGRESS; sleep 0.03; done; done");
      asked.model = "lie";
      asked.grace = 100ms;
      submit(asked);
    };
    liar(
        "'batches 10000000 1 1' 'noise 0 0' 'step_s 1e-6' 'step_s 1e6 0 10000000' 'metric 1e15' "
        "'step 1e15' 'metric -1e15' 'step 0' 'noise 1e15 1e15'");
    liar(
        "'batches 1 10000000' 'noise 1e15 0' 'step_s 1e6 999999' 'step_s 1e-6 0 10000000' "
        "'step 1' 'metric 0' 'step 2' 'metric 1e15' 'step 3' 'metric -1e15' 'step 4' 'metric 1'");
    const JobNumber honest = submit(shell("sleep 2"));
    EXPECT_TRUE(comes_to(honest, JobState::completed));
    end();
    while (kill_commands()) {
    }
  }
}

TEST_F(Elastic, CanBeCancelledWhileItMoves) {
  begin_ffdl(2);
  const JobNumber job = submit(wrapped());
  ASSERT_TRUE(eventually([&] { return !resized(job).empty(); }));
  ASSERT_TRUE(service_->cancel({job}, me_, true));
  ASSERT_TRUE(comes_to(job, JobState::cancelled));
  const JobNumber other = submit(shell("echo other >> log", 2));
  ASSERT_TRUE(comes_to(other, JobState::completed));
  EXPECT_EQ(text("log"), "0\nother\n");
}

}  // namespace
}  // namespace almanac::machine
