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
  EXPECT_EQ(made->reserve, 0);
}

TEST(Compose, ReplacesSlots) {
  const Result<Composition> made = registry().compose("qssf+easy:4+first-fit+oracle");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "qssf+easy:4+first_fit+oracle");
  EXPECT_EQ(made->order, "gpu_time");
  EXPECT_EQ(made->estimate, "oracle");
  EXPECT_EQ(made->placement, "first_fit");
  EXPECT_EQ(made->reserve, 4);
}

TEST(Compose, LetsJobsShareGpusWhereNothingIsPromised) {
  for (const char* good :
       {"fifo+harmless", "drf+harmless", "coda+harmless", "qssf+lease+harmless"}) {
    const Result<Composition> made = registry().compose(good);
    ASSERT_TRUE(made) << good;
    EXPECT_EQ(made->colocate, Colocate::harmless);
    EXPECT_EQ(made->harmless_rate, 0.9);
  }
  EXPECT_EQ(registry().compose("fifo+harmless+alone")->colocate, Colocate::alone);
  for (const char* bad :
       {"easy+harmless", "srtf+harmless", "fifo+scan+harmless", "fifo+models+harmless"}) {
    EXPECT_THAT(message(bad),
                testing::HasSubstr("harmless goes with strict order, users, arrays or leases"))
        << bad;
  }
  EXPECT_EQ(message_of_file("base = \"fifo\"\ncolocate = \"harmless\"\nharmless_rate = 0.95\n"),
            "composed composition");
  EXPECT_THAT(message_of_file("harmless_rate = 1.5\n"),
              testing::HasSubstr("harmless_rate must be a number above 0 and up to 1"));
}

TEST(Compose, WritesReservationsAsItReadsThem) {
  for (const char* reserve : {"strict", "easy:1", "easy:12", "conservative"}) {
    const Result<Composition> made = registry().compose(std::string("fifo+") + reserve);
    ASSERT_TRUE(made) << reserve;
    EXPECT_EQ(reserve_name(made->reserve), reserve);
  }
}

TEST(Compose, NamesTheNearestPolicy) {
  std::string known;
  for (const Composition& policy : registry().policies()) {
    known += (known.empty() ? "" : ", ") + policy.name;
  }
  EXPECT_THAT(known, testing::HasSubstr("fifo, genie"));
  EXPECT_EQ(message("qsf"), "no policy is called qsf (did you mean qssf?; known: " + known + ")");
  EXPECT_EQ(message("slurm"), "no policy is called slurm (known: " + known + ")");
}

TEST(Compose, NamesTheNearestChoice) {
  const std::string found = message("fifo+first_fitt");
  EXPECT_TRUE(
      found.starts_with("no slot has a choice called first_fitt "
                        "(did you mean first_fit?; known: "))
      << found;
}

TEST(Compose, RefusesReservationsWhereJobsAreStopped) {
  EXPECT_EQ(
      message("srtf+easy"),
      "policy srtf+easy: easy:1 needs preempt never (add +never, or leave the reservation out)");
  EXPECT_EQ(message("srtf+easy+never"), "composed srtf+easy+never");
}

TEST(Compose, RefusesDepthsThatAreNone) {
  for (const char* text : {"fifo+easy:0", "fifo+easy:-1", "fifo+easy:x", "fifo+easy:2147483647"}) {
    EXPECT_FALSE(registry().compose(text)) << text;
  }
}

TEST(Compose, RefusesNumbersThatMeanNothing) {
  const std::map<std::string, std::string> expected = {
      {"trial_s", "a number from 1 to 1e9"},
      {"lease_s", "a number from 0 to 1e9"},
      {"rank_delay_s", "a number from 0 to 1e9"},
      {"las_threshold_gpu_s", "a number from 0 to 1e15"},
      {"reserve_cpus", "a number from 0 to 1e4"},
      {"harmless_rate", "a number above 0 and up to 1"},
  };
  for (const auto& [key, range] : expected) {
    for (const char* const value : {"-1", "inf", "-inf", "nan", "1e300", "'long'", "[1]"}) {
      const TomlFile file("base = 'coda'\n" + key + " = " + value + "\n");
      const Result<Composition> made = registry().compose(file.path());
      ASSERT_FALSE(made) << key << " " << value;
      EXPECT_EQ(made.error().message, key + " must be " + range) << value;
    }
  }
  EXPECT_THAT(message_of_file("trial_s = 0.5\n"),
              testing::HasSubstr("trial_s must be a number from 1 to 1e9"));
}

TEST(Compose, ReadsAFile) {
  const TomlFile file(
      "name = \"mine\"\nbase = \"qssf\"\nplacement = \"best-fit\"\nreserve = \"easy:2\"\n"
      "las_threshold_gpu_s = 60\nrank_delay_s = 0.5\ntrial_s = 30\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->name, "mine");
  EXPECT_EQ(made->order, "gpu_time");
  EXPECT_EQ(made->placement, "best_fit");
  EXPECT_EQ(made->reserve, 2);
  EXPECT_EQ(made->las_threshold_gpu_s, 60);
  EXPECT_EQ(made->trial, 30s);
  EXPECT_EQ(made->rank_delay, 500ms);
}

TEST(Compose, NamesAFileWithoutANameAfterItself) {
  const TomlFile file("base = \"fifo\"\n");
  const Result<Composition> made = registry().compose(file.path());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name, "composition");
}

TEST(Compose, SaysWhereAFileIsWrong) {
  EXPECT_THAT(message_of_file("base = \"fifo\"\nordr = \"sjf\"\n"),
              testing::StartsWith("composition.toml:2:8: unknown key ordr (did you mean order?; "
                                  "known: name, summary, base, estimate, order, "));
  EXPECT_EQ(message_of_file("order = \"sjff\"\n"),
            "composition.toml:1:9: order has no choice sjff (see almanac policy list)");
  EXPECT_EQ(message_of_file("rank_delay_s = -1\n"),
            "composition.toml:1:16: rank_delay_s must be a number from 0 to 1e9");
  EXPECT_EQ(message_of_file("name = \"../mine\"\n"),
            "composition.toml:1:8: name must not be empty, begin with a dot or contain a slash: it "
            "names a folder of the run");
  EXPECT_EQ(message_of_file("order = 3\n"), "composition.toml:1:9: order must be a string");
}

}  // namespace
}  // namespace almanac::policy
