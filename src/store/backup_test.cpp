// SPDX-License-Identifier: Apache-2.0

/// \file
/// A copy holds what the store held, is made beside its service, and takes its place again.
#include "store/backup.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/schema.h"
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
  const std::string path = folder / "almanac.db";
  const std::string kept = folder / "copy.db";
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
  const std::string path = folder / "almanac.db";
  const std::string kept = folder / "copy.db";
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
  for (const std::string& bad : {text, empty, std::string(folder / "missing")}) {
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
