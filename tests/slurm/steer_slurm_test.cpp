// SPDX-License-Identifier: Apache-2.0

/// \file
/// The daemon at a real Slurm: its queue is brought into the order of the policy, and starts in it;
/// jobs that are exempt are left alone; all of it can be taken back; and Slurm goes on without it.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurm/test_cluster.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

using Numbers = std::vector<std::uint32_t>;

std::string program() {
  const char* const told = std::getenv("ALMANAC_PROGRAM");
  return told != nullptr ? told : "almanac";
}

/// almanac serve --engine slurm, as a process.
class Daemon {
 public:
  Daemon(const std::string& state, const std::string& more)
      : state_(state),
        process_(begin(fmt::format("exec {} serve --engine slurm --state {} {} >> {}.log 2>&1",
                                   program(), state, more, state))) {}
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() { end(SIGTERM); }

  void end(int signal) {
    if (process_ <= 0) return;
    ::kill(process_, signal);
    wait();
  }
  /// Its exit status.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool answers() const {
    return eventually([&] { return ::access((state_ + "/status.json").c_str(), R_OK) == 0; });
  }

 private:
  static pid_t begin(const std::string& line) {
    std::string shell = "/bin/sh";
    std::string flag = "-c";
    std::string text = line;
    char* const argv[] = {shell.data(), flag.data(), text.data(), nullptr};
    pid_t made = -1;
    ::posix_spawn(&made, shell.c_str(), nullptr, nullptr, argv, environ);
    return made;
  }

  std::string state_;
  pid_t process_;
};

/// Jobs that want all nodes, of 9, 8, ... minutes; they wait until `blocker` is cancelled.
struct Queue {
  std::uint32_t blocker = 0;
  Numbers jobs{};

  explicit Queue(const TestCluster& cluster) {
    blocker = cluster.submit("-N 8 --gres=gpu:8 -t 60 --wrap 'sleep 3600'");
    EXPECT_TRUE(cluster.becomes(blocker, "RUNNING"));
    for (int minutes = 9; minutes > 4; --minutes) {
      jobs.push_back(cluster.submit(fmt::format("-N 8 --gres=gpu:8 -t {} --wrap 'true'", minutes)));
    }
  }
};

std::int64_t priority(const TestCluster& cluster, std::uint32_t job) {
  return std::atoll(cluster.of_job(job, "prioritylong").c_str());
}

Numbers by_priority(const TestCluster& cluster, Numbers jobs) {
  std::map<std::uint32_t, std::int64_t> known;
  for (const std::uint32_t job : jobs) known[job] = priority(cluster, job);
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return known[a] > known[b]; });
  return jobs;
}

/// As scontrol tells; seconds are all that it knows.
std::string start_of(const TestCluster& cluster, std::uint32_t job) {
  const std::string told = cluster.must(fmt::format("scontrol show job {}", job));
  const auto at = told.find("StartTime=");
  return told.substr(at + 10, 19);
}

TEST(SteerSlurm, StartsJobsInTheOrderOfThePolicy) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const Queue queue(cluster);
  const auto exempt = cluster.submit("-N 8 --gres=gpu:8 -t 1 --uid=nobody -D /tmp --wrap 'true'");
  cluster.must(fmt::format("scontrol update jobid={} priority=77", exempt));
  const TemporaryFolder folder;
  const std::string levers = folder.write("levers.toml", "[exempt]\nusers = [\"nobody\"]\n");
  Daemon daemon(folder / "state", "--policy sjf+limit --order on --levers " + levers);
  const Numbers wanted(queue.jobs.rbegin(), queue.jobs.rend());
  EXPECT_TRUE(eventually([&] { return by_priority(cluster, queue.jobs) == wanted; }));
  EXPECT_EQ(priority(cluster, exempt), 77);
  cluster.must(fmt::format("scancel {} {}", exempt, queue.blocker));
  for (const std::uint32_t job : wanted) EXPECT_TRUE(cluster.becomes(job, "COMPLETED"));
  for (std::size_t at = 1; at < wanted.size(); ++at) {
    EXPECT_LE(start_of(cluster, wanted[at - 1]), start_of(cluster, wanted[at]));
  }
}

