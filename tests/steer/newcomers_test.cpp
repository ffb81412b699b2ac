// SPDX-License-Identifier: Apache-2.0

/// \file
/// What Slurm's plugin hears of a job that is just being submitted.
#include "steer_slurm/newcomers.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake_link.h"
#include "process/descriptor.h"
#include "steer/announced.h"
#include "steer/decider.h"
#include "steer_slurm/slurm_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using steer_slurm::Answer;
using steer_slurm::Newcomers;
using steer_slurm::read_question;

/// One question as the plugin puts it.
std::string ask(const std::string& path, const std::string& question) {
  const process::Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return "no listener";
  }
  EXPECT_EQ(::send(socket.get(), question.data(), question.size(), 0), ssize_t(question.size()));
  std::string answer(4096, '\0');
  const ssize_t length = ::recv(socket.get(), answer.data(), answer.size(), 0);
  return length < 0 ? "no answer" : answer.substr(0, static_cast<std::size_t>(length));
}

TEST(Question, IsAJobWithoutANumber) {
  const auto job = read_question(
      "almanac-job-submit 1\nuid 1001\nname two words\naccount vision\npartition v100\nqos prior\n"
      "tres_per_node gres:gpu:v100:4\nnodes 2\ntasks 8\ncpus_per_task 6\nmemory_mb 65536\n"
      "limit_min 90\n");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->uid, 1001U);
  EXPECT_EQ(job->name, "two words");
  EXPECT_EQ(job->partition, "v100");
  EXPECT_EQ(job->gpus, 8);
  EXPECT_EQ(job->gpu_type, "v100");
  EXPECT_EQ(job->nodes, 2);
  EXPECT_EQ(job->cpus, 48);
  EXPECT_EQ(job->memory_gb, 128);
  EXPECT_EQ(job->limit, 90min);
}

TEST(Question, MaySayLittleOrTooMuch) {
  const auto little = read_question("almanac-job-submit 1\nuid 0\n");
  ASSERT_TRUE(little);
  EXPECT_EQ(little->gpus, 0);
  EXPECT_EQ(little->nodes, 1);
  EXPECT_EQ(little->limit, kNoDuration);
  const auto much = read_question(
      "almanac-job-submit 1\nuid 0\nnodes 999999999\ntasks 999999999\ntres_per_node "
      "gpu:2000000000\n"
      "tres_per_task gpu:2000000000\n");
  ASSERT_TRUE(much);
  EXPECT_GT(much->gpus, 0);
  EXPECT_FALSE(read_question(""));
  EXPECT_FALSE(read_question("almanac-job-submit 2\nuid 0\n"));
  EXPECT_FALSE(read_question("almanac-job-submit 1\nuid -1\n"));
}

TEST(NewcomersTest, AreAnsweredOneByOne) {
  const TemporaryFolder folder;
  const std::string path = folder / "job_submit.sock";
  auto listening = Newcomers::listen(path, 0, [](const manager::Job& job) {
    return job.gpus == 0 ? Answer{}
                         : Answer{.site_factor = 100 - job.gpus, .hold = job.gpus > 8 ? 120s : 0s};
  });
  ASSERT_TRUE(listening);
  EXPECT_EQ(ask(path, "almanac-job-submit 1\nuid 0\ntres_per_job gpu:3\n"), "site_factor 97\n");
  EXPECT_EQ(ask(path, "almanac-job-submit 1\nuid 0\ntres_per_job gpu:9\n"),
            "site_factor 91\nhold 120\n");
  EXPECT_EQ(ask(path, "almanac-job-submit 1\nuid 0\n"), "pass\n");
  EXPECT_EQ(ask(path, "what is this"), "pass\n");
  listening->reset();
  EXPECT_EQ(ask(path, "almanac-job-submit 1\nuid 0\n"), "no listener");
}

TEST(NewcomersTest, NobodyButSlurmsUserConnects) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a socket away";
  const TemporaryFolder folder;
  ::chmod((folder / "").c_str(), 0755);
  const std::string path = folder / "job_submit.sock";
  constexpr uid_t kSlurm = 4321;
  const auto listening =
      Newcomers::listen(path, kSlurm, [](const manager::Job&) { return Answer{}; });
  ASSERT_TRUE(listening);
  struct stat about {};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, kSlurm);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  ::setfsuid(kSlurm + 1);
  EXPECT_EQ(ask(path, "almanac-job-submit 1\nuid 0\n"), "no listener");
  ::setfsuid(0);
  EXPECT_EQ(ask(path, "almanac-job-submit 1\nuid 0\n"), "pass\n");
}

