// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "process/cpus.h"
#include "shepherd/record.h"
#include "shepherd/runs.h"

namespace almanac::shepherd {
namespace {

/// Shell: a variable of 100 MB.
const std::string kLarge = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); ";

TEST(LimitsTest, TooMuchMemoryIsKilled) {
  const Runs runs;
  Spec spec = runs.shell(kLarge + "sleep 1000; :");
  spec.memory_gb = 0.05;
  const Exit exit = runs.result(spec);
  EXPECT_EQ(exit.cause, Cause::memory);
  EXPECT_EQ(exit.ending.signal, SIGKILL);
  EXPECT_GT(exit.usage.memory_gb, 0.04);
}

TEST(LimitsTest, WhatProcessesShareCountsOnce) {
  const Runs runs;
  // Five processes have the 100 MB in their tables, and none has written to its own.
  Spec spec =
      runs.shell(kLarge + "for i in 1 2 3 4 5; do (for t in 1 2 3; do sleep 1; done) & done; wait");
  spec.memory_gb = 0.35;
  const Exit exit = runs.result(spec);
  EXPECT_EQ(exit.cause, Cause::by_itself);
  EXPECT_TRUE(exit.ending.good());
}

TEST(LimitsTest, AMemoryLimitCanComeLater) {
  const Runs runs;
  shepherd::Run run = runs.start(runs.shell(kLarge + "touch $HERE/ready; sleep 1000; :"));
  ASSERT_TRUE(runs.comes("ready"));
  EXPECT_GT(run.usage().memory_gb, 0.09);
  ASSERT_TRUE(run.resize({}, {}, 0.05, kNoDuration));
  EXPECT_EQ(Runs::exit_of(run).cause, Cause::memory);
}

TEST(LimitsTest, WhoHoldsTooMuchOfAGpuIsKilledAsOneOutOfMemory) {
  const Runs runs;
  Spec spec = runs.shell("trap '' TERM; touch $HERE/ready; while :; do sleep 1; done");
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(runs.comes("ready"));
  run.end_for_memory();
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::memory);
  EXPECT_EQ(exit.ending.signal, SIGKILL);
}

TEST(LimitsTest, CoresAreGivenAndChanged) {
  const std::vector<int> all = process::allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "one processor only";
  const Runs runs;
  // A child and a grandchild, of which the latter is asked.
  Spec spec = runs.shell(
      "(while [ ! -e $HERE/end ]; do taskset -pc $$ | sed 's/.*: //' >$HERE/new; "
      "mv $HERE/new $HERE/cores; sleep 0.01; done)");
  spec.argv = {"sh", "-c", "sh -c \"$0\"; wait", spec.argv.back()};
  spec.cores = {all[0]};
  shepherd::Run run = runs.start(spec);
  const auto bound_to = [&](int core) {
    return comes_true([&] { return runs.text("cores") == std::to_string(core) + "\n"; });
  };
  EXPECT_TRUE(bound_to(all[0]));
  ASSERT_TRUE(run.resize({all[1]}, {}, {}, kNoDuration));
  EXPECT_TRUE(bound_to(all[1]));
  ASSERT_TRUE(run.resize({}, {}, {}, kNoDuration));
  ASSERT_TRUE(run.resize({all[0]}, {}, {}, kNoDuration));
  EXPECT_TRUE(bound_to(all[0]));
  std::ofstream(runs.path("end")) << "";
  EXPECT_TRUE(Runs::exit_of(run).ending.good());
}

TEST(LimitsTest, NewLimitsThatComeBeforeTheCommandRunsHold) {
  const std::vector<int> all = process::allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "one processor only";
  const Runs runs;
  Spec spec = runs.shell("while [ $(nproc) != 1 ]; do sleep 0.01; done");
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(run.resize({all[1]}, {}, {}, kNoDuration));
  EXPECT_TRUE(Runs::exit_of(run).ending.good());
}

TEST(LimitsTest, ACommandMayOpenAsManyFilesAsItIsTold) {
  const Runs runs;
  Spec spec = runs.shell("ulimit -Sn");
  spec.open_files = 100;
  EXPECT_TRUE(runs.result(spec).ending.good());
  EXPECT_EQ(runs.text(), "100\n");
}

