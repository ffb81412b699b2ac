// SPDX-License-Identifier: Apache-2.0

// Runs on boxes: what is known to run, and where.
#include "boxes/boxes.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::boxes {
namespace {

namespace fs = std::filesystem;
using shepherd::Outcome;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = Outcome::Kind;

TEST_F(BoxesTest, ABoxRunsWhatTheHeadWantsAndSendsItsOutput) {
  join("a");
  RunOnBoxes run = start({{"a", "echo from a box; exit 3"}});
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->ending.status, 3);
  EXPECT_EQ(file("1.1.out"), "from a box\n");
  ASSERT_TRUE(step("a"));
  EXPECT_EQ(boxes_["a"]->size(), 0U);
  EXPECT_TRUE(fs::is_empty(folder_ / "a/runs"));
  EXPECT_TRUE(fs::is_empty(folder_ / "a/output"));
}

TEST_F(BoxesTest, LostRequestsAndAnswersStartNothingTwiceAndRepeatNoOutput) {
  join("a");
  loses_request_ = [](int number) { return number % 5 == 1; };
  loses_answer_ = [](int number) { return number % 5 == 2 || number % 5 == 3; };
  RunOnBoxes run = start({{"a", "echo begun >> $HERE/begun; seq 1000"}});
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(file("begun"), "begun\n");
  std::ostringstream expected;
  for (int number = 1; number <= 1000; ++number) expected << number << "\n";
  EXPECT_EQ(file("1.1.out"), expected.str());
}

TEST_F(BoxesTest, ARestartedBoxAndARestartedHeadGoOnWithWhatRuns) {
  join("a");
  RunOnBoxes run =
      start({{"a", "echo begun >> $HERE/begun; until test -e $HERE/go; do sleep 0.05; done"}});
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(comes_true([&] { return file("begun") == "begun\n"; }));
  join("a");
  head_.reset();
  begin_head();
  RunOnBoxes adopted = RunOnBoxes::adopt(state() + "/runs/1.1").value();
  ASSERT_TRUE(step("a"));
  join("a");
  ASSERT_TRUE(step("a"));
  EXPECT_EQ(adopted.exited().kind, Kind::lives);
  std::ofstream(folder_ / "go");
  const Outcome outcome = end_of(adopted);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->ending.status, 0);
  EXPECT_EQ(file("begun"), "begun\n");
}

TEST_F(BoxesTest, AnEndWhileTheHeadIsAwayIsReportedLater) {
  join("a");
  RunOnBoxes run = start({{"a", "echo done; exit 5"}});
  ASSERT_TRUE(step("a"));
  loses_request_ = [](int) { return true; };
  for (int tries = 0; tries < 20; ++tries) {
    EXPECT_FALSE(step("a"));
    pause();
  }
  EXPECT_EQ(run.exited().kind, Kind::lives);
  join("a");  // and the box is restarted meanwhile
  loses_request_ = {};
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->ending.status, 5);
  EXPECT_EQ(file("1.1.out"), "done\n");
}

TEST_F(BoxesTest, AGangStartsWhenEachBoxHasItsTask) {
  join("a");
  join("b");
  RunOnBoxes run = start({{"a", "echo a >> $HERE/begun"}, {"b", "echo b >> $HERE/begun"}});
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(step("a"));
  join("a");  // what waits is on its disk
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(step("a"));
  EXPECT_EQ(file("begun"), "");
  EXPECT_EQ(run.exited().kind, Kind::lives);
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->ending.status, 0);
  EXPECT_THAT(file("begun"), testing::AnyOf("a\nb\n", "b\na\n"));
}

TEST_F(BoxesTest, AGangEndsWhenOneOfItsTasksFails) {
  join("a");
  join("b");
  RunOnBoxes run = start({{"a", "sleep 600"}, {"b", "exit 7"}});
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->ending.status, 7);
}

TEST_F(BoxesTest, AnOrderReachesTheBox) {
  join("a");
  RunOnBoxes run = start({{"a", "echo begun >> $HERE/begun; sleep 600"}});
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(comes_true([&] { return file("begun") == "begun\n"; }));
  run.end();
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->cause, shepherd::Cause::told);
}

