// SPDX-License-Identifier: Apache-2.0

/// \file
/// Kills the starter and the shepherd of a run at each of their steps. Whatever the moment: the
/// folder says what has happened, the command ran at most once, and nothing is left.
#include <array>
#include <atomic>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "shepherd/folder.h"
#include "shepherd/record.h"
#include "shepherd/runs.h"
#include "shepherd/stepped.h"

namespace almanac::shepherd {
namespace {

using Found = shepherd::Run::Found;

/// How often commands of a test ran.
std::size_t runs_of(const Runs& runs) { return runs.has("count") ? runs.text("count").size() : 0; }

Spec counting(const Runs& runs, const std::string& then = "") {
  return runs.shell("printf x >>$HERE/count; " + then);
}

TEST(CrashTest, AStarterMayDieAtAnyStep) {
  if (!can_step()) GTEST_SKIP() << "no right to trace";
  int began = 0;
  int never = 0;
  bool killed = true;
  for (int step = 1; killed; ++step) {
    const Runs runs;
    const Spec spec = counting(runs, "exit 4");
    killed = killed_before(step, [&] {
      const auto run = shepherd::Run::start(runs.path("1.1"), spec);
      ::_exit(0);
    });
    const Found found = shepherd::Run::look(runs.path("1.1"));
    if (found == Found::never_started) {
      ++never;
      EXPECT_EQ(shepherd::Run::adopt(runs.path("1.1")).error().code, Code::not_found);
      EXPECT_TRUE(runs.alive().empty()) << "before " << step;
      EXPECT_EQ(runs_of(runs), 0) << "before " << step;
      continue;
    }
    ++began;
    EXPECT_NE(found, Found::lost) << "before " << step;
    auto run = shepherd::Run::adopt(runs.path("1.1"));
    ASSERT_TRUE(run) << to_string(run.error());
    EXPECT_EQ(Runs::exit_of(*run).ending.status, 4);
    EXPECT_EQ(runs_of(runs), 1) << "before " << step;
  }
  // Both were seen, or the test tests nothing.
  EXPECT_GT(never, 0);
  EXPECT_GT(began, 0);
}

/// What Run::start does, up to the point where it would spawn.
int prepare(const std::string& folder, const Spec& spec) {
  ::mkdir(folder.c_str(), 0711);
  const int lock = ::open((folder + kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ::flock(lock, LOCK_EX);
  EXPECT_TRUE(write_file(folder + kSpecFile, to_json(spec).value()));
  return lock;
}

[[noreturn]] void become_shepherd(const std::string& folder, int lock) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(null, standard);
  ::dup2(lock, kLockDescriptor);
  ::fcntl(kLockDescriptor, F_SETFD, 0);
  ::execl(std::getenv("ALMANAC_SHEPHERD"), "almanac-shepherd", folder.c_str(), nullptr);
  ::_exit(127);
}

TEST(CrashTest, AShepherdMayDieAtAnyStep) {
  if (!can_step()) GTEST_SKIP() << "no right to trace";
  std::array<int, 3> seen{};
  bool killed = true;
  for (int step = 1; killed; ++step) {
    const Runs runs;
    const std::string folder = runs.path("1.1");
    // A second process, which hears nothing of the death of the shepherd.
    const int lock = prepare(folder, counting(runs, "sh -c 'sleep 0.01; :' & wait; exit 4"));
    killed = killed_before(step, [&] { become_shepherd(folder, lock); });
    ::close(lock);
    // The child of a killed shepherd dies a moment later, and holds the lock until then.
    ASSERT_TRUE(comes_true([&] { return shepherd::Run::look(folder) != Found::lives; }));
    const Found found = shepherd::Run::look(folder);
    switch (found) {
      case Found::never_started:
        ++seen[0];
        EXPECT_EQ(runs_of(runs), 0) << "before " << step;
        EXPECT_TRUE(runs.alive().empty()) << "before " << step;
        break;
      case Found::lost: {
        ++seen[1];
        auto run = shepherd::Run::adopt(folder);
        ASSERT_TRUE(run);
        EXPECT_EQ(Runs::end_of(*run).kind, Outcome::Kind::lost);
        EXPECT_TRUE(runs.alive().empty()) << "before " << step;
        EXPECT_LE(runs_of(runs), 1) << "before " << step;
        break;
      }
      case Found::ended: {
        ++seen[2];
        auto run = shepherd::Run::adopt(folder);
        ASSERT_TRUE(run);
        EXPECT_EQ(Runs::exit_of(*run).ending.status, 4);
        EXPECT_EQ(runs_of(runs), 1) << "before " << step;
        break;
      }
      case Found::lives:
      case Found::unreadable:
        ADD_FAILURE() << "before " << step;
        break;
    }
  }
  for (const int count : seen) {
    EXPECT_GT(count, 0);
  }
}

TEST(CrashTest, WhoLooksAllTheTimeSeesItLiveAndEnd) {
  const Runs runs;
  for (int at = 0; at < 20; ++at) {
    Spec spec = runs.shell("exit 4");
    spec.id = std::to_string(at);
    const std::string folder = runs.path(spec.id);
    std::atomic<bool> done = false;
    std::vector<Found> seen{Found::never_started};
    std::thread watcher([&] {
      while (!done || seen.back() != Found::ended) {
        const Found found = shepherd::Run::look(folder);
        if (found != seen.back()) seen.push_back(found);
        if (seen.size() > 10) return;
      }
    });
    EXPECT_EQ(runs.result(spec).ending.status, 4);
    done = true;
    watcher.join();
    EXPECT_THAT(
        seen, testing::AnyOf(testing::ElementsAre(Found::never_started, Found::lives, Found::ended),
                             testing::ElementsAre(Found::never_started, Found::ended)));
  }
}

TEST(CrashTest, WhatAKilledShepherdLeavesIsKilledAndNobodyElse) {
  const Runs runs;
  shepherd::Run run = runs.start(
      runs.shell("setsid sh -c 'echo >$HERE/ready; trap \"\" TERM; while :; do sleep 1; done' & "
                 "sleep 1000"));
  Spec other = runs.shell("exec sleep 1000");
  other.id = "1.11";
  other.environment.push_back("ALMANAC_RUN=" + runs.path("1.1"));  // ours comes in its place
  shepherd::Run neighbour = runs.start(other);
  ASSERT_TRUE(runs.comes("ready"));
  ASSERT_TRUE(comes_true([&] { return neighbour.process() > 0; }));
  const pid_t command = run.process();
  ::kill(Runs::shepherd_of(command), SIGKILL);

  EXPECT_EQ(Runs::end_of(run).kind, Outcome::Kind::lost);
  EXPECT_EQ(shepherd::Run::look(run.folder()), Found::lost);
  EXPECT_EQ(runs.alive(),
            (std::set<pid_t>{neighbour.process(), Runs::shepherd_of(neighbour.process())}));
  EXPECT_EQ(shepherd::Run::look(neighbour.folder()), Found::lives);
  neighbour.end();
  EXPECT_EQ(Runs::exit_of(neighbour).cause, Cause::told);
}

// Nothing in its environment says whose it is: its control group does, though the run has no
// limits.
TEST(CrashTest, WhatHasWipedItsEnvironmentIsKilledToo) {
  const Runs runs;
  shepherd::Run run = runs.start(runs.shell(
      "env -i setsid sh -c 'echo $$ >'$HERE'/ready; while :; do sleep 1; done' & sleep 1000"));
  ASSERT_TRUE(runs.comes("ready"));
  ASSERT_TRUE(comes_true([&] { return !runs.text("ready").empty() && run.process() > 0; }));
  if (read_record<Started>(run.folder() + kStartedFile)->cgroup.empty()) {
    run.end_now();
    Runs::exit_of(run);
    GTEST_SKIP() << "no control group can be made here: it needs root and cgroup v2";
  }
  const pid_t wiped = std::stoi(runs.text("ready"));
  ::kill(run.shepherd(), SIGKILL);
  EXPECT_EQ(Runs::end_of(run).kind, Outcome::Kind::lost);
  EXPECT_TRUE(comes_true([&] { return ::kill(wiped, 0) != 0; }));
}

TEST(CrashTest, ARunOfBeforeTheMachineStartedAnewIsLost) {
  const Runs runs;
  const std::string folder = runs.path("1.1");
  ::close(prepare(folder, runs.shell("")));
  EXPECT_EQ(shepherd::Run::look(folder), Found::never_started);
  ASSERT_TRUE(write_file(folder + kStartedFile, to_json(Started{.boot = "another"})));
  EXPECT_EQ(shepherd::Run::look(folder), Found::lost);
  auto run = shepherd::Run::adopt(folder);
  ASSERT_TRUE(run);
  EXPECT_EQ(Runs::end_of(*run).kind, Outcome::Kind::lost);
}

}  // namespace
}  // namespace almanac::shepherd
