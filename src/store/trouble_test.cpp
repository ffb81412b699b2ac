// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the store does where the disk, another program or a bad hand gets in its way.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/rng.h"
#include "store/store.h"
#include "support/temporary_folder.h"
#include "text/utf8.h"

namespace almanac::store {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

Job waiting_job(std::int64_t number, std::size_t script_bytes = 0) {
  Job job;
  job.number = JobNumber{number};
  job.asked.change().argv = {"sleep", "1"};
  // No two are alike, so that each needs its room.
  job.asked.change().script = std::to_string(number) + std::string(script_bytes, 'x');
  return job;
}

Result<void> put(Store& store, const Job& job) {
  Store::Batch batch;
  batch.put(job);
  return store.commit(batch);
}

/// A store with `jobs` jobs at the path, closed.
void make(const std::string& path, int jobs) {
  Store store = Store::open(path).value();
  Store::Batch batch;
  for (int number = 1; number <= jobs; ++number) batch.put(waiting_job(number, 100));
  ASSERT_TRUE(store.commit(batch));
}

Error refused(const std::string& path) {
  const auto store = Store::open(path);
  EXPECT_FALSE(store);
  return store ? Error{} : store.error();
}

TEST(StoreInTrouble, RefusesASecondServiceOnTheSameFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  {
    const Store store = Store::open(path).value();
    const Error error = refused(path);
    EXPECT_EQ(error.code, Code::conflict);
    EXPECT_THAT(to_string(error), HasSubstr("another Almanac has this store open"));
    // In another process too; what it tried takes nothing from us.
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Store::open(path) ? 1 : 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_TRUE(Store::open(path));
}

TEST(StoreInTrouble, IsForItsOwnerAlone) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "almanac.db").value();
  ASSERT_TRUE(put(store, waiting_job(1)));
  for (const char* name : {"almanac.db", "almanac.db-wal", "almanac.db-shm"}) {
    struct stat found {};
    ASSERT_EQ(::stat((folder / name).c_str(), &found), 0) << name;
    EXPECT_EQ(found.st_mode & 0777U, 0600U) << name;
  }
}

TEST(StoreInTrouble, FollowsNoLinkToALock) {
  const TemporaryFolder folder;
  const std::string other = folder.write("others", "precious");
  fs::create_symlink(other, folder / "almanac.db.lock");
  const Error error = refused(folder / "almanac.db");
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_THAT(error.message, HasSubstr("is a symbolic link"));
}

TEST(StoreInTrouble, NeedsAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(refused(folder / "gone/almanac.db").code, Code::not_found);
}

