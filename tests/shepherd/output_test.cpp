// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "shepherd/runs.h"
#include "support/small_disk.h"

namespace almanac::shepherd {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double kKilobytesOfAGigabyte = 1024.0 * 1024;

TEST(OutputTest, GoesWhereItIsTold) {
  const Runs runs;
  Spec both = runs.shell("echo one; echo two >&2; echo three");
  EXPECT_EQ(runs.result(both).log_dropped, 0);
  EXPECT_EQ(runs.text(), "one\ntwo\nthree\n");

  Spec apart = both;
  apart.id = "1.2";
  apart.out = runs.path("there");
  apart.err = "errors";
  runs.result(apart);
  EXPECT_EQ(runs.text("there"), "one\nthree\n");
  EXPECT_EQ(runs.text("errors"), "two\n");

  Spec again = both;
  again.id = "1.3";
  again.append = true;
  runs.result(again);
  EXPECT_EQ(runs.text(), "one\ntwo\nthree\none\ntwo\nthree\n");
  again.id = "1.4";
  again.append = false;
  runs.result(again);
  EXPECT_EQ(runs.text(), "one\ntwo\nthree\n");

  Spec nowhere = both;
  nowhere.id = "1.5";
  nowhere.out = "";
  EXPECT_TRUE(runs.result(nowhere).ending.good());
}

TEST(OutputTest, BeyondTheLimitIsDroppedAndToldOnce) {
  const Runs runs;
  Spec spec = runs.shell("yes 0123456789abcde | head -c 5000000; echo >$HERE/done");
  spec.log_limit_gb = 100 / kKilobytesOfAGigabyte;
  const Exit exit = runs.result(spec);
  EXPECT_TRUE(exit.ending.good());
  EXPECT_TRUE(runs.has("done"));
  const std::string limited = runs.text();
  EXPECT_THAT(limited, StartsWith("0123456789abcde\n0123456789abcde\n"));
  EXPECT_THAT(limited, EndsWith("\nalmanac: output beyond 9.53674e-05 GB dropped\n"));
  EXPECT_EQ(limited.find("almanac"), 100 * 1024 + 1);
  EXPECT_EQ(exit.log_dropped, 5'000'000 - 100 * 1024);

  // What an earlier run wrote counts.
  spec.id = "1.2";
  spec.append = true;
  spec.argv = {"echo", "more"};
  EXPECT_EQ(runs.result(spec).log_dropped, 5);
}

TEST(OutputTest, AFullDiskIsNotTheCommandsTrouble) {
  const Runs runs;
  Spec spec = runs.shell("yes | head -c 3000000; echo >$HERE/done");
  spec.out = "/dev/full";
  const Exit exit = runs.result(spec);
  EXPECT_TRUE(exit.ending.good());
  EXPECT_TRUE(runs.has("done"));
  EXPECT_EQ(exit.log_dropped, 3'000'000);
}

TEST(OutputTest, WhatIsLostIsKnownWhileTheCommandRuns) {
  const Runs runs;
  Spec spec = runs.shell("echo lost; while [ ! -e $HERE/b ]; do sleep 0.01; done");
  spec.out = "/dev/full";
  shepherd::Run run = runs.start(spec);
  EXPECT_TRUE(comes_true([&] { return shepherd::lost_output(run.folder()) == 5; }));
  std::ofstream(runs.path("b")) << "";
  EXPECT_EQ(Runs::exit_of(run).log_dropped, 5);
}

TEST(OutputTest, WhatIsLostSoonAfterIsKnownThoughNothingMoreIsPrinted) {
  const Runs runs;
  Spec spec =
      runs.shell("echo lost; sleep 0.2; echo again; while [ ! -e $HERE/b ]; do sleep 0.01; done");
  spec.out = "/dev/full";
  shepherd::Run run = runs.start(spec);
  EXPECT_TRUE(comes_true([&] { return shepherd::lost_output(run.folder()) == 11; }));
  std::ofstream(runs.path("b")) << "";
  EXPECT_EQ(Runs::exit_of(run).log_dropped, 11);
}

TEST(OutputTest, GoesOnWhenThereIsRoomAgain) {
  const Runs runs;
  const SmallDisk disk(runs.path("disk"));
  if (!disk.there()) GTEST_SKIP() << "no right to mount";
  Spec spec = runs.shell(
      "echo first; touch $HERE/a; while [ ! -e $HERE/b ]; do sleep 0.01; done; "
      "head -c 10000 /dev/zero; touch $HERE/c; "
      "while [ ! -e $HERE/d ]; do sleep 0.01; done; echo last");
  spec.out = "disk/out";
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(runs.comes("a"));
  ASSERT_TRUE(comes_true([&] { return runs.text("disk/out") == "first\n"; }));
  disk.fill();
  std::ofstream(runs.path("b")) << "";
  ASSERT_TRUE(runs.comes("c"));
  // It is not known how far the shepherd is; a tenth of a second is long, and too short does no
  // harm.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  disk.clear();
  std::ofstream(runs.path("d")) << "";
  const Exit exit = Runs::exit_of(run);
  EXPECT_TRUE(exit.ending.good());
  EXPECT_THAT(runs.text("disk/out"), EndsWith("last\n"));
  if (exit.log_dropped > 0) {
    EXPECT_THAT(runs.text("disk/out"),
                HasSubstr("bytes of output dropped: No space left on device\nlast\n"));
  }
}

TEST(OutputTest, TheEndIsWrittenDownOnAFullDiskToo) {
  const Runs runs;
  const SmallDisk disk(runs.path("disk"));
  if (!disk.there()) GTEST_SKIP() << "no right to mount";
  const std::string folder = runs.path("disk/1.1");
  auto started = shepherd::Run::start(
      folder, runs.shell("touch $HERE/a; while [ ! -e $HERE/b ]; do sleep 0.01; done; exit 7"));
  ASSERT_TRUE(started);
  ASSERT_TRUE(runs.comes("a"));
  disk.fill();
  std::ofstream(runs.path("b")) << "";
  EXPECT_EQ(Runs::exit_of(*started).ending.status, 7);

  const auto refused = shepherd::Run::start(runs.path("disk/1.2"), runs.shell("touch $HERE/ran"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("No space left on device"));
  EXPECT_EQ(shepherd::Run::look(runs.path("disk/1.2")), shepherd::Run::Found::never_started);
  EXPECT_FALSE(runs.has("disk/1.2"));
  EXPECT_FALSE(runs.has("ran"));
}

TEST(OutputTest, ALogThatNobodyReadsIsAReasonNotToStart) {
  const Runs runs;
  ASSERT_EQ(::mkfifo(runs.path("out").c_str(), 0600), 0);
  const Exit exit = runs.result(runs.shell("echo"));
  EXPECT_EQ(exit.cause, Cause::cannot_start);
  EXPECT_EQ(exit.message, "cannot open the log out: No such device or address");
}

TEST(OutputTest, TextThatIsNotUtf8IsRefused) {
  const Runs runs;
  const auto refused = shepherd::Run::start(runs.path("1.1"), runs.shell("echo \xff"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_FALSE(runs.has("1.1"));
}

TEST(ScriptTest, RunsAsAProgramOrByTheShell) {
  const Runs runs;
  Spec spec = runs.shell("");
  spec.script = "echo \"$1 $2\"; ls /proc/self/fd | wc -l; cat; echo $ALMANAC_RUN; basename $0\n";
  spec.argv = {"a b", "c"};
  EXPECT_TRUE(runs.result(spec).ending.good());
  // 0, 1, 2 and that of ls.
  EXPECT_EQ(runs.text(), "a b c\n4\n" + runs.path("1.1") + "\nscript\n");
  spec.id = "1.2";
  spec.script = "#!/bin/cat\nhello\n";
  spec.argv = {};
  EXPECT_TRUE(runs.result(spec).ending.good());
  EXPECT_EQ(runs.text(), spec.script);
}

}  // namespace
}  // namespace almanac::shepherd
