// SPDX-License-Identifier: Apache-2.0
#include "table/output_file.h"

#include <array>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"
#include "table/digest.h"
#include "table/stream.h"

namespace almanac::table {
namespace {

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  {
    auto file = OutputFile::create(folder / "out");
    ASSERT_TRUE(file);
    file->write("half");
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  }
  EXPECT_EQ(folder.size(), 0U);
  ASSERT_TRUE(write_file(folder / "out", "whole"));
  EXPECT_EQ(read_file(folder / "out").value(), "whole");
  EXPECT_EQ(folder.size(), 1U);
}

TEST(OutputFile, WritesWhatALinkPointsTo) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "data/there", "old"));
  std::filesystem::create_symlink("data/there", folder / "link");
  std::filesystem::create_symlink("link", folder / "link to a link");
  std::filesystem::create_symlink("data/absent", folder / "dangling");
  ASSERT_TRUE(write_file(folder / "link to a link", "new"));
  ASSERT_TRUE(write_file(folder / "dangling", "made"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "data/there").value(), "new");
  EXPECT_EQ(read_file(folder / "data/absent").value(), "made");
}

TEST(OutputFile, WritesIntoADeviceInsteadOfReplacingIt) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_TRUE(write_file(pipe, "through\n"));
  std::array<char, 16> read{};
  EXPECT_EQ(::read(reader, read.data(), read.size()), 8);
  EXPECT_STREQ(read.data(), "through\n");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(OutputFile, LeavesTheFormerFileUntilCommitted) {
  const TemporaryFolder folder;
  folder.write("out", "former");
  OutputFile::create(folder / "out")->write("half");
  EXPECT_EQ(read_file(folder / "out").value(), "former");
  ASSERT_TRUE(write_file(folder / "out", "new"));
  EXPECT_EQ(read_file(folder / "out").value(), "new");
}

TEST(OutputFile, HasTheRightsOfAnyNewFile) {
  const TemporaryFolder folder;
  folder.write("other", "x");
  ASSERT_TRUE(write_file(folder / "out", "x"));
  struct stat ours {};
  struct stat other {};
  ASSERT_EQ(::stat((folder / "out").c_str(), &ours), 0);
  ASSERT_EQ(::stat((folder / "other").c_str(), &other), 0);
  EXPECT_EQ(ours.st_mode, other.st_mode);
}

TEST(OutputFile, PacksTheSameBytesEachTime) {
  const TemporaryFolder folder;
  const std::string content(1'000'000, 'x');
  for (const char* ending : {".gz", ".zst"}) {
    ASSERT_TRUE(write_file(folder / (std::string("a") + ending), content));
    ASSERT_TRUE(write_file(folder / (std::string("b") + ending), content));
    EXPECT_EQ(sha256_file(folder / (std::string("a") + ending)).value(),
              sha256_file(folder / (std::string("b") + ending)).value());
    EXPECT_EQ(read_file(folder / (std::string("a") + ending)).value(), content);
  }
}

TEST(OutputFile, SaysWhyItCannotBeMade) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  const auto file = OutputFile::create(folder / "file/out");
  ASSERT_FALSE(file);
  EXPECT_EQ(to_string(file.error()), folder / "file/out" + ": cannot create its folder, " +
                                         (folder / "file") + ": Not a directory");
}

TEST(OutputFile, MakesTheFoldersOfItsPath) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "no/such/out", "x"));
  EXPECT_EQ(read_file(folder / "no/such/out").value(), "x");
}

TEST(OutputFile, LeavesNothingWhenItCannotTakeItsPlace) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "out");  // what a file cannot replace
  EXPECT_EQ(write_file(folder / "out", "x").error().code, Code::unavailable);
  EXPECT_EQ(folder.size(), 1U);
}

TEST(Digest, IsThatOfTheStandard) {
  const TemporaryFolder folder;
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(sha256("abc"), abc);
  EXPECT_EQ(sha256_file(folder.write("f", "abc")).value(), abc);
  EXPECT_EQ(sha256_file(folder / "absent").error().code, Code::not_found);
}

}  // namespace
}  // namespace almanac::table
