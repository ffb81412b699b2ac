// SPDX-License-Identifier: Apache-2.0

/// \file
/// How recipes take files: all that fit, none, and those that are malformed.
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reproduce/generated.h"
#include "reproduce/recipe.h"
#include "support/long_run.h"
#include "support/temporary_folder.h"

namespace almanac::reproduce {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kCase =
    R"({"total_gpus": 3, "allocation_rule": [2, 1], "jobs": [)"
    R"({"submit": 0, "remaining_s": 10, "max_gpus": 4, "speedup": [1, 2, 3, 4]},)"
    R"({"submit": 1, "remaining_s": 100, "max_gpus": 1, "speedup": [1]}]})";

class Afs : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ / "golden/elastic/afs"); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / "golden/elastic/afs/" + name) << text;
  }
  Outcome make() { return reproduce(*recipes().find("afs"), folder_ / ""); }

  TemporaryFolder folder_;
};

TEST_F(Afs, TakesEveryFileOfTheFolder) {
  write("cases.json", fmt::format("[{},{}]", kCase, kCase));
  write("more.jsonl", fmt::format("{}\n{}\n{}\n", kCase, kCase, kCase));
  write("README.md", "no data");
  const Outcome outcome = make();
  ASSERT_THAT(outcome.rows, SizeIs(2));
  EXPECT_EQ(outcome.rows[0].published, 2);
  EXPECT_EQ(outcome.rows[0].ours, 2);
  EXPECT_EQ(outcome.rows[1].published, 3);
  EXPECT_THAT(outcome.malformed, SizeIs(0));
}

TEST_F(Afs, TakesAFileOfEachFolder) {
  for (const char* name : {"b", "a"}) {
    std::filesystem::create_directories(folder_ / fmt::format("golden/slurm/{}", name));
    std::ofstream(folder_ / fmt::format("golden/slurm/{}/scenario.json", name)) << "{}";
  }
  std::filesystem::create_directories(folder_ / "golden/slurm/empty");
  constexpr const char* kPattern = "golden/slurm/*/scenario.json";
  Bench bench(folder_ / "", {{kPattern, "us"}}, Kind::measured);
  std::vector<std::string> names;
  bench.each(kPattern, [&](const File& file) { names.push_back(file.name); });
  EXPECT_THAT(names,
              testing::ElementsAre("golden/slurm/a/scenario.json", "golden/slurm/b/scenario.json"));
}

TEST_F(Afs, TellsHowFarItIs) {
  write("a.json", "[{]");
  write("b.json", fmt::format("[{}]", kCase));
  std::atomic<double> done = 0;
  std::vector<double> seen;
  Bench bench(folder_ / "", recipes().find("afs")->needs, Kind::second, &done);
  bench.each("golden/elastic/afs/*.json", [&](const File&) { seen.push_back(done); });
  EXPECT_THAT(seen, testing::ElementsAre(0, 0.5));
  EXPECT_EQ(done, 1);
}

TEST_F(Afs, RowsSayWhatIsPublishedAndFindingsAreNoRows) {
  write("a.json", fmt::format("[{}]", kCase));
  Bench bench(folder_ / "", {{"golden/elastic/afs/*.json", "us", Kind::closed_form}}, Kind::figure);
  bench.add("outside", 1, 1, "");
  bench.each("golden/elastic/afs/*.json", [&](const File&) {
    bench.add("inside", 1, 1, "");
    bench.add({.what = "of its own", .published = 1, .ours = 1, .kind = Kind::measured});
    bench.add("ours alone", std::nan(""), 1, "");
  });
  const Outcome outcome = std::move(bench).outcome();
  ASSERT_THAT(outcome.rows, SizeIs(3));
  EXPECT_EQ(outcome.rows[0].kind, Kind::figure);
  EXPECT_EQ(outcome.rows[1].kind, Kind::closed_form);
  EXPECT_EQ(outcome.rows[2].kind, Kind::measured);
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(outcome.findings[0].what, "ours alone");
}

