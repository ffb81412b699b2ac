// SPDX-License-Identifier: Apache-2.0
#include "table/csv_writer.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/temporary_folder.h"
#include "table/csv_reader.h"
#include "table/stream.h"

namespace almanac::table {
namespace {

/// What `write` writes.
template <class Write>
std::string written(Write write) {
  const TemporaryFolder folder;
  auto file = OutputFile::create(folder / "t.csv");
  CsvWriter csv(*file);
  write(csv);
  csv.flush();
  EXPECT_TRUE(file->commit());
  return read_file(folder / "t.csv").value();
}

TEST(CsvWriter, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(
      written([](CsvWriter& csv) {
        csv.text("plain").text("a,b").text("say \"no\"").text("two\nlines").text(" x").text("");
        csv.end_row();
      }),
      "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\" x\",\n");
}

TEST(CsvWriter, WritesNumbersShortly) {
  EXPECT_EQ(written([](CsvWriter& csv) {
              csv.whole(-5).whole(std::uint64_t{1} << 63).decimal(0.1).decimal(0.1F).decimal(4.0);
              csv.rounded(2.0, 3).rounded(2.5004, 3).rounded(1.0 / 3, 3).rounded(7.0, 0);
              csv.end_row();
            }),
            "-5,9223372036854775808,0.1,0.1,4,2,2.5,0.333,7\n");
}

TEST(CsvWriter, WritesTimesInSecondsWithDecimalsOnlyIfNeeded) {
  EXPECT_EQ(written([](CsvWriter& csv) {
              csv.duration(90s).duration(1500ms).duration(-1ms).duration(-1020ms);
              csv.time(Time(1585699200s)).time(Time(0s));
              csv.end_row();
            }),
            "90,1.5,-0.001,-1.02,1585699200,0\n");
}

TEST(CsvWriter, LeavesWhatIsMissingEmpty) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(written([&](CsvWriter& csv) {
              csv.missing().duration(kNoDuration).time(kNoTime).decimal(kNaN).rounded(kNaN, 2);
              csv.end_row();
            }),
            ",,,,\n");
}

TEST(CsvWriter, KeepsALoneEmptyFieldFromBeingABlankLine) {
  EXPECT_EQ(written([](CsvWriter& csv) {
              csv.header({"name"});
              csv.text("").end_row();
            }),
            "name\n\"\"\n");
}

TEST(CsvWriter, WritesFieldsLongerThanItsBuffer) {
  const std::string field(1 << 20, 'x');
  EXPECT_EQ(written([&](CsvWriter& csv) {
              csv.text(field).text(field + ",");
              csv.end_row();
            }),
            field + ",\"" + field + ",\"\n");
}

RC_GTEST_PROP(CsvProperty, WhatIsWrittenReadsBackTheSame,
              (const std::vector<std::pair<std::string, std::string>>& drawn)) {
  // A table has no NUL, and its lines end in one way.
  const auto clean = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '\0' || c == '\r'; });
    return text;
  };
  const TemporaryFolder folder;
  auto file = OutputFile::create(folder / "t.csv.gz");
  {
    CsvWriter csv(*file);
    csv.header({"a", "b"});
    for (const auto& [a, b] : drawn) csv.text(clean(a)).text(clean(b)).end_row();
    csv.flush();
  }
  RC_ASSERT(file->commit().has_value());
  auto csv = CsvReader::open(folder / "t.csv.gz");
  RC_ASSERT(csv.has_value());
  for (const auto& [a, b] : drawn) {
    RC_ASSERT(csv->next().value());
    RC_ASSERT((*csv)[0] == clean(a));
    RC_ASSERT((*csv)[1] == clean(b));
  }
  RC_ASSERT(!csv->next().value());
}

}  // namespace
}  // namespace almanac::table
