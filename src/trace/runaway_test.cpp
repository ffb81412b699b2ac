// SPDX-License-Identifier: Apache-2.0
#include "trace/runaway.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::HasSubstr;

/// A log that was printed on 25 November; on n1 and its like 8-GPU jobs follow each other.
class Runaways : public testing::Test {
 protected:
  Runaways() {
    for (int day = 1; day < 25; ++day) {
      for (const char* const node : {"n1", "n2", "n3"}) {
        row(fmt::format("{}|{:02}", node, day), fmt::format("2026-11-{:02}T00:00:00", day),
            fmt::format("2026-11-{:02}T23:00:00", day), 23 * 3600, "1440", "COMPLETED", 8, node);
      }
    }
  }
  void row(std::string id, const std::string& start, const std::string& end, int run,
           const std::string& limit, const std::string& state, int gpus, const std::string& node) {
    std::erase(id, '|');
    rows_ += fmt::format("{}|u|{}|{}|{}|{}|{}|{}|gres/gpu={},node=1|{}\n", id, start, start, end,
                         run, limit, state, gpus, node);
  }
  Trace read() {
    auto trace = read_trace(folder_.write(
        "log",
        "JobID|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocTRES|NodeList\n" + rows_));
    EXPECT_TRUE(trace) << to_string(trace.error());
    return trace ? std::move(*trace) : Trace{};
  }
  /// Whether job "x" is still in the log.
  bool has_x() {
    trace_ = read();
    for (const Job& job : trace_.jobs) {
      if (trace_.id(job.id) == "x") return true;
    }
    return false;
  }

  static constexpr int kSinceMay = 208 * 86400;  // until 25 November
  TemporaryFolder folder_;
  std::string rows_;
  Trace trace_;
};

TEST_F(Runaways, AreLeftOutAndNamed) {
  row("x", "2026-05-01T00:00:00", "Unknown", kSinceMay, "1440", "RUNNING", 8, "n1");
  EXPECT_FALSE(has_x());
  EXPECT_THAT(trace_.notes,
              testing::Contains(HasSubstr("job x is RUNNING 207 days beyond its limit "
                                          "on n1, while other jobs used all of that node")));
}

TEST_F(Runaways, AreFoundWithoutALimitByWhoHeldTheNode) {
  row("x", "2026-05-01T00:00:00", "Unknown", kSinceMay, "UNLIMITED", "RUNNING", 8, "n1");
  EXPECT_FALSE(has_x());
  EXPECT_THAT(trace_.notes,
              testing::Contains(HasSubstr("job x is RUNNING since 2026-05-01 on n1")));
}

TEST_F(Runaways, AreFoundWithoutNodesByTheirLimit) {
  row("x", "2026-05-01T00:00:00", "Unknown", kSinceMay, "1440", "COMPLETING", 8, "");
  EXPECT_FALSE(has_x());
}

TEST_F(Runaways, MayHaveAnEndThatSomebodyWroteLater) {
  row("x", "2026-05-01T00:00:00", "2026-11-25T00:00:00", kSinceMay, "1440", "CANCELLED", 8, "n2");
  EXPECT_FALSE(has_x());
}

TEST_F(Runaways, AreNotJobsThatRunLongOnGpusOfTheirOwn) {
  row("x", "2026-05-01T00:00:00", "Unknown", kSinceMay, "UNLIMITED", "RUNNING", 8, "n4");
  EXPECT_TRUE(has_x());
  EXPECT_THAT(trace_.notes, testing::Contains(HasSubstr("1 job RUNNING for more than 30 days")));
}

TEST_F(Runaways, AreNotJobsThatShareANode) {
  for (int day = 1; day < 25; ++day) {
    row(fmt::format("s{}", day), fmt::format("2026-11-{:02}T00:00:00", day),
        fmt::format("2026-11-{:02}T23:00:00", day), 23 * 3600, "1440", "COMPLETED", 7, "n4");
  }
  row("x", "2026-05-01T00:00:00", "Unknown", kSinceMay, "UNLIMITED", "RUNNING", 1, "n4");
  EXPECT_TRUE(has_x());
}

TEST_F(Runaways, AreNotJobsThatSlurmIsAboutToEnd) {
  row("x", "2026-11-24T00:00:00", "Unknown", 86400 + 60, "1440", "RUNNING", 8, "n4");
  EXPECT_TRUE(has_x());
}

TEST_F(Runaways, AreNotFoundInAPublishedLogOfLongRuns) {
  row("x", "2026-05-01T00:00:00", "2026-11-25T00:00:00", kSinceMay, "1440", "COMPLETED", 8, "n9");
  EXPECT_TRUE(has_x()) << "nobody held its node, and it has an end";
}

}  // namespace
}  // namespace almanac::trace
