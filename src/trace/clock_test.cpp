// SPDX-License-Identifier: Apache-2.0
#include "trace/clock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "text/datetime.h"
#include "trace/read.h"

namespace almanac::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHeader = "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES\n";

Result<Trace> try_read(const std::string& text, const std::string& zone) {
  const TemporaryFolder folder;
  return read_trace(folder.write("t", text), {.time_zone = zone});
}

Trace read_rows(const std::string& rows, const std::string& zone = {}) {
  auto trace = try_read(kHeader + rows, zone);
  if (!trace) {
    ADD_FAILURE() << to_string(trace.error());
    return {};
  }
  return std::move(*trace);
}

std::string row(int id, const std::string& day, const std::string& submit, const std::string& start,
                const std::string& end, int ran_s) {
  return fmt::format("{0}|{1}T{2}|{1}T{3}|{1}T{4}|{5}|COMPLETED|gres/gpu=1\n", id, day, submit,
                     start, end, ran_s);
}

Duration wait(const Job& job) { return job.outcome.start - job.request.submit; }
Duration held(const Job& job) { return job.outcome.end - job.outcome.start; }

/// The night of a clock that goes back at 03:00.
const std::string kNight = row(1, "2025-10-26", "01:00:00", "01:00:10", "02:30:10", 5400) +
                           row(2, "2025-10-26", "02:40:00", "02:50:00", "02:10:00", 1200) +
                           row(3, "2025-10-26", "02:55:00", "02:05:00", "03:05:00", 3600) +
                           row(4, "2025-10-26", "04:00:00", "04:00:05", "05:00:05", 3600);

TEST(SacctClock, ReadsTheHourThatComesTwiceByRunTimes) {
  const Trace trace = read_rows(kNight);
  ASSERT_EQ(trace.jobs.size(), 4U);
  const std::array waits{10s, 600s, 600s, 5s};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(wait(trace.jobs[i]), waits[i]) << i;
    EXPECT_EQ(held(trace.jobs[i]), trace.jobs[i].outcome.run) << i;
  }
  EXPECT_EQ(trace.jobs[3].request.submit - trace.jobs[0].request.submit, 4h);
  EXPECT_EQ(trace.jobs[0].request.submit, text::parse_datetime("2025-10-26 01:00:00"))
      << "by the clock of the first job";
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("the log's clock was changed as in Europe/Berlin, as the "
                                        "times of 2 jobs show"));
}

TEST(SacctClock, ReadsTimesInTheZoneThatIsGiven) {
  const Trace trace = read_rows(kNight, "Europe/Berlin");
  EXPECT_EQ(trace.jobs[0].request.submit, text::parse_datetime("2025-10-25 23:00:00"));
  EXPECT_EQ(trace.jobs[3].request.submit, text::parse_datetime("2025-10-26 03:00:00"));
  EXPECT_EQ(wait(trace.jobs[2]), 10min);
  EXPECT_EQ(trace.time_zone, "Europe/Berlin");
  EXPECT_THAT(trace.notes, IsEmpty());
}

TEST(SacctClock, ReadsAnHourThatIsSkipped) {
  const Trace trace = read_rows(row(1, "2025-03-09", "01:00:00", "01:30:00", "03:30:00", 3600) +
                                row(2, "2025-03-09", "01:00:00", "03:30:00", "04:30:00", 3600));
  EXPECT_EQ(held(trace.jobs[0]), 1h);
  EXPECT_EQ(wait(trace.jobs[1]), 90min);
  EXPECT_THAT(trace.notes.at(0), HasSubstr("as in America/New_York"));
}

TEST(SacctClock, OrdersTheHourThatComesTwiceByIds) {
  std::string rows;
  for (int i = 0; i < 180; ++i) {
    const int minute = i < 60 ? 60 + i : i < 120 ? 60 + i : i;  // 01:00 .. 02:59, 02:00 .. 02:59
    const auto at = [&](int second, int minutes) {
      const int shown = minutes >= 180 && i < 120 ? minutes - 60 : minutes;
      return fmt::format("{:02}:{:02}:{:02}", shown / 60, shown % 60, second);
    };
    rows += row(i + 1, "2025-10-26", at(0, minute), at(20, minute), at(20, minute + 10), 600);
  }
  const Trace trace = read_rows(rows);
  ASSERT_EQ(trace.jobs.size(), 180U);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(trace.id(trace.jobs[i].id), std::to_string(i + 1));
    EXPECT_EQ(wait(trace.jobs[i]), 20s) << i;
    EXPECT_EQ(trace.jobs[i].request.submit - trace.jobs[0].request.submit, i * 1min);
  }
}

TEST(SacctClock, LetsRunTimesDecideWhereNoZoneExplainsTheTimes) {
  const Trace trace = read_rows(row(1, "2025-07-01", "10:00:00", "10:00:10", "09:30:00", 1200) +
                                row(2, "2025-07-01", "11:00:00", "10:59:00", "11:59:00", 3600));
  EXPECT_EQ(held(trace.jobs[0]), 20min);
  EXPECT_EQ(wait(trace.jobs[1]), 0s);
  EXPECT_THAT(
      trace.notes,
      ElementsAre(
          "jobs that started before they were submitted (treated as submitted at their start): 1",
          "jobs whose end contradicts their run time (the end is computed from the run time): 1"));
}

TEST(SacctClock, LeavesTimesWithAZoneAlone) {
  const char* const absolute =
      "1|2025-10-26T02:40:00+0200|2025-10-26T02:50:00+0200|2025-10-26T02:10:00+0100|1200|COMPLETED|"
      "gres/gpu=1\n";
  EXPECT_EQ(held(read_rows(absolute).jobs.at(0)), 20min);
  EXPECT_THAT(read_rows(absolute).notes, IsEmpty());
  const Trace epoch = read_rows("1|1761439200|1761439800|1761441000|1200|COMPLETED|gres/gpu=1\n");
  EXPECT_EQ(wait(epoch.jobs.at(0)), 10min);
  const auto refused = try_read(kHeader + std::string(absolute), "Europe/Berlin");
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()),
              HasSubstr("--time-zone only applies to times without a zone"));
  EXPECT_FALSE(try_read(kHeader + kNight, "Europe/Atlantis"));
}

TEST(SacctClock, ReadsOtherTablesInAZoneToo) {
  const TemporaryFolder folder;
  const std::string map =
      folder.write("map.toml",
                   "[columns]\nsubmit_s = {column = \"when\", unit = \"date\"}\n"
                   "run_s = \"run_s\"\ngpus = \"gpus\"\n");
  const auto trace = read_trace(folder.write("t", "when,run_s,gpus\n2025-07-01 12:00:00,60,1\n"),
                                {.column_map = map, .time_zone = "America/New_York"});
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(trace->jobs[0].request.submit, text::parse_datetime("2025-07-01 16:00:00"));
}

}  // namespace
}  // namespace almanac::trace
