// SPDX-License-Identifier: Apache-2.0
#include "steer/lock.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

TEST(LockTest, IsHeldAsLongAsItsHolderLives) {
  const TemporaryFolder folder;
  const std::string path = lock_of_folder(folder / ".");
  EXPECT_FALSE(Lock::is_held(path)) << "there is no such file";
  {
    const auto lock = Lock::take(path, "this folder");
    ASSERT_TRUE(lock);
    EXPECT_TRUE(Lock::is_held(path));
    EXPECT_EQ(Lock::take(path, "this folder").error().code, Code::conflict);
  }
  // The number of its process is still in the file, and may be another's by now.
  EXPECT_FALSE(Lock::is_held(path));
  EXPECT_TRUE(Lock::take(path, "this folder")) << "looking keeps no other process out";
}

}  // namespace
}  // namespace almanac::steer
