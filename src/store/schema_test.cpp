// SPDX-License-Identifier: Apache-2.0

/// \file
/// A file of an older version becomes one of today's, and what it said is still said.
#include "store/schema.h"

#include <gtest/gtest.h>

#include "store/store.h"
#include "support/temporary_folder.h"

namespace almanac::store {
namespace {

using trace::JobState;

/// A file as version `version` left it, with what `sql` adds.
std::string file_of(const TemporaryFolder& folder, std::int64_t version, const std::string& sql) {
  const std::string path = folder / "almanac.db";
  { const SQLite::Database made(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE); }
  Connection connection(path, Connection::Access::write);
  bring_up_to_date(connection, version);
  EXPECT_EQ(connection.number_of("user_version"), version);
  connection.database().exec(sql);
  return path;
}

constexpr const char* kAsked =
    "INSERT INTO submission (number, name, user, uid, gid, vc, qos, model, gpus, max_gpus, "
    "gpu_share, gpu_type, batch, steps, argv, directory, out, err, hold, after_what, requeue, "
    "at_once) VALUES (1, 'train', 'ann', 7, 7, '', '', '', 2, 0, 1, '', 0, 0, x'6c7300', '/', '', "
    "'', 0, 'any', 0, 0);";

/// Of jobs of that submission, which wait, were stopped, run and have ended.
constexpr const char* kFourJobs =
    "INSERT INTO job (number, submission, submit_ms, state, held, since_ms, start_ms, end_ms, "
    "attained_ms, attempts, preemptions, signal, reason) VALUES "
    "(1, 1, 1000, 'PENDING', 0, 9000, NULL, NULL, 0, 3, 0, 0, ''), "
    "(2, 1, 1000, 'PENDING', 0, 9000, 2000, NULL, 7000, 1, 1, 0, ''), "
    "(3, 1, 1000, 'RUNNING', 0, 2000, 2000, NULL, 0, 1, 0, 0, ''), "
    "(4, 1, 1000, 'COMPLETED', 0, 2000, 2000, 5000, 3000, 2, 0, 0, '');";

TEST(Schema, KeepsTheJobsOfTheFirstVersion) {
  const TemporaryFolder folder;
  const std::string path = file_of(folder, 1, std::string(kAsked) + kFourJobs);
  const Store store = Store::open(path).value();
  const auto job = [&](std::int64_t number) {
    return store.job(JobNumber{number}).value().value();
  };
  EXPECT_EQ(job(4).state, JobState::completed);
  EXPECT_EQ(job(4).attained, 3s);
  EXPECT_EQ(job(4).attempts, 2);
  EXPECT_EQ(job(2).asked->user, "ann");
  EXPECT_EQ(job(2).asked->argv, std::vector<std::string>{"ls"});
  EXPECT_EQ(job(2).asked->io_mbs, std::nullopt);
  // One that had run, and waited as if it never had, was to begin again.
  EXPECT_EQ(job(1).annulled, 3);
  EXPECT_EQ(job(2).annulled, 0);
  EXPECT_EQ(job(3).annulled, 0);
  EXPECT_EQ(job(3).energy, Energy());
}

TEST(Schema, KeepsWhatJobsOfTheFirstVersionsComeAfter) {
  for (const std::string what : {"any", "ok", "not_ok"}) {
    const TemporaryFolder folder;
    const std::string path =
        file_of(folder, 5,
                std::string(kAsked) + kFourJobs +
                    "UPDATE submission SET after = '[7,8]', after_what = '" + what + "';");
    const Store store = Store::open(path).value();
    const Submission asked = store.job(JobNumber{1}).value().value().asked;
    const std::vector<JobNumber> both{JobNumber{7}, JobNumber{8}};
    const std::vector<JobNumber> none;
    EXPECT_EQ(asked.after, what == "any" ? both : none);
    EXPECT_EQ(asked.after_ok, what == "ok" ? both : none);
    EXPECT_EQ(asked.after_not_ok, what == "not_ok" ? both : none);
  }
}

TEST(Schema, TellsWhatIsWantedFromWhy) {
  const TemporaryFolder folder;
  const std::string path = file_of(
      folder, 11,
      "INSERT INTO submission (number, name, user, uid, gid, vc, qos, model, gpus, max_gpus, "
      "gpu_share, gpu_type, batch, steps, argv, directory, out, err, hold, requeue, at_once) "
      "VALUES (1, 'train', 'ann', 7, 7, '', '', '', 2, 0, 1, '', 0, 0, x'6c7300', '/', '', '', 0, "
      "0, 0);" +
          std::string(kFourJobs) +
          "UPDATE job SET reason = 'to run again' WHERE number = 2;"
          "UPDATE job SET reason = 'cancelled by user 7' WHERE number = 3;"
          "UPDATE job SET reason = 'cancelled by user 7', state = 'CANCELLED' WHERE number = 4;");
  const Store store = Store::open(path).value();
  const auto told = [&](std::int64_t number) {
    const Job job = store.job(JobNumber{number}).value().value();
    return std::pair(job.intent, job.reason);
  };
  EXPECT_EQ(told(1), std::pair(Intent::none, std::string()));
  EXPECT_EQ(told(2), std::pair(Intent::run_again, std::string()));
  EXPECT_EQ(told(3), std::pair(Intent::end, std::string("cancelled by user 7")));
  EXPECT_EQ(told(4), std::pair(Intent::none, std::string("cancelled by user 7")));
}

TEST(Schema, AddsColumnsOfNewAttributes) {
  const TemporaryFolder folder;
  // As an Almanac left it that did not know the attribute.
  const std::string path = file_of(
      folder, newest_version(),
      "INSERT INTO submission (number, name, user, uid, gid, vc, qos, model, gpus, max_gpus, "
      "gpu_share, gpu_type, batch, steps, argv, directory, out, err, hold, requeue, at_once) "
      "VALUES (1, 'train', 'ann', 7, 7, '', '', '', 2, 0, 1, '', 0, 0, x'6c7300', '/', '', '', 0, "
      "0, 0);" +
          std::string(kFourJobs) + "ALTER TABLE submission DROP COLUMN retries;");
  const Store store = Store::open(path).value();
  const Submission asked = store.job(JobNumber{1}).value().value().asked;
  EXPECT_EQ(asked.name, "train");
  EXPECT_EQ(asked.retries, 0);
  EXPECT_EQ(store.copy_of_before(), path + ".version-" + std::to_string(newest_version()));
}

TEST(Schema, RefusesAttributesOfALaterAlmanac) {
  const TemporaryFolder folder;
  const std::string path =
      file_of(folder, newest_version(), "ALTER TABLE submission ADD COLUMN colour TEXT");
  const auto refused = Store::open(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_NE(refused.error().message.find("jobs have a column colour"), std::string::npos);
}

TEST(Schema, DoesNotKnowWhatToldTheWattsOfTheFirstVersion) {
  const TemporaryFolder folder;
  const std::string path = file_of(folder, 1,
                                   "INSERT INTO moment (at_ms, gpus, gpus_busy, jobs_running, "
                                   "jobs_waiting, power_w) VALUES (1000, 8, 4, 2, 1, 900);");
  Store store = Store::open(path).value();
  Store::Batch batch;
  batch.sample({.at = Time(2s), .power_w = 800, .power_is_measured = true});
  ASSERT_TRUE(store.commit(batch));
  const auto moments = store.moments(Time{}).value();
  ASSERT_EQ(moments.size(), 2U);
  EXPECT_EQ(moments[0].power_w, 900);
  EXPECT_EQ(moments[0].power_is_measured, std::nullopt);
  EXPECT_EQ(moments[1].power_is_measured, true);
}

}  // namespace
}  // namespace almanac::store
