// SPDX-License-Identifier: Apache-2.0

/// \file
/// A real Slurm through a real slurmrestd: it tells what Slurm's commands tell; over a Unix socket
/// it has the rights of the user who runs it, over TCP those of the token; the lever order works by
/// it, and the others say why they do not.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurm/connect.h"
#include "slurm/test_cluster.h"
#include "steer/control.h"
#include "steer/node_weight.h"
#include "steer_slurm/slurm_service.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

using testing::HasSubstr;

#define SKIP_WITHOUT_SLURMREST()                                                          \
  if (std::system("PATH=$PATH:/usr/sbin; command -v slurmrestd setpriv >/dev/null") != 0) \
  GTEST_SKIP() << "no slurmrestd to test with (tools/packages)"

constexpr const char* kAsNobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups";
constexpr const char* kTcp = "http://127.0.0.1:6820";

/// slurmrestd, as a process; without accounting it wants to be told to leave that out.
class Restd {
 public:
  Restd(const std::string& as, const std::string& place) {
    std::string words[] = {
        "/bin/sh", "-c",
        fmt::format("PATH=$PATH:/usr/sbin; exec {} slurmrestd -s openapi/v0.0.38 "
                    "{} >/dev/null 2>&1",
                    as, place)};
    char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    ::posix_spawn(&process_, "/bin/sh", nullptr, nullptr, argv, environ);
  }
  Restd(const Restd&) = delete;
  Restd& operator=(const Restd&) = delete;
  ~Restd() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

class RestSlurmTest : public testing::Test {
 protected:
  void begin(int nodes) {
    std::ofstream(folder_ / "key") << std::string(32, 'k');
    ASSERT_EQ(::chmod((folder_ / "key").c_str(), 0644), 0);
    ASSERT_EQ(::chmod((folder_ / ".").c_str(), 0777), 0);
    // No test waits longer for a controller that is gone.
    cluster_.emplace(TestPlan{.nodes = nodes,
                              .more = fmt::format("AuthAltTypes=auth/jwt\n"
                                                  "AuthAltParameters=jwt_key={}\nMessageTimeout=2",
                                                  folder_ / "key")});
  }
  /// A way that answers.
  std::unique_ptr<Link> way(const std::string& place) {
    std::unique_ptr<Link> made;
    const bool answers = eventually([&] {
      auto link = connect(place);
      if (!link || !(*link)->site()) return false;
      made = std::move(*link);
      return true;
    });
    EXPECT_TRUE(answers) << place;
    return made;
  }
  std::string socket(const std::string& name) const { return "unix:" + (folder_ / name); }

  TemporaryFolder folder_;
  std::optional<TestCluster> cluster_;
};

TEST_F(RestSlurmTest, HasTheRightsOfWhoRunsItOverASocket) {
  SKIP_WITHOUT_SLURM(.nodes = 2);
  SKIP_WITHOUT_SLURMREST();
  begin(2);
  const auto runs = cluster_->submit("-N 2 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster_->becomes(runs, "RUNNING"));
  const auto job = cluster_->submit("-N 2 --gres=gpu:8 --wrap true");
  const auto next = cluster_->submit("-N 2 --gres=gpu:8 --wrap true");
  const Restd of_nobody(kAsNobody, socket("nobody"));
  const Restd of_root("env SLURMRESTD_SECURITY=disable_user_check", socket("root"));
  const auto weak = way(socket("nobody"));
  const auto strong = way(socket("root"));
  ASSERT_TRUE(weak && strong);
  EXPECT_EQ(weak->site()->is_operator, std::nullopt);
  EXPECT_EQ(weak->site()->uid, 65534U);
  EXPECT_EQ(strong->site()->is_operator, true);

  const auto news = weak->news();
  ASSERT_TRUE(news) << to_string(news.error());
  const auto told = (*connect("commands"))->news();
  ASSERT_TRUE(told);
  EXPECT_EQ(news->nodes, told->nodes);
  ASSERT_EQ(news->jobs.size(), 3U);
  EXPECT_EQ(news->jobs, told->jobs);
  ASSERT_EQ(news->partitions->size(), told->partitions->size());
  for (std::size_t at = 0; at < told->partitions->size(); ++at) {
    EXPECT_EQ(news->partitions->at(at).name, told->partitions->at(at).name);
    EXPECT_EQ(news->partitions->at(at).nodes, told->partitions->at(at).nodes);
  }
  EXPECT_EQ(news->licences, told->licences);

  const std::vector<JobChange> changes{{.job = JobNumber{job}, .priority = 77},
                                       {.job = JobNumber{next}, .priority = 78}};
  const auto refused = weak->change(changes);
  EXPECT_EQ(refused[0].error().code, Code::unsupported) << to_string(refused[0].error());
  EXPECT_EQ(refused[1].error().code, Code::unsupported) << "each is asked";
  for (const auto& done : strong->change(changes)) EXPECT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(cluster_->of_job(job, "prioritylong"), "77");
  EXPECT_TRUE(strong->change(std::vector<JobChange>{{.job = JobNumber{job}, .held = true}})[0]);
  EXPECT_EQ(cluster_->of_job(job, "reason"), "JobHeldAdmin");

  cluster_->end_controller("KILL");
  for (const auto& done : strong->change(changes)) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::unavailable);
    EXPECT_THAT(done.error().hint, HasSubstr("the controller did not answer"));
  }
}