TEST(SteerSlurm, LetsWhatItHeldStartWhenItIsKilledAndNeverComesBack) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const TemporaryFolder folder;
  const std::string levers = folder / "levers.toml";
  cluster.must(fmt::format("printf '[levers]\\nplacement = \"on\"\\n' > {}", levers));
  const Queue queue(cluster);
  Daemon daemon(folder / "state",
                fmt::format("--policy sjf+limit --way commands --levers {}", levers));
  ASSERT_TRUE(daemon.answers());
  const auto all = [&](const std::function<bool(std::uint32_t)>& is) {
    return std::all_of(queue.jobs.begin(), queue.jobs.end(), is);
  };
  ASSERT_TRUE(eventually([&] {
    return all([&](std::uint32_t job) { return cluster.of_job(job, "reason") == "BeginTime"; });
  }));
  daemon.end(SIGKILL);
  cluster.must(fmt::format("scancel {}", queue.blocker));
  for (const std::uint32_t job : queue.jobs) EXPECT_EQ(cluster.of_job(job, "state"), "PENDING");
  EXPECT_TRUE(eventually(
      [&] {
        return all([&](std::uint32_t job) { return cluster.of_job(job, "state") != "PENDING"; });
      },
      400));
}

/// Until when Almanac holds it, in seconds; 0 = it does not.
std::int64_t held_until(const TestCluster& cluster, std::uint32_t job) {
  const std::string told = cluster.must(fmt::format("scontrol show job {}", job));
  const std::string mark = "AdminComment=placed by almanac until ";
  const auto at = told.find(mark);
  return at == std::string::npos ? 0 : std::atoll(told.c_str() + at + mark.size());
}

TEST(SteerSlurm, KeepsItsHoldsOverKillsAndGivesBackArraysToo) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const TemporaryFolder folder;
  const std::string levers = folder.write("levers.toml", "[levers]\nplacement = \"on\"\n");
  const std::string options = "--policy sjf+limit --way commands --levers " + levers;
  const std::string state = folder / "state";
  const Queue queue(cluster);
  const auto array = cluster.submit("--array=0-2%2 -N 8 --gres=gpu:8 -t 4 --wrap 'true'");
  Numbers held = queue.jobs;
  held.push_back(array);
  const auto all = [&](const std::function<bool(std::uint32_t)>& is) {
    return std::all_of(held.begin(), held.end(), is);
  };
  std::map<std::uint32_t, std::int64_t> before;
  for (int kills = 0; kills < 3; ++kills) {
    Daemon daemon(state, options);
    // Held, and held on by the one that comes after a kill.
    ASSERT_TRUE(eventually([&] {
      return all([&](std::uint32_t job) { return held_until(cluster, job) > before[job]; });
    })) << kills;
    for (const std::uint32_t job : held) before[job] = held_until(cluster, job);
    const auto told = cluster.must(fmt::format("{} slurm status --state {}", program(), state));
    EXPECT_EQ(told.find("another program or person"), std::string::npos) << told;
    daemon.end(SIGKILL);
  }
  EXPECT_EQ(
      cluster.run(fmt::format("{} slurm undo --way commands --state {}", program(), state)).status,
      0);
  EXPECT_TRUE(all([&](std::uint32_t job) { return held_until(cluster, job) == 0; }));
  cluster.must(fmt::format("scancel {}", queue.blocker));
  for (const std::uint32_t job : queue.jobs) EXPECT_TRUE(cluster.becomes(job, "COMPLETED")) << job;
  EXPECT_TRUE(eventually([&] {
    return cluster.must(fmt::format("scontrol show job {} | grep -c JobState=COMPLETED || true",
                                    array)) == "3";
  }));
}

TEST(SteerSlurm, TakesBackWhatItDid) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const Queue queue(cluster);
  std::map<std::uint32_t, std::int64_t> before;
  for (const std::uint32_t job : queue.jobs) before[job] = priority(cluster, job);
  const TemporaryFolder folder;
  const std::string state = folder / "state";
  Daemon daemon(state, "--policy sjf+limit --order on");
  const Numbers wanted(queue.jobs.rbegin(), queue.jobs.rend());
  EXPECT_TRUE(eventually([&] { return by_priority(cluster, queue.jobs) == wanted; }));

  const auto has_all_back = [&] {
    return std::all_of(queue.jobs.begin(), queue.jobs.end(),
                       [&](std::uint32_t job) { return priority(cluster, job) == before[job]; });
  };
  EXPECT_EQ(cluster.run(fmt::format("{} slurm undo --state {}", program(), state)).status, 0);
  EXPECT_TRUE(eventually(has_all_back));
  cluster.must(fmt::format("{} slurm levers order on --state {}", program(), state));
  EXPECT_TRUE(eventually([&] { return by_priority(cluster, queue.jobs) == wanted; }));
  daemon.end(SIGKILL);
  EXPECT_EQ(cluster.run(fmt::format("{} slurm undo --state {}", program(), state)).status, 0);
  EXPECT_TRUE(eventually(has_all_back));
}

