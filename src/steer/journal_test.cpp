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

slurm::JobNumber number(std::uint32_t job) { return slurm::JobNumber{job}; }

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
       {.lever = "preemption", .what = FateChange{number(4), slurm::Fate::suspend}}}));
  ASSERT_TRUE(journal->end({"", "", ""}));
  Mirror mirror;
  mirror.take({.at = Time{1h},
               .jobs = {{.number = number(4), .state = slurm::State::suspended}},
               .nodes = {{.name = "a", .power = slurm::Power::off}, {.name = "b"}}});
  const auto undoing = ours().undoing(mirror, "undone");
  ASSERT_EQ(undoing.size(), 2U);
  EXPECT_EQ(std::get<FateChange>(undoing[0].what).fate, slurm::Fate::resume);
  EXPECT_EQ(std::get<PowerChange>(undoing[1].what).nodes, std::vector<std::string>{"a"});
}

TEST_F(JournalTest, KnowsWhoIsHeldToFewerCoresUntilThatIsUndone) {
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
  ASSERT_EQ(known.of<CoresChange>().jobs().size(), 1U);
  EXPECT_EQ(known.of<CoresChange>().jobs().at(number(4)), cores);
  ASSERT_TRUE(journal->begin_anew(known.standing(Time{1h})));
  EXPECT_EQ(ours().of<CoresChange>().jobs(), known.of<CoresChange>().jobs())
      << "a journal that began anew says the same";
  Mirror mirror;
  mirror.take({.at = Time{1h}, .jobs = {{.number = number(4), .state = slurm::State::running}}});
  const auto undoing = known.undoing(mirror, "undone");
  ASSERT_EQ(undoing.size(), 1U);
  EXPECT_TRUE(std::get<CoresChange>(undoing[0].what).cores.empty());
  known.take(undoing[0], "");
  EXPECT_TRUE(known.of<CoresChange>().jobs().empty());
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