// Shortest first: what the policy believes of run times is what users say here.
TEST(NewcomersTest, StandWhereThePolicyWouldHaveThem) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 8, 1h).limit = 10h;
  slurm.pass(0s);
  const auto second = slurm.submit("ann", 8, 1h);
  const auto third = slurm.submit("ann", 8, 1h);
  slurm.jobs.at(second.number).job.limit = 2h;
  slurm.jobs.at(third.number).job.limit = 4h;
  FakeLink link(slurm);
  Mirror mirror;
  mirror.take(*link.news());
  Decider decider(*compose("sjf+limit"), {}, 0);
  decider.decide(mirror, make_world(mirror, Grouping::partitions), {});

  manager::Job newcomer{.number = manager::JobNumber{1'000'000}, .user = "bob", .partition = "v"};
  newcomer.gpus = 8;
  newcomer.submit = mirror.at();
  newcomer.limit = 3h;
  EXPECT_EQ(decider.line_with(newcomer),
            (std::vector{second.number, newcomer.number, third.number}));
  manager::Job another = newcomer;
  another.number = manager::JobNumber{1'000'001};
  another.limit = 1h;
  EXPECT_EQ(decider.line_with(another),
            (std::vector{another.number, second.number, newcomer.number, third.number}));
  manager::Job too_large = newcomer;
  too_large.number = manager::JobNumber{1'000'002};
  too_large.gpus = 16;
  EXPECT_TRUE(decider.line_with(too_large).empty());

  // A decision that is made before the controller tells of it has it all the same.
  decider.decide(mirror, make_world(mirror, Grouping::partitions), {}, std::vector{newcomer});
  EXPECT_EQ(decider.last().lines.front().jobs,
            (std::vector{second.number, newcomer.number, third.number}));
}

TEST(AnnouncedTest, AreKnownUntilTheControllerTellsOfThem) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  FakeLink link(slurm);
  Mirror mirror;
  mirror.take(*link.news());
  Announced announced;
  for (const std::int64_t factor : {100, 200}) {
    manager::Job job{.number = announced.next_number(), .uid = 1000};
    job.submit = mirror.at();
    announced.add(job, factor);
  }
  const manager::JobNumber first = announced.jobs()[0].number;
  const manager::JobNumber second = announced.jobs()[1].number;
  EXPECT_NE(first, second);
  EXPECT_EQ(announced.site_factor(second), 200);
  EXPECT_TRUE(announced.look(mirror, {}).empty());
  slurm.submit("ann", 8, 1h).site_factor = 100;
  mirror.take(*link.news());
  EXPECT_EQ(announced.look(mirror, {}), std::vector{first});
  EXPECT_FALSE(announced.site_factor(first));
  // The controller has not told of the second: it was refused.
  slurm.pass(3s);
  mirror.take(*link.news());
  EXPECT_EQ(announced.look(mirror, {}), std::vector{second});
}

// The controller's news is always somewhat old. A job that has come since keeps the place that it
// has.
TEST(AnnouncedTest, KeepTheirPlaceOverADecision) {
  FakeSlurm slurm;
  slurm.site.cluster = "announced";
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 8, 1h);
  slurm.pass(0s);
  const TemporaryFolder folder;
  Config config{.state = folder / "state", .policy = "sjf+limit", .policy_is_told = true};
  config.settings.levers["order"] = Switch::on;
  auto service = steer_slurm::SlurmService::open(config, std::make_unique<FakeLink>(slurm));
  ASSERT_TRUE(service) << to_string(service.error());
  const auto factor_of = [&](int minutes) {
    const std::string answer = ask(
        config.state + "/job_submit.sock",
        fmt::format("almanac-job-submit 1\nuid 0\npartition v\ntres_per_job gpu:8\nlimit_min {}\n",
                    minutes));
    return std::stoll(answer.substr(answer.find(' ')));
  };
  const auto ten = factor_of(10);
  slurm.submit("ann", 8, 1h).limit = 5h;  // that there is something to decide
  (*service)->step();
  const auto twenty = factor_of(20);
  const auto five = factor_of(5);
  EXPECT_LT(twenty, ten);
  EXPECT_GT(five, ten);
}

}  // namespace
}  // namespace almanac::steer