TEST_F(Afs, SaysWhichFileIsAbsent) {
  const Outcome outcome = make();
  EXPECT_THAT(outcome.rows, SizeIs(0));
  ASSERT_THAT(outcome.absent, SizeIs(1));
  EXPECT_EQ(outcome.absent[0].files, "golden/elastic/afs/*.json");
}

TEST_F(Afs, GoesOnBehindAMalformedFile) {
  write("a.json", "[{]");
  write("b.json", fmt::format("[{}]", kCase));
  write("c.json", R"([{"total_gpus": 3, "allocation_rule": [], "jobs": [{"submit": "x"}]}])");
  write("d.jsonl", fmt::format("{}\n{{}}\n", kCase));
  write("e.json", R"([{"total_gpus": -3, "allocation_rule": [], "jobs": []}])");
  const Outcome outcome = make();
  ASSERT_THAT(outcome.rows, SizeIs(1));
  EXPECT_THAT(outcome.rows[0].what, HasSubstr("b.json"));
  ASSERT_THAT(outcome.malformed, SizeIs(4));
  EXPECT_THAT(to_string(outcome.malformed[1]), HasSubstr("case 1: "));
  EXPECT_THAT(to_string(outcome.malformed[2]), HasSubstr("d.jsonl:2: "));
}

TEST(Recipes, AllSayWhatTheyAreAndNeed) {
  for (const Recipe& recipe : recipes().all()) {
    EXPECT_FALSE(recipe.summary.empty()) << recipe.name;
    EXPECT_FALSE(recipe.paper.empty()) << recipe.name;
    for (const Need& need : recipe.needs) EXPECT_FALSE(need.from.empty()) << need.files;
  }
}

// None aborts, and all say what they lack. Those that generate their jobs play a sample of them:
// whole months are played in a long run.
TEST(Recipes, MakeNothingOfAnEmptyFolder) {
  const TemporaryFolder folder;
  std::optional<Samples> samples;
  if (!is_long_run()) samples.emplace();
  for (const Recipe& recipe : recipes().all()) {
    const Outcome outcome = reproduce(recipe, folder / "");
    EXPECT_FALSE(outcome.absent.empty() && outcome.rows.empty() && outcome.findings.empty())
        << recipe.name;
    EXPECT_THAT(outcome.malformed, SizeIs(0)) << recipe.name;
  }
}

// Every file that a recipe wants is there, and is rubbish.
TEST(Recipes, AreNotKilledByRubbish) {
  const TemporaryFolder folder;
  const Samples samples;
  for (const Recipe& recipe : recipes().all()) {
    for (const Need& need : recipe.needs) {
      std::string name = need.files;
      if (const auto star = name.find('*'); star != std::string::npos) name.replace(star, 1, "x_y");
      const std::filesystem::path path = folder / name;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << "a,b\n1,\"2\n";
    }
    const Outcome outcome = reproduce(recipe, folder / "");
    if (!recipe.needs.empty()) {
      EXPECT_FALSE(outcome.malformed.empty()) << recipe.name;
    }
  }
}

TEST(Samples, AreTheFirstJobsAtTheSameRate) {
  const trace::Workload month = generated("venus");
  {
    const Samples samples;
    const trace::Workload sample = generated("venus");
    EXPECT_LT(sample.span.jobs, month.span.jobs / 10);
    EXPECT_DOUBLE_EQ(static_cast<double>(sample.span.jobs) / sample.span.days,
                     static_cast<double>(month.span.jobs) / month.span.days);
    EXPECT_THAT(to_play(std::array{1, 2, 3}), SizeIs(1));
  }
  EXPECT_EQ(generated("venus").span.jobs, month.span.jobs);
  EXPECT_THAT(to_play(std::array{1, 2, 3}), SizeIs(3));
}

}  // namespace
}  // namespace almanac::reproduce
