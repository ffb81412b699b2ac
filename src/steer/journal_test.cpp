// SPDX-License-Identifier: Apache-2.0
#include "steer/journal.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "steer/claims.h"

namespace almanac::steer {
namespace {

manager::JobNumber number(std::uint32_t job) { return manager::JobNumber{job}; }

Entry change(std::uint32_t job, std::int64_t was, std::int64_t becomes) {
  return {.at = Time{1000s},
          .lever = "order",
          .what = QueueChange{{.job = number(job), .site_factor = was},
                              {.job = number(job), .site_factor = becomes}},
          .why = "\"first\"\n"};
}

Mirror with_waiting(std::uint32_t job, std::int64_t site_factor) {
  Mirror made;
  made.take({.at = Time{1h}, .jobs = {{.number = number(job), .site_factor = site_factor}}});
  return made;
}

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "almanac-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/journal.jsonl"; }
  Claims ours() const {
    Claims made;
    EXPECT_TRUE(Journal::read(
        path(), [&](const Entry& entry, const auto& failed) { made.take(entry, failed); }));
    return made;
  }
  std::int64_t undone(const Claims& ours, std::uint32_t job, std::int64_t present) const {
    const auto undoing = ours.undoing(with_waiting(job, present), "undone");
    if (undoing.empty()) return -1;
    return std::get<QueueChange>(undoing.front().what).becomes.site_factor.value_or(-1);
  }

  std::string folder_;
};

TEST_F(JournalTest, KnowsWhatEachWasBeforeTheFirstChange) {
  auto journal = Journal::open(path());
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->begin({change(1, 7, 50), change(2, 0, 40)}));
  ASSERT_TRUE(journal->end({"", "it does not wait"}));
  ASSERT_TRUE(journal->begin({change(1, 50, 60)}));
  ASSERT_TRUE(journal->end({""}));
  EXPECT_EQ(undone(ours(), 1, 60), 7);
  EXPECT_EQ(undone(ours(), 1, 61), -1) << "somebody else has changed it since";
  EXPECT_EQ(undone(ours(), 2, 40), -1) << "it was not changed";
}

TEST_F(JournalTest, CountsAsDoneWhatACrashLeftOpen) {
  auto journal = Journal::open(path());
  ASSERT_TRUE(journal->begin({change(1, 7, 50)}));
  std::ofstream(path(), std::ios::app) << R"({"n":2,"at_s":1)";
  EXPECT_EQ(undone(ours(), 1, 50), 7);
  auto again = Journal::open(path());
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->begin({change(3, 8, 20)}));
  ASSERT_TRUE(again->end({""}));
  EXPECT_EQ(undone(ours(), 1, 50), 7);
  EXPECT_EQ(undone(ours(), 3, 20), 8);
}

TEST_F(JournalTest, BeginsAnewWithWhatStillStands) {
  auto journal = Journal::open(path());
  ASSERT_TRUE(journal->begin({change(1, 7, 50), change(2, 5, 40)}));
  ASSERT_TRUE(journal->end({"", ""}));
  Claims known = ours();
  known.forget_gone(with_waiting(1, 50));
  ASSERT_TRUE(journal->begin_anew(known.standing(Time{2h})));
  ASSERT_TRUE(journal->begin({change(3, 9, 30)}));
  ASSERT_TRUE(journal->end({""}));
  EXPECT_EQ(undone(ours(), 1, 50), 7);
  EXPECT_EQ(undone(ours(), 2, 40), -1);
  EXPECT_EQ(undone(ours(), 3, 30), 9);
  EXPECT_TRUE(std::filesystem::exists(path() + ".old"));
}

TEST_F(JournalTest, RefusesAFileThatIsNone) {
  std::ofstream(path()) << "dear diary\n";
  const auto journal = Journal::open(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, Code::corrupt);
  EXPECT_EQ(journal.error().where.line, 1);
}

TEST_F(JournalTest, PowersOnWhatWasPoweredOffAndResumesWhatWasSuspended) {
  auto journal = Journal::open(path());
  ASSERT_TRUE(journal->begin(
      {{.lever = "power", .what = PowerChange{{"a", "b"}, false}},
       {.lever = "power", .what = PowerChange{{"b"}, true}},
       {.lever = "preemption", .what = FateChange{number(4), manager::Fate::suspend}}}));
  ASSERT_TRUE(journal->end({"", "", ""}));
  Mirror mirror;
  mirror.take({.at = Time{1h},
               .jobs = {{.number = number(4), .state = manager::State::suspended}},
               .nodes = {{.name = "a", .power = manager::Power::off}, {.name = "b"}}});
  const auto undoing = ours().undoing(mirror, "undone");
  ASSERT_EQ(undoing.size(), 2U);
  EXPECT_EQ(std::get<FateChange>(undoing[0].what).fate, manager::Fate::resume);
  EXPECT_EQ(std::get<PowerChange>(undoing[1].what).nodes, std::vector<std::string>{"a"});
}

