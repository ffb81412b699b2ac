// SPDX-License-Identifier: Apache-2.0

/// \file
/// A copy has the contents of the store, is made while the service runs, and can replace the store.
#include "store/backup.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/failure.h"
#include "store/schema.h"
#include "store/seal.h"
#include "store/store.h"
#include "support/temporary_folder.h"

namespace almanac::store {
namespace {

void put(Store& store, std::int64_t number, const std::string& name) {
  Store::Batch batch;
  Job job{.number = JobNumber{number}, .asked = {}};
  job.asked.change().name = name;
  batch.put(job);
  ASSERT_TRUE(store.commit(batch));
}

std::string name_of(const std::string& path, std::int64_t number) {
  const Store store = Store::open(path).value();
  const auto job = store.job(JobNumber{number}).value();
  return job ? job->asked->name : "none";
}

TEST(Backup, IsMadeBesideTheServiceAndTakesItsPlace) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string path = folder / "almanac.db";
  const std::string kept = elsewhere / "copy.db";
  {
    Store store = Store::open(path).value();
    put(store, 1, "before");
    ASSERT_TRUE(back_up(path, kept));
    put(store, 2, "after");
    const auto restored = restore(kept, path);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, Code::conflict);
  }
  struct stat file {};
  ASSERT_EQ(::stat(kept.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600U);
  const auto restored = restore(kept, path);
  ASSERT_TRUE(restored) << to_string(restored.error());
  EXPECT_EQ(name_of(path, 1), "before");
  EXPECT_EQ(name_of(path, 2), "none");
  EXPECT_EQ(name_of(path + ".replaced", 2), "after");
}

TEST(Backup, HasNoEnvironmentsOfJobsThatHaveEnded) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string path = folder / "almanac.db";
  const std::string kept = elsewhere / "copy.db";
  Store store = Store::open(path).value();
  Store::Batch batch;
  for (const std::int64_t number : {1, 2}) {
    Job job{.number = JobNumber{number}, .asked = {}};
    job.asked.change().environment = {"SECRET=sesame" + std::to_string(number)};
    job.state = number == 1 ? trace::JobState::completed : trace::JobState::pending;
    if (number == 1) job.end = Time{1h};
    batch.put(job);
  }
  ASSERT_TRUE(store.commit(batch));
  ASSERT_TRUE(back_up(path, kept));
  std::ifstream file(kept, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.find("sesame1"), std::string::npos);
  EXPECT_NE(bytes.find("sesame2"), std::string::npos) << "it is yet to run";
  EXPECT_EQ(store.job(JobNumber{1}).value()->asked->environment.size(), 1U);
}

TEST(Backup, ReplacesNeitherTheStoreNorWhatIsNoPlainFile) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string path = folder / "almanac.db";
  Store store = Store::open(path).value();
  put(store, 1, "mine");
  const std::string hard = elsewhere / "hard";
  const std::string soft = elsewhere / "soft";
  const std::string fifo = elsewhere / "fifo";
  const std::string other_way = elsewhere / "other_way";
  std::filesystem::create_hard_link(path, hard);
  std::filesystem::create_symlink(path, soft);
  std::filesystem::create_directory_symlink(folder / "", other_way);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_directories(folder / "runs/1.1");
  for (const std::string& bad :
       {path, path + "-wal", path + ".lock", std::string(folder / "copy.db"),
        std::string(folder / "runs/../almanac.db"), std::string(folder / "runs/1.1/copy.db"),
        other_way + "/almanac.db", other_way + "/copy.db", hard, soft, fifo,
        std::string("/dev/full"), std::string(elsewhere / "")}) {
    const auto done = back_up(path, bad);
    ASSERT_FALSE(done) << bad;
    EXPECT_EQ(done.error().code, Code::invalid) << bad;
    EXPECT_NE(done.error().hint, "") << bad;
  }
  struct stat full {};
  ASSERT_EQ(::stat("/dev/full", &full), 0);
  EXPECT_TRUE(S_ISCHR(full.st_mode));
  put(store, 2, "mine too");
  EXPECT_EQ(store.job(JobNumber{1}).value()->asked->name, "mine");
  const std::string beside = elsewhere.write("copy.db.new", "somebody's");
  ASSERT_TRUE(back_up(path, elsewhere / "copy.db"));
  EXPECT_EQ(std::filesystem::file_size(beside), 10U) << "nothing else is touched";
}

