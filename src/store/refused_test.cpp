// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the store has refused stays refused, also where the disk failed at the last moment and the
/// service is killed right after that: by then the log has all of it but for the fsync.
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store.h"
#include "support/temporary_folder.h"

namespace almanac::store {
namespace {

/// SQLite's file system with an fsync of the log that fails a given number of times. It fails only
/// for the committing thread: a concurrent checkpoint must not use up the failure.
class FailingDisk {
 public:
  /// From now on all of this process goes by it.
  static void mount() {
    usual_ = ::sqlite3_vfs_find(nullptr);
    static sqlite3_vfs failing = *usual_;
    failing.zName = "failing";
    failing.xOpen = open;
    ::sqlite3_vfs_register(&failing, 1);
  }
  static void fail(int times) { fails_ = times; }

 private:
  static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags,
                  int* out_flags) {
    const int opened = usual_->xOpen(vfs, name, file, flags, out_flags);
    if (opened != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return opened;
    usual_sync_ = file->pMethods->xSync;
    static sqlite3_io_methods methods;
    methods = *file->pMethods;
    methods.xSync = sync;
    file->pMethods = &methods;
    return opened;
  }
  static int sync(sqlite3_file* file, int flags) {
    if (fails_ == 0) return usual_sync_(file, flags);
    --fails_;
    return SQLITE_IOERR_FSYNC;
  }

  inline static sqlite3_vfs* usual_ = nullptr;
  inline static int (*usual_sync_)(sqlite3_file*, int) = nullptr;
  inline static thread_local int fails_ = 0;
};

Result<void> put(Store& store, std::int64_t number, std::size_t bytes) {
  Job job;
  job.number = JobNumber{number};
  job.asked.change().argv = {"sleep", "1"};
  job.asked.change().script = std::string(bytes, 'x');
  Store::Batch batch;
  batch.put(job);
  return store.commit(batch);
}

struct Case {
  std::size_t before = 0, refused = 0;  // bytes of the script of a job that is taken, and refused
  int failures = 0;                     // of fsync
};

/// A process that has a job taken, the next one refused, and is killed; 0 = it was refused.
int killed_when_refused(const std::string& path, const Case& how) {
  const pid_t child = ::fork();
  if (child == 0) {
    FailingDisk::mount();
    auto store = Store::open(path);
    if (!store || !put(*store, 1, how.before)) ::_exit(1);
    FailingDisk::fail(how.failures);
    if (put(*store, 2, how.refused)) ::_exit(2);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
}

TEST(Refused, StaysRefusedWhenTheDiskFailsAtTheLastMomentAndTheServiceIsKilled) {
  constexpr int kForGood = 1000;
  constexpr std::size_t kManyPages = 200'000;
  constexpr std::size_t kUntilTheLogBeginsAnew = 6'000'000;
  for (const Case& how : std::vector<Case>{{100, 100, 1},
                                           {100, kManyPages, 1},
                                           {100, kManyPages, kForGood},
                                           {kUntilTheLogBeginsAnew, 100, 1},
                                           {kUntilTheLogBeginsAnew, kManyPages, kForGood}}) {
    const TemporaryFolder folder;
    const std::string path = folder / "almanac.db";
    ASSERT_EQ(killed_when_refused(path, how), 0);
    auto store = Store::open(path);
    ASSERT_TRUE(store) << to_string(store.error());
    EXPECT_EQ(store->last_number().value(), JobNumber{1})
        << how.before << " " << how.refused << " " << how.failures;
    EXPECT_TRUE(put(*store, 2, how.refused));
  }
}

}  // namespace
}  // namespace almanac::store