TEST_F(JournalTest, KnowsWhichJobsAreHeldToFewerCoresUntilThatIsUndone) {
  auto journal = Journal::open(path());
  ASSERT_TRUE(journal);
  const std::map<std::string, double> cores{{"a", 4}, {"b", 2.5}};
  const CoresChange held{number(4), cores};
  ASSERT_TRUE(journal->begin({{.lever = "slimming", .what = CoresChange{number(4), {{"a", 8}}}},
                              {.lever = "slimming", .what = held},
                              {.lever = "slimming", .what = CoresChange{number(5), {{"a", 1}}}},
                              {.lever = "slimming", .what = CoresChange{number(5), {}}}}));
  ASSERT_TRUE(journal->end({"", "", "", ""}));
  Claims known = ours();
  const auto held_now = [](const Claims& all) {
    std::map<manager::JobNumber, Cores> made;
    for (const auto& [job, claim] : all.of<CoresChange>().jobs()) made[job] = claim.value;
    return made;
  };
  const std::map<manager::JobNumber, Cores> wanted{{number(4), cores}};
  EXPECT_EQ(held_now(known), wanted);
  ASSERT_TRUE(journal->begin_anew(known.standing(Time{1h})));
  EXPECT_EQ(held_now(ours()), wanted) << "a journal that began anew says the same";
  Mirror mirror;
  mirror.take({.at = Time{1h}, .jobs = {{.number = number(4), .state = manager::State::running}}});
  const auto undoing = known.undoing(mirror, "undone");
  ASSERT_EQ(undoing.size(), 1U);
  EXPECT_TRUE(std::get<CoresChange>(undoing[0].what).cores.empty());
  known.take(undoing[0], "");
  EXPECT_TRUE(known.of<CoresChange>().jobs().empty());
}

/// A job of the number 4 that we have suspended, and one of 5 that we hold till its time.
Entry suspended(const Meant& meant) {
  return {.lever = "preemption", .what = FateChange{number(4), manager::Fate::suspend, meant}};
}
Entry held(const Meant& meant) {
  return {
      .lever = "placement",
      .what = QueueChange{{.job = number(5), .begins = Time{9h}, .comment = ""},
                          {.job = number(5), .begins = Time{2h}, .comment = "placed by almanac"},
                          meant}};
}
Mirror with_both(const Meant& meant) {
  Mirror made;
  made.take({.at = Time{1h},
             .jobs = {{.number = number(4),
                       .state = manager::State::suspended,
                       .restarts = meant.restarts,
                       .submit = meant.submit},
                      {.number = number(5),
                       .comment = "placed by almanac until 7200",
                       .restarts = meant.restarts,
                       .submit = meant.submit,
                       .eligible = Time{2h}}}});
  return made;
}

TEST_F(JournalTest, TakesNoJobForAnotherOfItsNumber) {
  auto journal = Journal::open(path());
  ASSERT_TRUE(journal);
  const Meant meant{.submit = Time{10min}, .restarts = 1};
  ASSERT_TRUE(journal->begin({suspended(meant), held(meant)}));
  ASSERT_TRUE(journal->end({"", ""}));
  const auto may_begin = [&](const Mirror& mirror) {
    return ours().of<QueueChange>().may_begin(*mirror.find(number(5)));
  };
  for (const Meant& same : {meant, Meant{.submit = Time{30min}, .restarts = 2}}) {
    const Mirror mirror = with_both(same);
    EXPECT_EQ(ours().undoing(mirror, "undone").size(), 2U);
    EXPECT_EQ(may_begin(mirror), Time{9h});
  }
  // Slurm has lost its state, and gives numbers from the first one on.
  const Mirror others = with_both({.submit = Time{30min}, .restarts = 1});
  EXPECT_EQ(may_begin(others), Time{});
  const auto undoing = ours().undoing(others, "undone");
  ASSERT_EQ(undoing.size(), 1U) << "an administrator has suspended it";
  EXPECT_EQ(std::get<QueueChange>(undoing.front().what).becomes.begins, Time{})
      << "the plugin holds it, and it may begin at once";
  Claims forgets = ours();
  forgets.forget_gone(others);
  EXPECT_TRUE(forgets.standing(Time{1h}).empty());
  // What is done to one of them is not mixed with what was done to the other.
  Claims both = ours();
  both.take({.lever = "order",
             .what = QueueChange{{.job = number(5), .site_factor = 0},
                                 {.job = number(5), .site_factor = 7},
                                 {.submit = Time{30min}}}},
            "");
  EXPECT_EQ(both.of<QueueChange>().may_begin(*others.find(number(5))), Time{});
}

TEST_F(JournalTest, ReadsLinesOfBeforeThatTellOfNoSubmission) {
  std::ofstream(path())
      << R"({"n":1,"at_s":1,"lever":"preemption","job":4,"fate":"suspend","why":"x"})" << '\n';
  EXPECT_EQ(ours().undoing(with_both({.submit = Time{10min}}), "undone").size(), 2U);
}

TEST_F(JournalTest, RefusesNumbersAndTimesThatNoEntryHas) {
  for (const char* const begin :
       {R"({"n":9223372036854775807,"at_s":1,)", R"({"n":92233720368547758070,"at_s":1,)",
        R"({"n":1.5,"at_s":1,)", R"({"n":0,"at_s":1,)", R"({"n":1,"at_s":1e300,)"}) {
    std::ofstream(path()) << begin << R"("lever":"preemption","job":4,"fate":"suspend","why":"x"})"
                          << '\n';
    const auto journal = Journal::open(path());
    ASSERT_FALSE(journal) << begin;
    EXPECT_EQ(journal.error().code, Code::corrupt);
  }
}

TEST_F(JournalTest, RefusesAFateThatItDoesNotKnow) {
  std::ofstream(path())
      << R"({"n":1,"at_s":1,"lever":"preemption","job":4,"fate":"pardon","why":"x"})" << '\n';
  const auto journal = Journal::open(path());
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, Code::corrupt);
}

}  // namespace
}  // namespace almanac::steer