TEST_F(RestSlurmTest, TellsARefusalWithoutAReasonFromSilence) {
  SKIP_WITHOUT_SLURM(.nodes = 2);
  SKIP_WITHOUT_SLURMREST();
  begin(2);
  const auto runs = cluster_->submit("-N 2 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster_->becomes(runs, "RUNNING"));
  const auto refused = cluster_->submit("-N 2 --gres=gpu:8 --comment=mine --wrap true");
  const auto array = cluster_->submit("-N 2 --gres=gpu:8 --array=1-3 --wrap true");
  const std::string etc = cluster_->folder() + "/etc/";
  std::ofstream(etc + "job_submit.lua")
      << "function slurm_job_submit(job, partitions, uid) return slurm.SUCCESS end\n"
         "function slurm_job_modify(job, record, partitions, uid)\n"
         "  return record.comment == 'mine' and slurm.ERROR or slurm.SUCCESS\n"
         "end\n"
         "return slurm.SUCCESS\n";
  std::ofstream(etc + "slurm.conf", std::ios::app) << "JobSubmitPlugins=lua\n";
  cluster_->end_controller("TERM");
  cluster_->start_controller();
  const Restd restd("env SLURMRESTD_SECURITY=disable_user_check", socket("root"));
  const auto link = way(socket("root"));
  ASSERT_NE(link, nullptr);
  const std::vector<JobChange> changes{{.job = JobNumber{refused}, .priority = 77},
                                       {.job = JobNumber{array}, .priority = 78}};
  const auto done = link->change(changes);
  ASSERT_FALSE(done[0]);
  EXPECT_EQ(done[0].error().code, Code::invalid) << to_string(done[0].error());
  EXPECT_TRUE(done[1]) << to_string(done[1].error());
  EXPECT_EQ(cluster_->of_job(array, "prioritylong"), "78");
}

TEST_F(RestSlurmTest, UndoSaysWhatThisWayCannot) {
  SKIP_WITHOUT_SLURM(.nodes = 2);
  SKIP_WITHOUT_SLURMREST();
  begin(2);
  const Restd restd("env SLURMRESTD_SECURITY=disable_user_check", socket("root"));
  ASSERT_NE(way(socket("root")), nullptr);
  std::filesystem::create_directory(folder_ / "state");
  std::ofstream(folder_ / "state/journal.jsonl") << "";
  cluster_->must(fmt::format("scontrol update NodeName=n002 Weight={}", 7 | steer::kSleeps));
  const auto undo = [&](const std::string& by) {
    return cluster_->run(fmt::format("{} slurm undo --state {} --way {}",
                                     std::getenv("ALMANAC_PROGRAM"), folder_ / "state", by));
  };
  const Said by_rest = undo(socket("root"));
  EXPECT_EQ(by_rest.status, 1);
  EXPECT_THAT(by_rest.out, HasSubstr("not taken back: n002: weight 7"));
  EXPECT_THAT(by_rest.out, HasSubstr("undo --way commands"));
  const Said by_commands = undo("commands");
  EXPECT_EQ(by_commands.status, 0) << by_commands.out;
  EXPECT_THAT(cluster_->must("scontrol show node n002"), HasSubstr("Weight=7 "));
}

TEST_F(RestSlurmTest, OrdersJobsByATokenAndTakesItBack) {
  SKIP_WITHOUT_SLURM(.nodes = 2);
  SKIP_WITHOUT_SLURMREST();
  begin(2);
  const auto blocker = cluster_->submit("-N 2 --gres=gpu:8 -t 60 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster_->becomes(blocker, "RUNNING"));
  std::vector<std::uint32_t> jobs;
  for (int minutes = 9; minutes > 4; --minutes) {
    jobs.push_back(cluster_->submit(fmt::format("-N 2 --gres=gpu:8 -t {} --wrap true", minutes)));
  }
  const auto priority = [&](std::uint32_t job) {
    return std::atoll(cluster_->of_job(job, "prioritylong").c_str());
  };
  std::map<std::uint32_t, std::int64_t> before;
  for (const std::uint32_t job : jobs) before[job] = priority(job);
  const Restd restd(fmt::format("env SLURM_JWT=daemon {}", kAsNobody), "127.0.0.1:6820");
  EXPECT_EQ(connect(kTcp).error().code, Code::usage) << "without a token";
  const std::string token = cluster_->must("scontrol token username=root lifespan=600");
  ::setenv("SLURM_JWT", token.substr(token.find('=') + 1).c_str(), 1);
  auto link = way(kTcp);
  ::unsetenv("SLURM_JWT");
  ASSERT_NE(link, nullptr);

  steer::Config config;
  config.state = folder_ / "state";
  config.policy = "sjf+limit";
  config.policy_is_told = true;
  for (const char* const lever : {"order", "placement", "preemption", "power"}) {
    config.settings.levers[lever] = steer::Switch::on;
  }
  const std::string state = config.state;
  auto service = steer_slurm::SlurmService::open(std::move(config), std::move(link));
  ASSERT_TRUE(service) << to_string(service.error());
  EXPECT_TRUE(eventually([&] {
    (*service)->step();
    return std::is_sorted(
               jobs.begin(), jobs.end(),
               [&](std::uint32_t a, std::uint32_t b) { return priority(a) < priority(b); }) &&
           priority(jobs.front()) != priority(jobs.back());
  })) << "the shortest, which came last, is first";
  for (const service::LeverView& lever : (*service)->status().manager.levers) {
    if (lever.how != steer::Switch::on) continue;
    EXPECT_EQ(lever.rests.empty(), lever.name == "order") << lever.name << ": " << lever.rests;
  }

  ASSERT_TRUE(steer::ask_for_undo(state));
  EXPECT_TRUE(eventually([&] {
    (*service)->step();
    return std::all_of(jobs.begin(), jobs.end(),
                       [&](std::uint32_t job) { return priority(job) == before[job]; });
  }));
}

}  // namespace
}  // namespace almanac::slurm