TEST_F(BoxesTest, WhatASilentBoxWasNeverSentReturnsToTheQueue) {
  join("a");
  ASSERT_TRUE(step("a"));
  EXPECT_THAT(head_->without_new_runs(), testing::IsEmpty());
  RunOnBoxes sent = start({{"a", "sleep 600"}}, "1.1");
  ASSERT_TRUE(step("a"));
  RunOnBoxes made = start({{"a", "echo never"}}, "2.1");
  since_boot_ += kSilence;
  EXPECT_THAT(head_->without_new_runs(), testing::ElementsAre("a"));
  EXPECT_EQ(made.exited().kind, Kind::never_started);
  EXPECT_EQ(sent.exited().kind, Kind::lives) << "it may run";
  ASSERT_TRUE(step("a"));
  EXPECT_THAT(head_->without_new_runs(), testing::IsEmpty());
  sent.end_now();
  EXPECT_EQ(end_of(sent).kind, Kind::ended);
  EXPECT_FALSE(fs::exists(folder_ / "2.1.out") && !file("2.1.out").empty());
}

TEST_F(BoxesTest, ABoxThatCannotStartARunGetsNoOthersForAMinute) {
  join("a");
  ASSERT_TRUE(step("a"));
  const fs::path output = folder_ / "a/output";
  fs::remove_all(output);
  std::ofstream(output.string()) << "no folder can be made here\n";
  RunOnBoxes run = start({{"a", "echo never"}});
  EXPECT_EQ(end_of(run).kind, Kind::never_started);
  EXPECT_THAT(head_->without_new_runs(), testing::ElementsAre("a"));
  EXPECT_NE(said_.find("box a could not start a run, and gets no others for 60 s: "),
            std::string::npos);
  since_boot_ += 60s;
  ASSERT_TRUE(step("a"));
  EXPECT_THAT(head_->without_new_runs(), testing::IsEmpty());
}