TEST(SteerSlurm, LeavesAloneThePrioritiesThatAnAdministratorHasSet) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const Queue queue(cluster);
  const std::uint32_t own = queue.jobs.front();
  cluster.must(fmt::format("scontrol update jobid={} priority=77777", own));
  const TemporaryFolder folder;
  const std::string state = folder / "state";
  const Daemon daemon(state, "--policy sjf+limit --order on");
  const Numbers others(queue.jobs.begin() + 1, queue.jobs.end());
  const Numbers wanted(others.rbegin(), others.rend());
  EXPECT_TRUE(eventually([&] { return by_priority(cluster, others) == wanted; }));
  EXPECT_EQ(priority(cluster, own), 77'777);
  EXPECT_TRUE(eventually([&] {  // the status is written every other second
    const auto told = cluster.must(fmt::format("{} slurm status --state {}", program(), state));
    return told.find("1 waiting jobs have a priority set by an administrator") != std::string::npos;
  }));
  EXPECT_EQ(cluster.run(fmt::format("{} slurm undo --state {}", program(), state)).status, 0);
  EXPECT_EQ(priority(cluster, own), 77'777);
}

TEST(SteerSlurm, DoesNothingUnlessItIsTold) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const Queue queue(cluster);
  const TemporaryFolder folder;
  const Daemon daemon(folder / "state", "--policy sjf+limit");
  ASSERT_TRUE(daemon.answers());
  const auto told =
      cluster.must(fmt::format("{} slurm status --state {}", program(), folder / "state"));
  EXPECT_NE(told.find("order       dry"), std::string::npos) << told;
  EXPECT_EQ(by_priority(cluster, queue.jobs), queue.jobs);
}

TEST(SteerSlurm, SaysWhyABatchJobFailedByItsLog) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const TemporaryFolder folder;
  // The way that is found by itself is the gateway, where that was built.
  for (const std::string& way : {std::string("--way commands"), std::string()}) {
    const std::string state = folder / (way.empty() ? "found" : "commands");
    Daemon daemon(state, "--policy sjf+limit " + way);
    ASSERT_TRUE(daemon.answers());
    // Where Slurm puts it by itself, and where the job says, by a pattern.
    for (const std::string& where :
         {fmt::format("-D {}", folder / ""), fmt::format("-o {}", folder / "job-%j.log")}) {
      // Not by submit(), which has jobs write nowhere.
      const auto job = static_cast<std::uint32_t>(
          std::atoll(cluster
                         .must("sbatch --parsable " + where +
                               " --gres=gpu:1 -t 5 --wrap 'echo CUDA out of memory; exit 1'")
                         .c_str()));
      ASSERT_TRUE(cluster.becomes(job, "FAILED"));
      const std::string explain =
          fmt::format("{} explain {} --socket {}/almanac.sock || true", program(), job, state);
      const auto is_told = [&] {
        return cluster.must(explain).find("its log says: GPU out of memory, line 1") !=
               std::string::npos;
      };
      // The thread that judges gives way to all else on the machine.
      EXPECT_TRUE(eventually(is_told)) << way << where << cluster.must(explain);
    }
  }
}

TEST(SteerSlurm, LeavesSlurmToItselfWhenItIsKilled) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const Queue queue(cluster);
  const TemporaryFolder folder;
  Daemon daemon(folder / "state", "--policy sjf+limit --order on");
  const Numbers wanted(queue.jobs.rbegin(), queue.jobs.rend());
  EXPECT_TRUE(eventually([&] { return by_priority(cluster, queue.jobs) == wanted; }));
  Daemon second(folder / "other", "--policy fifo --order on");
  EXPECT_NE(second.wait(), 0) << "two daemons at one Slurm";
  daemon.end(SIGKILL);
  const auto late = cluster.submit("-N 8 --gres=gpu:8 -t 1 --wrap 'true'");
  cluster.must(fmt::format("scancel {}", queue.blocker));
  for (const std::uint32_t job : wanted) EXPECT_TRUE(cluster.becomes(job, "COMPLETED"));
  EXPECT_TRUE(cluster.becomes(late, "COMPLETED"));
}

TEST(SteerSlurm, GoesOnWhenTheControllerComesBack) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster;
  const Queue queue(cluster);
  const TemporaryFolder folder;
  Daemon daemon(folder / "state", "--policy sjf+limit --order on");
  ASSERT_TRUE(daemon.answers());
  cluster.end_controller("TERM");  // a kill may lose jobs that it took in the last seconds
  cluster.start_controller();
  const auto late = cluster.submit("-N 8 --gres=gpu:8 -t 1 --wrap 'true'");
  Numbers all = queue.jobs;
  all.push_back(late);
  const Numbers wanted(all.rbegin(), all.rend());
  EXPECT_TRUE(eventually([&] { return by_priority(cluster, all) == wanted; }));
}

}  // namespace
}  // namespace almanac::slurm
