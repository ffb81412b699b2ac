// SPDX-License-Identifier: Apache-2.0
#include "table/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::table {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::vector<std::string>>;

/// All rows, or the first error.
Result<Rows> read(CsvReader csv) {
  Rows rows;
  for (;;) {
    const auto more = csv.next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return rows;
    std::vector<std::string> row;
    for (std::size_t i = 0; i < csv.header().size(); ++i) row.emplace_back(csv[i]);
    rows.push_back(std::move(row));
  }
}

class Csv : public testing::Test {
 protected:
  Result<Rows> rows(std::string_view content, char delimiter = ',') {
    auto csv = CsvReader::open(folder_.write("t.csv", content), delimiter);
    if (!csv) return tl::unexpected(csv.error());
    return read(std::move(*csv));
  }
  std::string error(std::string_view content) {
    auto result = rows(content);
    if (result) return "no error";
    const std::string text = to_string(result.error());
    return text.substr(text.find("t.csv"));
  }
  TemporaryFolder folder_;
};

TEST_F(Csv, FindsColumnsByName) {
  const auto csv = CsvReader::open(folder_.write("t.csv", "a,b,c\n1,2,3\n"));
  ASSERT_TRUE(csv);
  EXPECT_THAT(csv->header(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(csv->find("c"), 2U);
  EXPECT_EQ(csv->find("d"), std::nullopt);
}

TEST_F(Csv, ReadsQuotesAsRfc4180HasThem) {
  EXPECT_THAT(rows("a,b\n\"x,y\",\"he said \"\"no\"\"\"\n\"\",\" kept \"\n").value(),
              ElementsAre(ElementsAre("x,y", "he said \"no\""), ElementsAre("", " kept ")));
}

TEST_F(Csv, ReadsQuotedNewlinesAndKeepsCountingLines) {
  auto csv = CsvReader::open(folder_.write("t.csv", "a,b\n\"one\ntwo\n\n\",x\n3,4\n"));
  ASSERT_TRUE(csv);
  ASSERT_TRUE(csv->next().value());
  EXPECT_EQ((*csv)[0], "one\ntwo\n\n");
  EXPECT_EQ((*csv)[1], "x");
  EXPECT_EQ(csv->line(), 2);
  ASSERT_TRUE(csv->next().value());
  EXPECT_EQ(csv->line(), 6);
}

TEST_F(Csv, ToleratesMarksCarriageReturnsBlankLinesAndAMissingLastNewline) {
  EXPECT_THAT(rows("\xef\xbb\xbf"
                   "a, b \r\n\r\n 1 ,2\r\n   \n3,4")
                  .value(),
              ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "4")));
}

TEST(Delimiter, IsWhatStandsInTheHeaderMostOften) {
  EXPECT_EQ(delimiter_of("a,b,c"), ',');
  EXPECT_EQ(delimiter_of("a;b,c;d"), ';');
  EXPECT_EQ(delimiter_of("a\tb c\td"), '\t');
  EXPECT_EQ(delimiter_of("a|b"), '|');
  EXPECT_EQ(delimiter_of("\"a;b;c\",d"), ',');
  EXPECT_EQ(delimiter_of("alone"), ',');
}

TEST_F(Csv, KnowsOtherDelimiters) {
  EXPECT_THAT(rows("a|b|\n1|\"q|\n", '|').value(), ElementsAre(ElementsAre("1", "\"q", "")));
  EXPECT_THAT(rows("a;b\n\"1;2\";3\n", ';').value(), ElementsAre(ElementsAre("1;2", "3")));
  EXPECT_THAT(rows("a\tb\n\t\n1\t2\n", '\t').value(), ElementsAre(ElementsAre("1", "2")));
}

TEST_F(Csv, NamesTheLineOfARowOfTheWrongLength) {
  EXPECT_EQ(error("a,b\n1,2\n3\n"),
            "t.csv:3: a row must have as many fields as the header (2), found 1");
  EXPECT_EQ(error("a,b\n1,2,3\n"),
            "t.csv:2: a row must have as many fields as the header (2), found 3");
}

TEST_F(Csv, GoesOnBehindARowOfTheWrongLength) {
  auto csv = CsvReader::open(folder_.write("t.csv", "a,b\n1\n3,4\n"));
  EXPECT_EQ(csv->next().error().code, Code::invalid);
  EXPECT_TRUE(csv->next().value());
  EXPECT_EQ((*csv)[1], "4");
  EXPECT_FALSE(csv->next().value());
}

TEST_F(Csv, RefusesAQuoteThatNeverCloses) {
  EXPECT_EQ(error("a,b\n\"1,2\n3,4\n"), "t.csv:2: a quote is opened and never closed");
}

TEST_F(Csv, RefusesAColumnNamedTwiceAndAnEmptyFile) {
  EXPECT_EQ(error("a,b,a\n"), "t.csv:1: the header names a column twice: \"a\"");
  EXPECT_EQ(error(""), "t.csv: the file is empty");
  EXPECT_EQ(error("\n\n"), "t.csv: the file is empty");
}

TEST_F(Csv, ReadsAcrossTheBlocksOfTheLineReader) {
  // Blocks are 16 MB: 40 MB pass several of them, with lines across the seams.
  constexpr int kRows = 1'000'000;
  std::string content = "a,b\n";
  for (int i = 0; i < kRows; ++i)
    content += std::to_string(i) + ",abcdefghijklmnopqrstuvwxyz_0123456789\n";
  auto csv = CsvReader::open(folder_.write("big.csv", content));
  ASSERT_TRUE(csv);
  for (int i = 0; i < kRows; ++i) {
    ASSERT_TRUE(csv->next().value());
    ASSERT_EQ((*csv)[0], std::to_string(i));
    ASSERT_EQ((*csv)[1].size(), 37U);
  }
  EXPECT_FALSE(csv->next().value());
}

}  // namespace
}  // namespace almanac::table
