// SPDX-License-Identifier: Apache-2.0
#include "process/job.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/cgroup.h"
#include "process/cpus.h"
#include "process/device_fence.h"
#include "process/pipe.h"
#include "support/temporary_folder.h"

namespace almanac::process {
namespace {

using testing::HasSubstr;

/// Waits for something that takes a moment; a minute is for machines under load.
bool comes_true(const std::function<bool()>& fact) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (fact()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Command shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

Job started(const Command& command) {
  Result<Job> job = Job::start(command);
  if (!job) throw std::runtime_error(to_string(job.error()));
  return std::move(*job);
}

Ending ending_of(Job& job) {
  EXPECT_TRUE(comes_true([&] { return job.ended().has_value(); }));
  return job.ended().value_or(Ending{.status = -1});
}

/// What a command writes, read to its end.
std::string output_of(Command command) {
  Pipe pipe = Pipe::create().value();
  command.out = pipe.write.get();
  command.err = pipe.write.get();
  Job job = started(command);
  pipe.write.close();
  std::string text;
  EXPECT_TRUE(comes_true([&] { return !read_available(pipe.read, text); }));
  return text;
}

bool lives(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string id;
  std::string name;
  std::string state;
  return stat >> id >> name >> state && state != "Z";
}

/// The process ids that scripts wrote into a file, one a line.
std::vector<pid_t> ids_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<pid_t> ids;
  for (pid_t id = 0; file >> id;) ids.push_back(id);
  return ids;
}

TEST(JobTest, TellsHowACommandEnded) {
  Job fine = started(shell("exit 0"));
  EXPECT_TRUE(ending_of(fine).good());
  Job bad = started(shell("exit 3"));
  EXPECT_EQ(to_string(ending_of(bad)), "exit status 3");
  Job killed = started(shell("kill -9 $$"));
  EXPECT_EQ(to_string(ending_of(killed)), "killed by signal 9 (Killed)");
}

TEST(JobTest, SaysWhatCannotBeRun) {
  const auto none = Job::start({.argv = {"no-such-program-here"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_EQ(to_string(none.error()),
            "cannot run no-such-program-here: No such file or directory (check that it is "
            "installed and in PATH)");
  const auto nowhere = Job::start({.argv = {"true"}, .directory = "/no/such/folder"});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(to_string(nowhere.error()), HasSubstr("cannot enter /no/such/folder: No such"));
}

TEST(JobTest, RunsWhereAndWithWhatItIsTold) {
  Command command = shell("pwd; echo $GREETING; echo $0; ls /proc/self/fd | wc -l; cat");
  command.directory = "/";
  command.environment = {{"GREETING", "hello there"}};
  EXPECT_EQ(output_of(command), "/\nhello there\n/bin/sh\n4\n");  // 0, 1, 2 and that of ls
}

TEST(JobTest, BindsToItsProcessors) {
  const std::vector<int> all = allowed_cpus();
  ASSERT_FALSE(all.empty());
  Command command{.argv = {"nproc"}};
  command.cpus = {all.back()};
  EXPECT_EQ(output_of(command), "1\n");
  command.cpus = {};
  EXPECT_EQ(output_of(command), std::to_string(all.size()) + "\n");
}

TEST(JobTest, EndsAllThatItStarted) {
  const TemporaryFolder folder;
  const std::string ids = folder / "ids";
  // A child, one that ignores SIGTERM, and a daemon: a session of its own, its parent gone.
  Job job = started(shell("sleep 1000 & echo $! >>" + ids +
                          "; (trap '' TERM; while :; do sleep 1; done) & echo $! >>" + ids +
                          "; (setsid sh -c 'echo $$ >>" + ids + "; sleep 1000' &); wait"));
  ASSERT_TRUE(comes_true([&] { return ids_in(ids).size() == 3; }));
  EXPECT_GE(job.usage().processes, 4);
  EXPECT_EQ(job.end(std::chrono::milliseconds(50)), 0);
  for (const pid_t id : ids_in(ids)) EXPECT_FALSE(lives(id)) << id;
  EXPECT_FALSE(lives(job.process()));
}

TEST(JobTest, LetsACommandEndInGoodOrder) {
  const TemporaryFolder folder;
  Job job = started(shell("trap 'echo bye >" + (folder / "said") + "; exit 0' TERM; touch " +
                          (folder / "ready") + "; while :; do sleep 0.01; done"));
  ASSERT_TRUE(comes_true([&] { return folder.size() == 1; }));
  EXPECT_EQ(job.end(std::chrono::minutes(1)), 0);
  std::string said;
  std::getline(std::ifstream(folder / "said") >> std::ws, said);
  EXPECT_EQ(said, "bye");
}

TEST(JobTest, WhatADeadCommandLeftBehindIsStillItsOwn) {
  const TemporaryFolder folder;
  const std::string ids = folder / "ids";
  Job job = started(shell("setsid sleep 1000 & echo $! >" + ids));
  EXPECT_TRUE(ending_of(job).good());
  ASSERT_EQ(ids_in(ids).size(), 1);
  EXPECT_TRUE(lives(ids_in(ids).front()));
  EXPECT_EQ(job.usage().processes, 1);
  job.end(Duration{0});
  EXPECT_FALSE(lives(ids_in(ids).front()));
}

TEST(JobTest, DiesWithItsOwner) {
  const TemporaryFolder folder;
  const std::string ids = folder / "ids";
  const pid_t owner = ::fork();
  if (owner == 0) {
    const Result<Job> job = Job::start(shell("setsid sleep 1000 & echo $! >" + ids + "; wait"));
    for (;;) ::pause();
  }
  ASSERT_TRUE(comes_true([&] { return ids_in(ids).size() == 1; }));
  const pid_t left = ids_in(ids).front();
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return !lives(left); }));
}

TEST(JobTest, CountsTheProcessorTimeOfThoseThatEndedToo) {
  const TemporaryFolder folder;
  Job job =
      started(shell("for i in 1 2; do sh -c 'n=0; while [ $n -lt 500000 ]; do n=$((n+1)); "
                    "done'; done; touch " +
                    (folder / "done") + "; exec sleep 1000"));
  EXPECT_TRUE(comes_true([&] { return folder.size() == 1 && job.usage().processes == 1; }));
  // A million rounds of a shell take at least 20 ns each; sleep itself takes next to nothing.
  EXPECT_GE(job.usage().cpu_s, 0.02);
  // A process that becomes another has none for a moment.
  EXPECT_TRUE(comes_true([&] { return job.usage().memory_gb > 0; }));
}

TEST(CgroupTest, WritesLimitsWhereTheyAreOffered) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "slice/scope");
  folder.write("cgroup.controllers", "cpu memory io");
  folder.write("cgroup.subtree_control", "cpu memory");
  folder.write("slice/cgroup.controllers", "cpu");
  folder.write("slice/cgroup.subtree_control", "cpu");
  folder.write("slice/scope/cgroup.controllers", "");
  const CgroupTree tree{.mount = folder / ".", .own = "/slice/scope"};
  // A folder of ours is no kernel: the files of the new group do not come by themselves.
  const auto made = Cgroup::create(tree, "job", {.cpus = 2, .memory_gb = 3});
  ASSERT_FALSE(made);
  // In the first that offers both; and it is gone again.
  EXPECT_THAT(to_string(made.error()), HasSubstr("cannot set limits in " + (folder / "./job:")));
  EXPECT_EQ(folder.size(), 3);
  const auto none = Cgroup::create({}, "job", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(to_string(none.error()), "cgroup v2 is not mounted");
}

TEST(CgroupTest, SetsNoLimitsBelowAGroupThatHasProcesses) {
  const TemporaryFolder folder;
  // As for a service of systemd with Delegate=yes, in which we are, below the root.
  std::filesystem::create_directories(folder / "service");
  folder.write("service/cgroup.type", "domain\n");
  folder.write("service/cgroup.procs", "4711\n");
  folder.write("service/cgroup.controllers", "cpu memory\n");
  const std::string shared_out = folder.write("service/cgroup.subtree_control", "");
  folder.write("cgroup.procs", "1\n");
  folder.write("cgroup.subtree_control", "cpu memory\n");
  const auto made = Cgroup::create({.mount = folder / ".", .own = "/service"}, "job", {.cpus = 2});
  ASSERT_FALSE(made);
  // Beside us, not below; a folder of ours is no kernel, so that it ends there.
  EXPECT_THAT(to_string(made.error()), HasSubstr("cannot set limits in " + (folder / "./job:")));
  EXPECT_EQ(std::filesystem::file_size(shared_out), 0U);
}

TEST(CgroupTest, HoldsAndKillsARealJob) {
  auto group = Cgroup::create(cgroup_tree(), "almanac-test-" + std::to_string(::getpid()), {});
  if (!group) GTEST_SKIP() << to_string(group.error());
  const std::string path = group->path();
  Command command = shell("sleep 1000 & sleep 1000");
  command.cgroup = &*group;
  Job job = started(command);
  const auto members = [&] {
    std::ifstream procs(path + "/processes/cgroup.procs");
    return std::distance(std::istream_iterator<pid_t>(procs), {});
  };
  EXPECT_TRUE(comes_true([&] { return members() == 3; }));
  group->kill();
  EXPECT_EQ(ending_of(job).signal, SIGKILL);
  EXPECT_TRUE(comes_true([&] { return members() == 0; }));
  group = Cgroup::create({}, "", {});
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DeviceFence, ClosesAllButThoseThatAreOpen) {
  auto group = Cgroup::create(cgroup_tree(), "almanac-test-" + std::to_string(::getpid()), {});
  if (!group) GTEST_SKIP() << to_string(group.error());
  // 1 is memory: 3 /dev/null, 5 /dev/zero, 8 /dev/random, 9 /dev/urandom.
  const auto closed = close_devices(group->path(), {.major = 1, .end = 9, .open = {2, 3}});
  if (!closed) GTEST_SKIP() << to_string(closed.error());
  const auto opens = [&](const std::string& device) {
    Command command = shell("exec 3<" + device);
    command.cgroup = &*group;
    Job job = started(command);
    return ending_of(job).status == 0;
  };
  EXPECT_TRUE(opens("/dev/null"));
  EXPECT_FALSE(opens("/dev/zero"));
  EXPECT_FALSE(opens("/dev/random"));
  EXPECT_TRUE(opens("/dev/urandom")) << "its number is not below the end";
  EXPECT_TRUE(opens("/dev/ptmx")) << "it is another driver's";
  ASSERT_TRUE(close_devices(group->path(), {.major = 1, .end = 4, .open = {}}));
  EXPECT_FALSE(opens("/dev/null")) << "the second program closes what the first leaves open";
}

TEST(DeviceFence, SaysWhatIsMissing) {
  const auto closed = close_devices("/no such group", {.major = 1, .end = 9});
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Code::unsupported);
}

}  // namespace
}  // namespace almanac::process
