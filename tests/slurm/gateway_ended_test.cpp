// SPDX-License-Identifier: Apache-2.0

/// \file
/// The past of a real Slurm with accounting: the gateway and Slurm's commands tell the same.
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "slurm/command_link.h"
#include "slurm/gateway_link.h"
#include "slurm/test_cluster.h"

namespace almanac::slurm {
namespace {

std::vector<Job> ended(Link& link, Time from, Time until) {
  std::vector<Job> jobs;
  const auto done = link.ended(from, until, [&](Job&& job) -> Result<void> {
    jobs.push_back(std::move(job));
    return {};
  });
  EXPECT_TRUE(done) << to_string(done.error());
  return jobs;
}

auto told(const Job& job) {
  return std::tuple(job.number, job.array, job.task, job.name, job.user, job.account, job.partition,
                    job.qos, job.state, job.outcome, job.submit, job.start, job.end, job.ran,
                    job.limit, job.gpus, job.gpu_type, job.nodes, job.cpus, job.memory_gb);
}

TEST(GatewayEndedTest, IsWhatSacctTells) {
  SKIP_WITHOUT_SLURM(.accounting = true);
  const Time before = wall_clock() - 1min;
  const TestCluster cluster({.nodes = 2, .accounting = true});
  const auto good =
      cluster.submit("-A science -J \"$(printf 'go\\nod')\" --gres=gpu:2 -c 3 -t 30 --wrap true");
  const auto bad = cluster.submit("-A science --qos=high --gres=gpu:a100:1 --wrap false");
  cluster.submit("-A science --array=1-2 --wrap true");
  const auto twice = cluster.submit("-A science --requeue --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(good, "COMPLETED"));
  ASSERT_TRUE(cluster.becomes(bad, "FAILED"));
  ASSERT_TRUE(cluster.becomes(twice, "RUNNING"));
  GatewayLink gateway;
  ASSERT_TRUE(gateway.end(JobNumber{twice}, Fate::requeue));
  CommandLink commands;
  std::vector<Job> by_gateway;
  EXPECT_TRUE(eventually([&] {
    by_gateway = ended(gateway, before, wall_clock() + 1min);
    return by_gateway.size() == 5;
  }));
  const std::vector<Job> by_commands = ended(commands, before, wall_clock() + 1min);
  ASSERT_EQ(by_gateway.size(), by_commands.size());
  for (std::size_t each = 0; each < by_gateway.size(); ++each) {
    EXPECT_EQ(told(by_gateway[each]), told(by_commands[each])) << each;
  }
  EXPECT_TRUE(ended(gateway, before - 72h, before).empty());
}

TEST(GatewayEndedTest, IsUnsupportedWithoutAccounting) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  GatewayLink link;
  const auto done =
      link.ended(wall_clock() - 1h, wall_clock(), [](Job&&) -> Result<void> { return {}; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unsupported);
}

}  // namespace
}  // namespace almanac::slurm