TEST_F(BoxesTest, ABoxThatWasDeclaredGoneEndsWhatItHasBeforeItRunsAnythingElse) {
  join("a");
  RunOnBoxes run = start({{"a", "trap '' TERM; echo $$ > $HERE/number; sleep 600"}});
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(comes_true([&] { return !file("number").empty(); }));
  const auto refused = head_->declare_gone("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "box a reports");
  since_boot_ += kSilence;
  ASSERT_TRUE(head_->declare_gone("a"));
  const Outcome outcome = run.exited();
  EXPECT_EQ(outcome.kind, Kind::lost);
  EXPECT_THAT(outcome.why, HasSubstr("declared the box gone"));
  EXPECT_THAT(head_->gone(), testing::ElementsAre("a"));
  RunOnBoxes next = start({{"a", "echo next"}}, "1.2");
  ASSERT_TRUE(step("a"));
  EXPECT_EQ(next.exited().kind, Kind::lives);
  EXPECT_EQ(end_of(next).kind, Kind::ended);
  const std::string number = file("number");
  EXPECT_FALSE(fs::exists("/proc/" + number.substr(0, number.find('\n'))));
  EXPECT_THAT(head_->gone(), testing::IsEmpty()) << "it has joined again";
  EXPECT_EQ(head_->declare_gone("z").error().code, Code::not_found);
}

TEST_F(BoxesTest, TwoMachinesCannotJoinByOneName) {
  join("a");
  ASSERT_TRUE(step("a"));
  join("a", "elsewhere");
  const auto refused = step("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message, StartsWith("another machine has joined as a"));
  head_.reset();
  begin_head();  // which knows it still
  EXPECT_FALSE(step("a"));
}

TEST_F(BoxesTest, TwoProcessesCannotUseOneStateFolder) {
  join("a");
  const auto second = Box::open(
      {.state = folder_ / "a", .name = "b", .hardware = "", .ask = {}, .wall = wall_clock}, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
}

TEST_F(BoxesTest, TimesOfABoxWithAnotherClockAreThoseOfTheHead) {
  head_is_behind_ = 26h;
  join("a");
  RunOnBoxes run = start({{"a", "true"}});
  const Time before = wall_clock() - head_is_behind_;
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_GE(outcome.exit->start, before - 5s);
  EXPECT_LE(outcome.exit->end, wall_clock() - head_is_behind_ + 5s);
}

TEST_F(BoxesTest, ABoxSaysNothingAboutRunsOfAnother) {
  join("a");
  RunOnBoxes run = start({{"a", "true"}});
  const std::string key =
      to_string(RunKey{"1.1", shepherd::read_remote(state() + "/runs/1.1").value().nonce});
  ASSERT_EQ(head_->append("b", key, "out", 0, "not of a\n").value(), 9) << "b need not repeat it";
  EXPECT_EQ(file("1.1.out"), "");
  const Report report{.id = "b0b",
                      .now = wall_clock(),
                      .runs = {{.key = key, .outcome = Outcome{.kind = Kind::lost}}}};
  const Orders orders = read_orders(head_->take("b", to_json(report)).value()).value();
  EXPECT_THAT(orders.runs, testing::IsEmpty()) << "nor does it learn of them";
  EXPECT_EQ(run.exited().kind, Kind::lives);
  EXPECT_EQ(end_of(run).kind, Kind::ended);
}

TEST_F(BoxesTest, AnOrderOnlyGetsStronger) {
  join("a");
  RunOnBoxes run = start({{"a", "true"}});
  const std::string folder = state() + "/runs/1.1";
  for (const auto& [word, stands] :
       {std::pair{"room", "room"}, {"end", "end"}, {"kill", "kill"}, {"end", "kill"}}) {
    ASSERT_TRUE(shepherd::order_remote(folder, word));
    EXPECT_EQ(content_of(folder + shepherd::kOrderFile), stands);
  }
}

TEST_F(BoxesTest, ABoxThatDoesNotFitInIsRefusedAndNotWritten) {
  int joined = 0;
  head_->on_join({.fits = [](const auto& all) -> Result<void> {
                    if (all.size() < 2) return {};
                    return fail(Code::invalid, "box b: one too many");
                  },
                  .joined = [&] { ++joined; }});
  join("a");
  join("b");
  EXPECT_TRUE(step("a"));
  const auto refused = step("b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(refused.error().message, "box b: one too many");
  EXPECT_EQ(joined, 1);
  begin_head();
  EXPECT_EQ(head_->boxes().size(), 1U);
}

TEST_F(BoxesTest, ABoxKeepsItsHardwareUntilItIsDeclaredGone) {
  int joined = 0;
  head_->on_join(
      {.fits = [](const auto&) -> Result<void> { return {}; }, .joined = [&] { ++joined; }});
  join("a", "", "no GPUs, by mistake");
  ASSERT_TRUE(step("a"));
  join("a", "", "two GPUs");
  const auto refused = step("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "box a has other hardware than when it joined");
  EXPECT_THAT(refused.error().hint, HasSubstr("almanac nodes --gone a"));
  since_boot_ += kSilence;
  ASSERT_TRUE(head_->declare_gone("a"));
  ASSERT_TRUE(step("a"));  // ends what it has
  ASSERT_TRUE(step("a"));
  EXPECT_EQ(head_->boxes().front().hardware, "two GPUs");
  EXPECT_EQ(joined, 2) << "the service begins again with the other hardware";
}

TEST_F(BoxesTest, ADamagedBoxIsReplacedByItsNextReport) {
  join("a");
  join("b");
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(step("b"));
  const std::string id = head_->boxes()[0].id;
  ASSERT_TRUE(shepherd::write_file(state() + "/boxes.json",
                                   R"([{"name": "a", "id": ")" + id + R"(", "hardware": 7,)" +
                                       R"("cluster": "nodes of a"},)" +
                                       R"({"name": "b", "hardware": "hardware of b"}])"));
  begin_head();
  ASSERT_EQ(head_->boxes().size(), 2U) << "the others keep their places";
  ASSERT_TRUE(head_->keep_clusters({{"b", "nodes of b"}}));
  begin_head();
  ASSERT_TRUE(head_->keep_clusters({{"b", "nodes of b"}}));
  EXPECT_EQ(head_->boxes()[0].cluster, "nodes of a");
  EXPECT_EQ(head_->boxes()[1].cluster, "nodes of b");
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(step("b"));
  EXPECT_EQ(head_->boxes()[0].hardware, "hardware of a");
  begin_head();
  EXPECT_EQ(head_->boxes()[0].hardware, "hardware of a");
}

TEST_F(BoxesTest, AListOfBoxesWithoutNamesIsNotRead) {
  for (const char* const text : {"damaged", "{}", R"([{"id": "ab"}])"}) {
    ASSERT_TRUE(shepherd::write_file(state() + "/boxes.json", text));
    const auto opened = Head::open(state(), {.since_boot = [] { return 1h; }, .wall = wall_clock},
                                   [](const std::string&) {});
    ASSERT_FALSE(opened) << text;
    EXPECT_EQ(opened.error().code, Code::corrupt);
    EXPECT_THAT(opened.error().hint, HasSubstr("restore the file from a backup"));
  }
}

TEST_F(BoxesTest, AReportThatMakesNoSenseIsRefused) {
  const auto refusal = [&](const Report& report) {
    const auto taken = head_->take("a", to_json(report));
    return taken ? "" : taken.error().message;
  };
  EXPECT_THAT(refusal({.id = "", .now = wall_clock()}), HasSubstr("no id"));
  EXPECT_THAT(refusal({.id = "../../x", .now = wall_clock()}), HasSubstr("no id"));
  EXPECT_THAT(refusal({.id = "a", .now = Time::max()}), HasSubstr("clock"));
  const Outcome never{.kind = Kind::ended, .exit = shepherd::Exit{.end = Time::min()}};
  EXPECT_THAT(
      refusal({.id = "a", .now = wall_clock(), .runs = {{.key = "1.1-ab", .outcome = never}}}),
      HasSubstr("no sensible time"));
  EXPECT_FALSE(head_->take("a", std::string(1 << 20, '[')));
  EXPECT_THAT(head_->boxes(), testing::IsEmpty());
}

TEST_F(BoxesTest, NoRunEndsInTheFuture) {
  join("a");
  ASSERT_TRUE(step("a"));
  RunOnBoxes run = start({{"a", "true"}});
  Report report{.id = head_->boxes().front().id, .now = wall_clock(), .hardware = "hardware of a"};
  ASSERT_TRUE(head_->take("a", to_json(report)));
  const shepherd::Exit later{.start = report.now + 1h, .end = report.now + 2h};
  report.runs = {
      {.key = to_string(RunKey{"1.1", shepherd::read_remote(state() + "/runs/1.1").value().nonce}),
       .outcome = Outcome{.kind = Kind::ended, .exit = later}}};
  ASSERT_TRUE(head_->take("a", to_json(report)));
  const Outcome outcome = run.exited();
  ASSERT_EQ(outcome.kind, Kind::ended);
  EXPECT_LE(outcome.exit->end, wall_clock());
  EXPECT_LE(outcome.exit->start, outcome.exit->end);
}

TEST_F(BoxesTest, ABoxStartsNoRunUnderTheNameOfAnother) {
  join("a");
  std::vector<shepherd::Part> parts(1);
  parts[0].box = "a";
  parts[0].spec.id = "../1.1";
  parts[0].spec.argv = {"sh", "-c", "echo begun >> " + (folder_ / "begun")};
  parts[0].spec.directory = folder_ / ".";
  RunOnBoxes run = RunOnBoxes::start_on_boxes(state() + "/runs/1.1", parts).value();
  const Outcome outcome = end_of(run);
  ASSERT_EQ(outcome.kind, Kind::ended) << outcome.why;
  EXPECT_EQ(outcome.exit->cause, shepherd::Cause::cannot_start);
  EXPECT_THAT(outcome.exit->message, StartsWith("the head sent run ../1.1 as 1.1-"));
  EXPECT_EQ(file("begun"), "");
}

TEST_F(BoxesTest, ARunThatTheHeadDoesNotKnowIsEnded) {
  join("a");
  RunOnBoxes run = start({{"a", "echo begun >> $HERE/begun; sleep 600"}});
  ASSERT_TRUE(step("a"));
  ASSERT_TRUE(comes_true([&] { return file("begun") == "begun\n"; }));
  fs::remove_all(state() + "/runs/1.1");
  ASSERT_TRUE(comes_true([&] { return step("a") && boxes_["a"]->size() == 0; })) << said_;
}

TEST_F(BoxesTest, ALaterRunOfTheSameNameIsAnotherOne) {
  join("a");
  RunOnBoxes first = start({{"a", "exit 1"}});
  EXPECT_EQ(end_of(first).exit->ending.status, 1);
  fs::remove_all(state() + "/runs/1.1");
  RunOnBoxes second = start({{"a", "exit 2"}});
  EXPECT_EQ(end_of(second).exit->ending.status, 2);
}

TEST_F(BoxesTest, AKeyIsASafeNameOfAFile) {
  EXPECT_TRUE(parse_key("17.1-0badcafe"));
  for (const char* const bad : {"", "17.1", "../x-ab", "17.1-../x", "17-ab", "17.1-", ".17-ab"}) {
    EXPECT_FALSE(parse_key(bad)) << bad;
  }
  EXPECT_TRUE(is_box_name("gpu-box_2.lab"));
  for (const char* const bad : {"", ".", "..", "a/b", "-a", "a b"}) {
    EXPECT_FALSE(is_box_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace almanac::boxes
