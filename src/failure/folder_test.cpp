// SPDX-License-Identifier: Apache-2.0
#include "failure/folder.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "table/output_file.h"

namespace almanac::failure {
namespace {

const RuleSet& built_in_set() {
  static const RuleSet set = RuleSet::compile(builtin_rules()).value();
  return set;
}

TEST(Folder, IsJudgedInOrderPackedOrNot) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "b/c");
  std::filesystem::create_directories(folder / ".git");
  ASSERT_TRUE(table::write_file(folder / "z.out", "KeyError: 'a'\n"));
  ASSERT_TRUE(table::write_file(folder / "b/c/y.err.gz", "a\nMemoryError\n"));
  ASSERT_TRUE(table::write_file(folder / "b/x.out.zst", "fine\n"));
  ASSERT_TRUE(table::write_file(folder / ".git/config", "MemoryError\n"));
  folder.write("empty.out", "");
  const auto logs = judge_folder(folder / "", built_in_set());
  ASSERT_TRUE(logs) << to_string(logs.error());
  std::vector<std::string> paths;
  for (const JudgedLog& log : *logs) paths.push_back(log.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"b/c/y.err.gz", "b/x.out.zst", "empty.out", "z.out"}));
  EXPECT_EQ((*logs)[0].verdict.line, 2);
  EXPECT_FALSE((*logs)[1].verdict.rule);
  EXPECT_FALSE((*logs)[2].verdict.rule);
  EXPECT_EQ((*logs)[2].trouble, "");
  EXPECT_EQ((*logs)[3].verdict.quote, "KeyError: 'a'");
}

TEST(Folder, KeepsWhatItFoundInADamagedLog) {
  const TemporaryFolder folder;
  std::string lines = "MemoryError\n";
  for (int i = 0; i < 50'000; ++i) lines += std::to_string(i * 7919) + "\n";
  ASSERT_TRUE(table::write_file(folder / "a.out.gz", lines));
  std::filesystem::resize_file(folder / "a.out.gz",
                               std::filesystem::file_size(folder / "a.out.gz") / 2);
  const auto logs = judge_folder(folder / "", built_in_set());
  ASSERT_TRUE(logs);
  EXPECT_NE((*logs)[0].trouble, "");
  EXPECT_EQ((*logs)[0].verdict.line, 1);
}

TEST(Folder, MustHoldLogs) {
  const TemporaryFolder folder;
  EXPECT_EQ(judge_folder(folder / "", built_in_set()).error().code, Code::not_found);
  EXPECT_EQ(judge_folder(folder / "no", built_in_set()).error().code, Code::not_found);
}

}  // namespace
}  // namespace almanac::failure
