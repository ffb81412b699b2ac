// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fill experiment of FGD, one seed of each workload.
#include <filesystem>

#include "reproduce/rows.h"
#include "support/temporary_folder.h"
#include "table/stream.h"

namespace almanac::reproduce {
namespace {

namespace fs = std::filesystem;

/// The lines of `text` that begin with the header or are of the seed.
std::string of_one_seed(const std::string& text) {
  std::string kept = text.substr(0, text.find('\n') + 1);
  for (std::size_t from = kept.size(); from < text.size();) {
    const std::size_t end = text.find('\n', from) + 1;
    const std::string line = text.substr(from, end - from);
    if (line.find(",42,") != std::string::npos) kept += line;
    from = end;
  }
  return kept;
}

TEST(Fgd, EqualsThePublishedRunsAtAllPoints) {
  const auto golden = shared_path("golden/fgd");
  if (!golden) GTEST_SKIP() << "the shared data are not at hand: ALMANAC_SHARED";
  const TemporaryFolder folder;
  fs::create_directories(folder / "golden/fgd");
  fs::create_directory_symlink(*shared_path("data"), folder / "data");
  for (const fs::directory_entry& entry : fs::directory_iterator(*golden)) {
    const std::string name = entry.path().filename().string();
    const std::string here = folder / ("golden/fgd/" + name);
    if (!name.ends_with("_percent.csv.gz")) {
      fs::create_symlink(entry.path(), here);
      continue;
    }
    const Result<std::string> text = table::read_text_file(entry.path().string());
    ASSERT_TRUE(text) << to_string(text.error());
    std::ofstream(here.substr(0, here.size() - 3)) << of_one_seed(*text);
  }
  const Outcome outcome = reproduce(*recipes().find("fgd"), folder / "");
  EXPECT_TRUE(outcome.malformed.empty());
  EXPECT_TRUE(outcome.absent.empty());
  EXPECT_GT(outcome.rows.size(), 200);
  expect_near(outcome, [](const Row& row) {
    if (row.unit == "pods" || row.unit == "kinds") return 0.0;
    // One run that draws is as far from another as published runs are.
    if (row.what.find("balanced") != std::string::npos) return 1.5;  // and never worse: below
    return row.what.find("Random") != std::string::npos ? 5.0 : 1e-9;
  });
  for (const Row& row : outcome.rows) {
    if (row.what.find("balanced") == std::string::npos) continue;
    EXPECT_GT(row.ours, row.published - 0.1) << row.what;
  }
}

}  // namespace
}  // namespace almanac::reproduce