/// Copies a file with one bit changed.
void flip(const std::string& from, const std::string& to, std::uintmax_t at) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  std::fstream file(to, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 4);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

/// Waits until another process has sealed the file.
bool waits_for_seal(const std::string& path) {
  for (int look = 0; look < 3000; ++look) {
    try {
      if (Seal(path).verify()) return true;
    } catch (const Refused&) {
      // It took the seal off while we read.
    }
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// Leaves the files of a service that was killed after `jobs` commits. The jobs come after the
/// first checkpoint: one between them would restart the log, and old frames that no one reads would
/// follow.
void leave_killed(const std::string& path, int jobs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const auto tell = [](int end) {
    const char sign = 1;
    return ::write(end, &sign, 1) == 1;
  };
  const auto hear = [](int end) {
    char sign = 0;
    return ::read(end, &sign, 1) == 1;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it outlives no test that fails
    Store store = Store::open(path).value();
    if (!tell(ends[1]) || !hear(ends[1])) ::_exit(1);
    for (int number = 1; number <= jobs; ++number) put(store, number, "mine");
    if (!tell(ends[1])) ::_exit(1);
    while (true) ::pause();
  }
  ::close(ends[1]);
  ASSERT_TRUE(hear(ends[0]));
  EXPECT_TRUE(waits_for_seal(path));
  ASSERT_TRUE(tell(ends[0]));
  ASSERT_TRUE(hear(ends[0]));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ends[0]);
}

TEST(Backup, AFlippedBitIsFoundInAStoreWhoseServiceWasKilled) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string path = folder / "almanac.db";
  { static_cast<void>(Store::open(path).value()); }
  leave_killed(path, 20);
  const std::string copy = elsewhere / "flipped.db";
  const auto opens = [&] {
    std::filesystem::remove(copy + "-shm");
    return Store::open(copy).map([](const auto&) {});
  };
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t at = 0; at < size; at += size / 97) {
    flip(path, copy, at);
    std::filesystem::copy_file(path + "-wal", copy + "-wal",
                               std::filesystem::copy_options::overwrite_existing);
    const auto opened = opens();
    ASSERT_FALSE(opened) << "file, byte " << at;
    EXPECT_EQ(opened.error().code, Code::corrupt) << at;
  }
  // The log: all but its last commits, which a power failure may tear.
  const auto log_size = std::filesystem::file_size(path + "-wal");
  for (std::uintmax_t at = 0; at < log_size * 4 / 5; at += log_size / 211) {
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    flip(path + "-wal", copy + "-wal", at);
    const auto opened = opens();
    ASSERT_FALSE(opened) << "log, byte " << at;
    EXPECT_EQ(opened.error().code, Code::corrupt) << at;
  }
  flip(path + "-wal", copy + "-wal", log_size - 5);
  EXPECT_TRUE(opens()) << "a torn last commit is no damage";
  EXPECT_EQ(name_of(copy, 19), "mine");
  EXPECT_EQ(name_of(copy, 20), "none");
  EXPECT_EQ(name_of(path, 20), "mine");
}

TEST(Backup, ASealComesBackAfterEachCheckpoint) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it outlives no test that fails
    Store store = Store::open(path).value();
    for (int number = 1; number <= 400; ++number) put(store, number, std::string(100'000, 'x'));
    while (true) ::pause();
  }
  // 40 MB of commits: the log has begun again, and the file has most of them.
  while (!std::filesystem::exists(path) || std::filesystem::file_size(path) < 16'000'000) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(waits_for_seal(path));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(Store::open(path));
}

