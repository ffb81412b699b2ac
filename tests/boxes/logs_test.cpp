// SPDX-License-Identifier: Apache-2.0

// Output of runs on boxes, and the logs on the head to which it goes.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "boxes/boxes.h"
#include "boxes/writers.h"
#include "support/small_disk.h"

namespace almanac::boxes {
namespace {

namespace fs = std::filesystem;
using shepherd::Outcome;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = Outcome::Kind;

TEST_F(BoxesTest, OutputThatTheHeadDoesNotTakeKeepsNothingElseWaiting) {
  join("a");
  RunOnBoxes stuck = start({{"a", "echo stuck"}}, "1.1");
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(shepherd::write_file(state() + "/runs/1.1/spec.0.json", "damaged"));
  RunOnBoxes other = start({{"a", "echo other"}}, "2.1");
  EXPECT_TRUE(comes_true([&] {
    static_cast<void>(step("a"));
    return other.exited().kind == Kind::ended;
  })) << said_;
  EXPECT_EQ(file("2.1.out"), "other\n");
  EXPECT_EQ(stuck.exited().kind, Kind::lives) << "its output is not there yet";
}

TEST_F(BoxesTest, APieceWithoutARecordIsNotWrittenTwice) {
  join("a");
  RunOnBoxes run =
      start({{"a", "echo once; until test -e $HERE/go; do sleep 0.05; done; echo done"}});
  const std::string record = state() + "/runs/1.1/taken.0.out";
  fs::create_directory(record + ".new");  // the record cannot be written
  std::vector<Error> told;
  EXPECT_TRUE(comes_true([&] {
    if (const auto stepped = step("a"); !stepped) told.push_back(stepped.error());
    return told.size() == 3;
  }));
  for (const Error& each : told) EXPECT_THAT(each.message, HasSubstr(record));
  EXPECT_EQ(file("1.1.out"), "once\n");
  fs::remove(record + ".new");
  std::ofstream(folder_ / "go");
  EXPECT_EQ(end_of(run).kind, Kind::ended);
  EXPECT_EQ(file("1.1.out"), "once\ndone\n");
}

TEST_F(BoxesTest, AJobWhoseLogCannotBeOpenedOnTheHeadFails) {
  join("a");
  log_ = "no/such/folder.out";
  RunOnBoxes run = start({{"a", "echo begun >> $HERE/begun"}});
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->cause, shepherd::Cause::cannot_start);
  EXPECT_EQ(outcome.exit->ending.status, 127);
  EXPECT_THAT(outcome.exit->message, testing::AllOf(StartsWith("cannot open the log "),
                                                    HasSubstr("create its folder first")));
  EXPECT_EQ(file("begun"), "");
}

TEST_F(BoxesTest, AJobWhoseLogIsAFifoFailsBeforeItStarts) {
  join("a");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  log_ = "pipe";
  RunOnBoxes run = start({{"a", "echo begun >> $HERE/begun"}});
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_THAT(outcome.exit->message, HasSubstr("it is a FIFO"));
  EXPECT_EQ(file("begun"), "");
}

TEST_F(BoxesTest, ALogSaysWhatItLacksOnceItsDiskHasRoomAgain) {
  const SmallDisk disk(folder_ / "disk");
  if (!disk.there()) GTEST_SKIP() << "no right to mount";
  join("a");
  log_ = "disk/out";
  RunOnBoxes run =
      start({{"a",
              "echo first; until test -e $HERE/full; do sleep 0.01; done; yes | head -c 10000; "
              "until test -e $HERE/free; do sleep 0.01; done; echo last"}});
  const auto comes = [&](const std::function<bool()>& fact) {
    return comes_true([&] {
      static_cast<void>(step("a"));
      return fact();
    });
  };
  ASSERT_TRUE(comes([&] { return file("disk/out") == "first\n"; }));
  disk.fill();
  std::ofstream(folder_ / "full");
  ASSERT_TRUE(comes([&] { return content_of(state() + "/runs/1.1/taken.0.out") == "10006"; }));
  disk.clear();
  std::ofstream(folder_ / "free");
  EXPECT_EQ(end_of(run).kind, Kind::ended);
  EXPECT_THAT(file("disk/out"), StartsWith("first\n"));
  EXPECT_THAT(file("disk/out"),
              testing::EndsWith("bytes of output dropped: No space left on device\nlast\n"));
  EXPECT_THAT(said_, HasSubstr("bytes of output dropped: cannot write "));
  EXPECT_THAT(said_, HasSubstr("disk/out: No space left on device"));
}

TEST_F(BoxesTest, ALogSaysWhatItLacksThoughNothingMoreIsPrinted) {
  const SmallDisk disk(folder_ / "disk");
  if (!disk.there()) GTEST_SKIP() << "no right to mount";
  join("a");
  log_ = "disk/out";
  RunOnBoxes run = start({{"a",
                           "echo first; until test -e $HERE/full; do sleep 0.01; done; "
                           "yes | head -c 10000; until test -e $HERE/free; do sleep 0.01; done"}});
  const auto comes = [&](const std::function<bool()>& fact) {
    return comes_true([&] {
      static_cast<void>(step("a"));
      return fact();
    });
  };
  ASSERT_TRUE(comes([&] { return file("disk/out") == "first\n"; }));
  disk.fill();
  std::ofstream(folder_ / "full");
  ASSERT_TRUE(comes([&] { return content_of(state() + "/runs/1.1/taken.0.out") == "10006"; }));
  // The last page of the file had room for some of it.
  const std::int64_t lost = shepherd::lost_output(state() + "/runs/1.1");
  EXPECT_GT(lost, 0);
  disk.clear();
  EXPECT_TRUE(comes([&] {
    return file("disk/out")
        .ends_with("\nalmanac: " + std::to_string(lost) +
                   " bytes of output dropped: No space left on device\n");
  })) << "the command still runs and prints nothing";
  std::ofstream(folder_ / "free");
  EXPECT_EQ(end_of(run).exit->log_dropped, lost);
}

TEST_F(BoxesTest, ALogIsEmptiedOncePerRunAndNotByEachTask) {
  join("a");
  join("b");
  std::ofstream(folder_ / "1.1.out") << "of an earlier job\n";
  RunOnBoxes run = start({{"a", "echo a"}, {"b", "echo b"}});
  ASSERT_EQ(end_of(run).kind, Kind::ended);
  EXPECT_THAT(file("1.1.out"), testing::AnyOf("a\nb\n", "b\na\n"));
}

TEST_F(BoxesTest, WorkThatHangsKeepsNoOtherWorkWaiting) {
  // Shared, because work may go on after the test.
  const auto passes = std::make_shared<std::promise<void>>();
  const auto is_done = std::make_shared<std::atomic<bool>>(false);
  const auto hang = [until = passes->get_future().share()] { until.wait(); };
  const auto note = [is_done] { *is_done = true; };
  EXPECT_FALSE(write_apart("hangs", 1000, hang));
  EXPECT_FALSE(write_apart("hangs", 1000, note)) << "not twice at once";
  EXPECT_FALSE(is_done->load());
  write_apart("other", 1000, note);
  EXPECT_TRUE(comes_true([&] { return is_done->load(); }));
  passes->set_value();
  EXPECT_TRUE(comes_true([&] { return write_apart("hangs", 1000, [] {}); }));
}

TEST_F(BoxesTest, ABoxReadsNoOutputThroughALink) {
  join("a");
  RunOnBoxes run = start({{"a", "until test -e $HERE/go; do sleep 0.05; done"}});
  ASSERT_TRUE(step("a"));
  const std::string nonce = shepherd::read_remote(state() + "/runs/1.1").value().nonce;
  const std::string output = folder_ / ("a/output/" + to_string(RunKey{"1.1", nonce}) + "/out");
  ASSERT_TRUE(fs::remove(output));
  std::ofstream(folder_ / "secret") << "secret\n";
  fs::create_symlink(folder_ / "secret", output);
  std::ofstream(folder_ / "go");
  EXPECT_EQ(end_of(run).kind, Kind::ended);
  EXPECT_EQ(file("1.1.out"), "");
}

}  // namespace
}  // namespace almanac::boxes
