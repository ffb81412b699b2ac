// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that is killed at any moment has lost nothing that it acknowledged.
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "store/store.h"
#include "support/temporary_folder.h"

namespace almanac::store {
namespace {

/// Jobs of a batch: all of them are there, or none.
constexpr std::int64_t kTogether = 3;

/// Commits batches of jobs forever, and ends the one before; writes the last number of each into
/// the pipe once the store has it.
[[noreturn]] void commit_on(const std::string& path, int acknowledge) {
  auto store = Store::open(path);
  if (!store) ::_exit(1);
  for (auto number = static_cast<std::int64_t>(store->last_number().value());;) {
    Store::Batch batch;
    for (std::int64_t i = 0; i < kTogether; ++i) {
      Job job;
      job.number = JobNumber{++number};
      job.asked.change().argv = {"sleep", std::to_string(number)};
      job.asked.change().environment = {"A=" + std::to_string(number / 100)};
      batch.put(job);
      batch.note({Time(1s), job.number, "submitted", ""});
      if (number <= kTogether) continue;
      Job before = store->job(JobNumber{number - kTogether}).value().value();
      before.state = trace::JobState::completed;
      before.end = Time(number * 1s);
      batch.put(before);
      batch.note({before.end, before.number, "ended", ""});
    }
    if (!store->commit(batch)) ::_exit(1);
    if (::write(acknowledge, &number, sizeof number) != sizeof number) ::_exit(1);
  }
}

/// Lets a child commit for `length`, kills it; gives the last number that it acknowledged.
std::int64_t killed_after(const std::string& path, Duration length) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    commit_on(path, pipe[1]);
  }
  ::close(pipe[1]);
  std::this_thread::sleep_for(length);
  ::kill(child, SIGKILL);
  std::int64_t last = 0;
  while (::read(pipe[0], &last, sizeof last) == sizeof last) continue;
  ::close(pipe[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  return last;
}

TEST(StoreThatIsKilled, HasAllThatItAcknowledgedAndNothingHalf) {
  const TemporaryFolder folder;
  const std::string path = folder / "almanac.db";
  Rng random(11);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 40; ++round) {
    acknowledged = std::max(acknowledged,
                            killed_after(path, Duration(1 + static_cast<int>(random.below(120)))));
    const auto store = Store::open(path);
    ASSERT_TRUE(store) << to_string(store.error());
    const auto last = static_cast<std::int64_t>(store->last_number().value());
    ASSERT_GE(last, acknowledged);
    ASSERT_EQ(last % kTogether, 0);
    const std::vector<Job> jobs = store->jobs({}).value();
    ASSERT_EQ(jobs.size(), static_cast<std::size_t>(last));
    for (const Job& job : jobs) {
      // The last batch waits, all before have ended; notes tell the same.
      const bool waits = static_cast<std::int64_t>(job.number) > last - kTogether;
      ASSERT_EQ(job.state, waits ? trace::JobState::pending : trace::JobState::completed);
    }
    for (std::int64_t number = std::max<std::int64_t>(1, last - 20); number <= last; ++number) {
      const Job job = store->job(JobNumber{number}).value().value();
      ASSERT_EQ(job.asked->argv, (std::vector<std::string>{"sleep", std::to_string(number)}));
      ASSERT_EQ(job.asked->environment.size(), 1U);
      ASSERT_EQ(store->notes(job.number)->size(), number > last - kTogether ? 1U : 2U);
    }
  }
  EXPECT_GT(acknowledged, 0);
}

}  // namespace
}  // namespace almanac::store