TEST(LimitsTest, SaysWhatTheMachineAllows) {
  using testing::AnyOf;
  EXPECT_THAT(means().cpus, AnyOf("cgroup v2", "affinity"));
  EXPECT_THAT(means().memory, AnyOf("cgroup v2", "watched"));
  EXPECT_THAT(means().io, AnyOf("cgroup v2", "not held"));
  EXPECT_THAT(means().gpus, AnyOf("cgroup v2", kTold));
  EXPECT_EQ(to_string(Means{"affinity", "watched", "not held", kTold}),
            "cores: affinity, memory: watched, disks: not held, GPUs: told");
  EXPECT_EQ(to_string(Means{"", "watched", ""}), "memory: watched");
}

TEST(LimitsTest, SaysByWhatARunIsHeld) {
  const Runs runs;
  Spec spec = runs.shell("touch $HERE/ready; while [ ! -e $HERE/end ]; do sleep 0.01; done");
  spec.memory_gb = 1;
  spec.io_mbs = 100;
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(runs.comes("ready"));
  Means expected = means();
  expected.cpus = "";
  expected.gpus = "";
  EXPECT_EQ(means_of(run.folder()), expected);
  std::ofstream(runs.path("end")) << "";
  EXPECT_TRUE(Runs::exit_of(run).ending.good());
}

/// Those that the kernel's own groups hold; `what` of them.
#define SKIP_WITHOUT_GROUP(what)                                                      \
  if (means().what != "cgroup v2") {                                                  \
    GTEST_SKIP() << "no control group holds that here: it needs root and cgroup v2, " \
                    "with its controller in no hierarchy of v1";                      \
  }

TEST(LimitsOfTheKernel, EndAllOfAJobThatWantsMoreMemory) {
  SKIP_WITHOUT_GROUP(memory);
  const Runs runs;
  // What grows is a child of a child; the others would go on without it, and say that all was well.
  Spec spec = runs.shell("(" + kLarge + "sleep 1000) & wait; touch $HERE/survived; sleep 1000");
  spec.memory_gb = 0.05;
  const Exit exit = runs.result(spec);
  EXPECT_EQ(exit.cause, Cause::memory);
  EXPECT_EQ(exit.ending.signal, SIGKILL);
  EXPECT_FALSE(runs.has("survived"));
}

TEST(LimitsOfTheKernel, GiveHalfACore) {
  SKIP_WITHOUT_GROUP(cpus);
  const Runs runs;
  Spec spec = runs.shell("while :; do :; done & while :; do :; done");
  spec.cpus = 0.5;
  spec.grace = 0s;
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(runs.comes(spec.id + kStartedFile));
  const std::string group = read_record<Started>(run.folder() + kStartedFile)->cgroup;
  EXPECT_EQ(content(group + "/cpu.max"), "50000 100000\n");
  EXPECT_TRUE(comes_true([&] {
    std::istringstream text(content(group + "/cpu.stat"));
    std::string word;
    for (long value = 0; text >> word >> value;) {
      if (word == "nr_throttled") return value >= 3;
    }
    return false;
  })) << "in so many periods they wanted more";
  run.end();
  EXPECT_EQ(Runs::exit_of(run).cause, Cause::told);
}

TEST(LimitsOfTheKernel, HoldWhatIsReadAndWritten) {
  SKIP_WITHOUT_GROUP(io);
  const Runs runs;
  struct stat here {};
  ASSERT_EQ(::stat(runs.path(".").c_str(), &here), 0);
  if (major(here.st_dev) == 0) GTEST_SKIP() << "the temporary folder is on no disk (TMPDIR)";
  // Past the cache: what is written there later may be after the job.
  Spec spec = runs.shell(
      "dd if=/dev/zero of=data bs=1M count=6 oflag=direct 2>/dev/null && "
      "dd if=data of=/dev/null bs=1M iflag=direct 2>/dev/null");
  spec.io_mbs = 3;
  const Exit exit = runs.result(spec);
  EXPECT_TRUE(exit.ending.good());
  // 6 MB each way at 3 MB/s; the kernel lets a little through first. Nothing makes it shorter.
  EXPECT_GE(exit.ran, 3s);
}

}  // namespace
}  // namespace almanac::shepherd