TEST(Backup, AFlippedBitIsFound) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string path = folder / "almanac.db";
  const std::string kept = elsewhere / "copy.db";
  {
    Store store = Store::open(path).value();
    for (int number = 1; number <= 20; ++number) put(store, number, "mine");
    ASSERT_TRUE(back_up(path, kept));
  }
  // The store too: its service has ended in good order.
  const std::string flipped = elsewhere / "flipped.db";
  for (const std::string& whole : {kept, path}) {
    const auto size = std::filesystem::file_size(whole);
    for (std::uintmax_t at = 0; at < size; at += size / 97) {
      flip(whole, flipped, at);
      const auto restored = restore(flipped, folder / "restored.db");
      ASSERT_FALSE(restored) << at;
      EXPECT_EQ(restored.error().code, Code::corrupt) << at;
      const auto opened = Store::open(flipped);
      ASSERT_FALSE(opened) << at;
      EXPECT_EQ(opened.error().code, Code::corrupt) << at;
    }
  }
  EXPECT_EQ(name_of(path, 20), "mine");
  ASSERT_TRUE(restore(kept, path));
  EXPECT_EQ(name_of(path, 20), "mine");
}

TEST(Backup, OfAStoreThatAnotherProgramChangedTheSealIsGone) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  {
    Store store = Store::open(path).value();
    put(store, 1, "mine");
  }
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec("UPDATE submission SET name = 'yours'");
  EXPECT_EQ(name_of(path, 1), "yours");
}

TEST(Backup, RestoresNothingThatIsNoStore) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  {
    Store store = Store::open(path).value();
    put(store, 1, "mine");
  }
  const std::string text = folder / "text";
  std::ofstream(text) << "this is no database, and so it must not become one of ours\n";
  const std::string empty = folder / "empty";
  std::ofstream(empty).flush();
  for (const std::string& bad :
       {text, empty, std::string(folder / "missing"), std::string("/dev/zero"), path}) {
    EXPECT_FALSE(restore(bad, path)) << bad;
    EXPECT_EQ(name_of(path, 1), "mine");
  }
}

TEST(Backup, IsKeptBeforeTheTablesChange) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  { const SQLite::Database made(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE); }
  {
    Connection connection(path, Connection::Access::write);
    bring_up_to_date(connection, newest_version() - 1);
    connection.database().exec(R"sql(
INSERT INTO content VALUES (1, 'x', x'736573616d65');  -- "sesame"
INSERT INTO submission (number, name, user, uid, gid, vc, qos, model, gpus, max_gpus, gpu_share,
                        gpu_type, batch, steps, argv, directory, out, err, hold, requeue, at_once,
                        environment)
  VALUES (1, '', '', 0, 0, '', '', '', 1, 0, 1.0, '', 0, 0, x'', '', '', '', 0, 0, 0, 1);
INSERT INTO job (number, submission, submit_ms, state, held, since_ms, end_ms, attained_ms,
                 attempts, preemptions, signal, reason)
  VALUES (1, 1, 0, 'COMPLETED', 0, 0, 1000, 0, 1, 0, 0, '');
)sql");
  }
  const std::string kept = path + ".version-" + std::to_string(newest_version() - 1);
  EXPECT_EQ(Store::open(path)->copy_of_before(), kept);
  EXPECT_EQ(Store::open(path)->copy_of_before(), "") << "it is up to date";
  {
    Connection connection(kept, Connection::Access::read);
    EXPECT_EQ(version_of(connection), newest_version() - 1);
  }
  std::ifstream file(kept, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.find("sesame"), std::string::npos) << "what the environment of an ended job said";
  ASSERT_TRUE(restore(kept, path));
  EXPECT_TRUE(Store::open(path));
}

}  // namespace
}  // namespace almanac::store
