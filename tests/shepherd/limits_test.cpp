// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/cpus.h"
#include "shepherd/runs.h"

namespace almanac::shepherd {
namespace {

/// Shell: a variable of 100 MB.
const std::string kLarge = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); ";

TEST(LimitsTest, TooMuchMemoryIsKilled) {
  const Runs runs;
  Spec spec = runs.shell(kLarge + "sleep 1000");
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
  shepherd::Run run = runs.start(runs.shell(kLarge + "touch $HERE/ready; sleep 1000"));
  ASSERT_TRUE(runs.comes("ready"));
  EXPECT_GT(run.usage().memory_gb, 0.09);
  ASSERT_TRUE(run.resize({}, {}, 0.05));
  EXPECT_EQ(Runs::exit_of(run).cause, Cause::memory);
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
  ASSERT_TRUE(run.resize({all[1]}, {}, {}));
  EXPECT_TRUE(bound_to(all[1]));
  ASSERT_TRUE(run.resize({}, {}, {}));
  ASSERT_TRUE(run.resize({all[0]}, {}, {}));
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
  ASSERT_TRUE(run.resize({all[1]}, {}, {}));
  EXPECT_TRUE(Runs::exit_of(run).ending.good());
}

TEST(LimitsTest, SaysWhatTheMachineAllows) {
  using testing::AnyOf;
  EXPECT_THAT(means().cpus, AnyOf("cgroup v2", "affinity"));
  EXPECT_THAT(means().memory, AnyOf("cgroup v2", "watched"));
}

}  // namespace
}  // namespace almanac::shepherd
