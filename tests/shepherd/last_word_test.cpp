// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is written for good is on the disk under its name: the file first, then its folder.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shepherd/folder.h"
#include "support/temporary_folder.h"

namespace {

std::vector<std::string> synced;

}  // namespace

/// In the place of the C library's.
extern "C" int fsync(int file) {
  synced.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)));
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace almanac::shepherd {
namespace {

TEST(NewFile, IsThereAfterAPowerCut) {
  const TemporaryFolder folder;
  const std::string path = folder / "exit.json";
  auto file = NewFile::create(path, 100);
  ASSERT_TRUE(file) << to_string(file.error());
  synced.clear();
  ASSERT_TRUE(file->commit("{}"));
  ASSERT_EQ(synced.size(), 2U);
  EXPECT_THAT(synced.front(), testing::StartsWith(path));
  EXPECT_EQ(synced.back(), std::filesystem::path(path).parent_path());
  EXPECT_EQ(*read_file(path), "{}");
}

}  // namespace
}  // namespace almanac::shepherd