TEST(StoreInTrouble, RefusesWhatIsNoStore) {
  const TemporaryFolder folder;
  EXPECT_EQ(refused(folder.write("text.db", std::string(5'000, 'a'))).code, Code::corrupt);
  {
    SQLite::Database other(folder / "other.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE photo (id INTEGER)");
  }
  const Error error = refused(folder / "other.db");
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_THAT(error.message, HasSubstr("another program"));
}

TEST(StoreInTrouble, SaysOfDamageNoByteThatIsNoText) {
  const TemporaryFolder folder;
  make(folder / "almanac.db", 1);
  {
    SQLite::Database damages(folder / "almanac.db", SQLite::OPEN_READWRITE);
    damages.exec(
        "PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET name = CAST(x'6afff0' AS TEXT), sql = CAST(x'6afff0' AS TEXT) "
        "WHERE name = 'job'");
  }
  const std::string said = to_string(refused(folder / "almanac.db"));
  EXPECT_THAT(said, HasSubstr("the store is damaged"));
  EXPECT_THAT(said, HasSubstr("j\xEF\xBF\xBD"));
  EXPECT_EQ(text::mend_utf8(said), said);
}

TEST(StoreInTrouble, RefusesTheTablesOfALaterVersion) {
  const TemporaryFolder folder;
  make(folder / "almanac.db", 1);
  {
    SQLite::Database later(folder / "almanac.db", SQLite::OPEN_READWRITE);
    later.exec("PRAGMA user_version = 99");
  }
  const Error error = refused(folder / "almanac.db");
  EXPECT_EQ(error.code, Code::unsupported);
  EXPECT_THAT(error.message, HasSubstr("tables version 99, this version knows"));
}

TEST(StoreInTrouble, WaitsForAShellButNotForEver) {
  const TemporaryFolder folder;
  Store store = Store::open(folder / "almanac.db").value();
  SQLite::Database shell(folder / "almanac.db", SQLite::OPEN_READWRITE);
  shell.exec("BEGIN IMMEDIATE");
  const auto done = put(store, waiting_job(1));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  shell.exec("ROLLBACK");
  EXPECT_TRUE(put(store, waiting_job(1)));
}

/// Writes until the disk is full; then makes room and writes on. Gives "" if all was as it should.
std::string fill_up(const std::string& path, const std::function<void()>& make_room) {
  Store store = Store::open(path).value();
  std::int64_t number = 0;
  constexpr std::int64_t kEnough = 10'000;
  while (++number < kEnough) {
    const auto done = put(store, waiting_job(number, 20'000));
    if (done) continue;
    if (done.error().code != Code::unavailable) return to_string(done.error());
    break;
  }
  if (number == kEnough) return "the disk did not fill";
  const auto after = [&] { return static_cast<std::int64_t>(store.unfinished()->size()); };
  if (after() != number - 1) return "there is not what was acknowledged";
  // The store's own thread may have taken a checkpoint meanwhile, which makes room in the log.
  if (put(store, waiting_job(number, 20'000))) ++number;
  make_room();
  if (const auto done = put(store, waiting_job(number, 20'000)); !done)
    return to_string(done.error());
  return after() == number ? "" : "the last is not there";
}

/// Runs `act` in a process of its own; whether it gave "". What it gave instead is printed.
bool apart(const std::function<std::string()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string wrong = act();
    std::cerr << wrong << std::endl;
    ::_exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(StoreInTrouble, GoesOnWhenAFileMayGrowAgain) {
  const TemporaryFolder folder;
  const auto limit_files = [](rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  EXPECT_TRUE(apart([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    limit_files(2'000'000);
    return fill_up(folder / "almanac.db", [&] { limit_files(RLIM_INFINITY); });
  }));
}

/// Puts an empty disk of 2 MB onto a folder, seen by this process alone; false = we may not.
bool mount_small_disk(const std::string& folder) {
  const int name_spaces = ::getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
  return ::unshare(name_spaces) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, "size=2m") == 0;
}

bool may_mount() {
  const TemporaryFolder folder;
  return apart([&] { return mount_small_disk(folder / "") ? "" : "no disk can be mounted here"; });
}

TEST(StoreInTrouble, GoesOnWhenAFullDiskHasRoomAgain) {
  if (!may_mount()) GTEST_SKIP() << "needs to mount a disk";
  const TemporaryFolder folder;
  EXPECT_TRUE(apart([&]() -> std::string {
    if (!mount_small_disk(folder / "")) return "no disk";
    folder.write("ballast", std::string(500'000, 'x'));
    return fill_up(folder / "almanac.db", [&] { fs::remove(folder / "ballast"); });
  }));
}

TEST(StoreInTrouble, RefusesADiskThatCannotBeWritten) {
  if (!may_mount()) GTEST_SKIP() << "needs to mount a disk";
  const TemporaryFolder folder;
  EXPECT_TRUE(apart([&]() -> std::string {
    if (!mount_small_disk(folder / "")) return "no disk";
    make(folder / "almanac.db", 3);
    if (::mount("none", (folder / "").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=2m") != 0) {
      return "cannot be made read-only";
    }
    const Error error = refused(folder / "almanac.db");
    return error.code == Code::unavailable ? "" : to_string(error);
  }));
}

/// Everything that can be read of a store is read; gives how many jobs.
std::size_t read_all(const Store& store) {
  (void)store.last_number();
  (void)store.unfinished();
  (void)store.moments(kNoTime);
  (void)store.log(kNoTime);
  const auto jobs = store.jobs({});
  if (!jobs) return 0;
  for (const Job& job : *jobs) {
    (void)store.job(job.number);
    (void)store.notes(job.number);
    (void)store.told(job.number);
  }
  return jobs->size();
}

TEST(StoreInTrouble, TellsDamageAndNeverFallsOverIt) {
  const TemporaryFolder folder;
  const std::string sound = folder / "sound.db";
  make(sound, 200);
  const auto size = static_cast<std::int64_t>(fs::file_size(sound));
  const std::string path = folder / "almanac.db";
  Rng random(7);
  int refusals = 0;
  constexpr int kTries = 60;
  for (int i = 0; i < kTries; ++i) {
    fs::copy_file(sound, path, fs::copy_options::overwrite_existing);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(random.below(static_cast<std::uint64_t>(size)));
      file << std::string(64, '\xa5');
    }
    const auto store = Store::open(path);
    if (store) {
      read_all(*store);
      continue;
    }
    ++refusals;
    EXPECT_EQ(store.error().code, Code::corrupt) << to_string(store.error());
    EXPECT_THAT(store.error().hint, HasSubstr(".recover"));
  }
  EXPECT_GT(refusals, 0);
}

TEST(StoreInTrouble, TellsAFileThatWasCutOff) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  make(path, 200);
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_EQ(refused(path).code, Code::corrupt);
}

}  // namespace
}  // namespace almanac::store
