// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::policy {
namespace {

std::string message(const std::string& text) {
  const Result<Composition> made = registry().compose(text);
  return made ? "composed " + made->name : to_string(made.error());
}

/// A TOML file that lives as long as the test.
class TomlFile {
 public:
  explicit TomlFile(const std::string& text) : path_(testing::TempDir() + "composition.toml") {
    std::ofstream(path_) << text;
  }
  ~TomlFile() { std::remove(path_.c_str()); }
  TomlFile(const TomlFile&) = delete;
  TomlFile& operator=(const TomlFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The message without the folder of the file.
std::string message_of_file(const std::string& text) {
  const TomlFile file(text);
  std::string found = message(file.path());
  const std::size_t at = found.find("composition.toml");
  return at == std::string::npos ? found : found.substr(at);
}

TEST(Compose, TakesAPolicyByName) {
  const Result<Composition> made = registry().compose("qssf");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->order, "gpu_time");
  EXPECT_EQ(made->estimate, "learned");
  EXPECT_EQ(made->pass, "strict");
}

TEST(Compose, ReplacesSlots) {
  const Result<Composition> made = registry().compose("qssf+easy:4+first-fit+oracle");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "qssf+easy:4+first_fit+oracle");
  EXPECT_EQ(made->order, "gpu_time");
  EXPECT_EQ(made->estimate, "oracle");
  EXPECT_EQ(made->placement, "first_fit");
  EXPECT_EQ(made->pass, (Choice{"easy", {{"depth", {4}}}}));
}

TEST(Compose, LetsJobsShareGpusWhereNothingIsPromised) {
  for (const char* good : {"fifo+harmless", "drf+harmless", "coda+harmless", "qssf+lease+harmless",
                           "fifo+scan+harmless", "srtf+harmless"}) {
    const Result<Composition> made = registry().compose(good);
    ASSERT_TRUE(made) << good;
    EXPECT_EQ(made->packing, "harmless");
  }
  EXPECT_EQ(registry().compose("fifo+harmless+alone")->packing, "alone");
  for (const char* bad : {"easy+harmless", "fifo+models+harmless"}) {
    EXPECT_THAT(message(bad), testing::HasSubstr("packing harmless requires a choice that lets a "
                                                 "blocked job share another job's GPUs (add +"))
        << bad;
  }
  EXPECT_EQ(
      message("genie+strict+harmless"),
      "policy genie+strict+harmless: packing harmless cannot be combined with a choice that "
      "chooses the number of GPUs of jobs that leave it open, as shape cer_in_time does (replace "
      "one of the two; "
      "almanac policy list shows all choices)");
  EXPECT_EQ(message_of_file("packing = {name = \"harmless\", harmless_rate = 0.95}\n"),
            "composed composition");
  EXPECT_THAT(message_of_file("packing = {name = \"harmless\", harmless_rate = 1.5}\n"),
              testing::HasSubstr("harmless_rate must be a number from 1e-09 to 1"));
}

TEST(Compose, WritesPassesAsItReadsThem) {
  for (const char* text : {"strict", "easy:1", "easy:12", "conservative", "lease:60",
                           "elastic:300:cheapest", "elastic:deadlines=cheapest"}) {
    const Result<Composition> made = registry().compose(std::string("fifo+") + text);
    ASSERT_TRUE(made) << text;
    EXPECT_EQ(to_string(made->pass, registry().passes.at(made->pass).parameters), text);
  }
}

TEST(Compose, TellsAChoiceThatIsThereAValue) {
  EXPECT_EQ(registry().compose("chronus+lease:60")->pass,
            (Choice{"deadline_leases", {{"lease_s", {60}}}}));
  EXPECT_EQ(registry().compose("coda+trial:30+reserve_cpus:4")->size,
            (Choice{"adaptive", {{"trial_s", {30}}}}));
  EXPECT_EQ(registry().compose("fifo+lease:60")->pass, (Choice{"lease", {{"lease_s", {60}}}}));
  EXPECT_EQ(registry().compose("chronus+lease")->pass, "lease") << "nothing is told";
  EXPECT_EQ(message("chronus+lease:0"),
            "deadline_leases: lease_s must be a number from 1 to 1e+09");
  EXPECT_EQ(message("easy+easy:2:3"), "easy: 3 is one value too many (its parameters: depth)");
  EXPECT_EQ(registry().compose("las+las:60:70")->order,
            (Choice{"las", {{"queues_gpu_s", {60, 70}}}}));
  EXPECT_EQ(message("qssf:60"),
            "policy qssf is made of slots, and 60 could be an argument of any of them (say which: "
            "qssf+lease:60)");
}

TEST(Compose, NamesTheNearestPolicy) {
  std::string known;
  for (const Composition& policy : registry().policies()) {
    known += (known.empty() ? "" : ", ") + policy.name;
  }
  EXPECT_THAT(known, testing::HasSubstr("fifo, genie"));
  EXPECT_EQ(message("qsf"), "no policy is named qsf (did you mean qssf?; known: " + known + ")");
  EXPECT_EQ(message("slurm"), "no policy is named slurm (known: " + known + ")");
}

TEST(Compose, NamesTheNearestChoice) {
  const std::string found = message("fifo+first_fitt");
  EXPECT_TRUE(
      found.starts_with("no slot has a choice named first_fitt (did you mean first_fit?; known: "))
      << found;
}

TEST(Compose, SaysWhichChoicesDoNotGoTogether) {
  EXPECT_EQ(message("easy+adaptive"),
            "policy easy+adaptive: pass easy cannot be combined with a choice that gives running "
            "jobs more cores, as size adaptive does (replace one of the two; almanac policy list "
            "shows all choices)");
  EXPECT_EQ(message("fifo+late"),
            "policy fifo+late: pass late requires a choice that ranks late jobs behind all others "
            "(add +promise)");
  EXPECT_EQ(message("srtf+easy"), "composed srtf+easy") << "the pass is replaced";
}

TEST(Compose, DividesPoliciesThatDoNotCountOverTheWholeCluster) {
  const auto composed = registry().compose("gavel:finish_time+pop:8:random");
  ASSERT_TRUE(composed) << to_string(composed.error());
  EXPECT_EQ(composed->whole.name, "gavel");
  EXPECT_EQ(composed->division.told.at("parts"), Values{8});
  EXPECT_EQ(registry().compose("srtf+pop")->division, "pop");
  EXPECT_EQ(message("hived+pop"),
            "policy hived+pop: division pop cannot be combined with a choice that uses tenants' "
            "guarantees, as hived does (leave it out)");
  EXPECT_EQ(message("easy+pop+standby"),
            "policy easy+pop+standby: division pop cannot be combined with a choice that powers "
            "nodes down, as capacity standby does (replace one of the two; almanac policy list "
            "shows all choices)");
}

TEST(Compose, RefusesDepthsThatAreNone) {
  for (const char* text : {"fifo+easy:0", "fifo+easy:-1", "fifo+easy:x", "fifo+easy:2147483647"}) {
    EXPECT_FALSE(registry().compose(text)) << text;
  }
}

TEST(Compose, RefusesNumbersThatMeanNothing) {
  const std::map<std::string, std::string> choices = {
      {"trial_s", "size = {name = 'adaptive', trial_s"},
      {"lease_s", "pass = {name = 'lease', lease_s"},
      {"reserve_cpus", "pass = {name = 'arrays', reserve_cpus"},
      {"depth", "pass = {name = 'easy', depth"}};
  for (const auto& [name, choice] : choices) {
    for (const char* const value :
         {"-1", "inf", "-inf", "nan", "1e300", "'long'", "[1, 2]", "[]"}) {
      const TomlFile file(choice + " = " + value + "}\n");
      const Result<Composition> made = registry().compose(file.path());
      ASSERT_FALSE(made) << name << " " << value;
      EXPECT_THAT(made.error().message, testing::StartsWith(name + " must be a ")) << value;
    }
  }
}

TEST(Compose, ReadsAFile) {
  const TomlFile file(
      "name = \"mine\"\nbase = \"qssf\"\nplacement = \"best-fit\"\npass = \"easy:2\"\n"
      "size = {name = \"adaptive\", trial_s = 30}\norder = {name = \"las\", queues_gpu_s = "
      "60}\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_FALSE(made) << "easy keeps reservations, adaptive gives cores";
  const TomlFile fine(
      "name = \"mine\"\nbase = \"qssf\"\nplacement = \"best-fit\"\npass = \"easy:2\"\n"
      "order = {name = \"las\", queues_gpu_s = 60}\n");
  const Result<Composition> read = registry().compose(fine.path());
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->name, "mine");
  EXPECT_EQ(read->estimate, "learned");
  EXPECT_EQ(read->placement, "best_fit");
  EXPECT_EQ(read->pass, (Choice{"easy", {{"depth", {2}}}}));
  EXPECT_EQ(read->order, (Choice{"las", {{"queues_gpu_s", {60}}}}));
}

TEST(Compose, ReadsAFileOfAWholePolicy) {
  const TomlFile file("name = \"mine\"\nwhole = {name = \"tiresias\", queues_gpu_s = [60, 600]}\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->whole, (Choice{"tiresias", {{"queues_gpu_s", {60, 600}}}}));
  EXPECT_EQ(registry().compose("tiresias:60:600")->whole, made->whole);
  EXPECT_EQ(
      message("tiresias+easy"),
      "policy tiresias+easy: tiresias makes all decisions itself and ignores the slot pass "
      "easy (leave it out; only the estimate, the placement and the division of this policy can "
      "be replaced)");
  EXPECT_EQ(message("tiresias+first_fit"), "composed tiresias+first_fit");
}

TEST(Compose, NamesAFileWithoutANameAfterItself) {
  const TomlFile file("base = \"fifo\"\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "composition");
}

TEST(Compose, SaysWhereAFileIsWrong) {
  EXPECT_THAT(
      message_of_file("base = \"fifo\"\nordr = \"sjf\"\n"),
      testing::StartsWith("composition.toml:2:8: unknown key ordr (did you mean order?; "
                          "known: name, summary, base, whole, order, placement, estimate, "));
  EXPECT_EQ(message_of_file("order = \"sjff\"\n"),
            "composition.toml:1:9: order has no choice named sjff (see almanac policy list)");
  EXPECT_EQ(
      message_of_file("pass = {name = \"easy\", dept = 2}\n"),
      "composition.toml:1:31: easy has no parameter dept (did you mean depth?; known: depth)");
  EXPECT_EQ(message_of_file("name = \"../mine\"\n"),
            "composition.toml:1:8: name must not be empty, begin with a dot or contain a slash: it "
            "becomes the name of a folder in the run");
  EXPECT_EQ(message_of_file("order = 3\n"),
            "composition.toml:1:9: order must be the name of a choice, or a table with a name");
}

}  // namespace
}  // namespace almanac::policy
