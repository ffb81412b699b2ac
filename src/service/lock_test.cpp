// SPDX-License-Identifier: Apache-2.0
#include "service/lock.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace almanac::service {
namespace {

TEST(LockTest, IsHeldAsLongAsItsHolderLives) {
  const TemporaryFolder folder;
  const std::string path = lock_of_folder(folder / ".");
  EXPECT_EQ(Lock::is_held(path), false) << "there is no such file";
  {
    const auto lock = Lock::take(path, "this folder");
    ASSERT_TRUE(lock);
    EXPECT_EQ(Lock::is_held(path), true);
    EXPECT_EQ(Lock::take(path, "this folder").error().code, Code::conflict);
  }
  // The number of its process is still in the file, and may be another's by now.
  EXPECT_EQ(Lock::is_held(path), false);
  EXPECT_TRUE(Lock::take(path, "this folder")) << "looking keeps no other process out";
}

TEST(LockTest, IsOpenedByItsOwnerOnly) {
  const TemporaryFolder folder;
  const std::string path = lock_of_folder(folder / ".");
  std::ofstream(path).close();
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const auto lock = Lock::take(path, "this folder");
  ASSERT_TRUE(lock);
  struct stat about {};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST(LockTest, FollowsNoLink) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "what it says");
  ASSERT_EQ(::symlink(target.c_str(), (folder / "lock").c_str()), 0);
  EXPECT_EQ(Lock::take(folder / "lock", "this folder").error().code, Code::invalid);
  EXPECT_EQ(std::filesystem::file_size(target), 12U) << "it was not written to";
}

TEST(LockTest, IsNoOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TemporaryFolder folder;
  const std::string path = folder.write("lock", "");
  ASSERT_EQ(::chown(path.c_str(), 4321, 4321), 0);
  EXPECT_EQ(Lock::take(path, "this folder").error().code, Code::invalid);
}

}  // namespace
}  // namespace almanac::service
