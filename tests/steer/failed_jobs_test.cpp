// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the service of a Slurm in memory says of jobs that failed: by their logs, where it can read
/// them.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_link.h"
#include "steer_slurm/slurm_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using store::JobNumber;
using testing::HasSubstr;

TEST(FailedJobs, AreJudgedByTheirLogs) {
  const TemporaryFolder folder;
  FakeSlurm slurm;
  slurm.site.cluster = "failed_jobs";  // that no two tests mean the same one
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 4, 1h);
  slurm.submit("ann", 4, 1h);
  slurm.pass(1s);
  const auto service = steer_slurm::SlurmService::open({.state = folder / "state"},
                                                       std::make_unique<FakeLink>(slurm));
  ASSERT_TRUE(service) << to_string(service.error());
  (*service)->step();
  slurm.now += 1min;
  const auto fails = [&](std::uint32_t number, const std::string& log) {
    manager::Job& job = slurm.job(number);
    job.uid = ::geteuid();
    job.gid = ::getegid();
    job.out = log;
    job.state = manager::State::ended;
    job.outcome = trace::JobState::failed;
    job.end = slurm.now;
  };
  fails(1, folder.write("one.out", "epoch 1\nRuntimeError: CUDA out of memory. Tried it\n"));
  fails(2, "");
  std::vector<std::string> lines;
  // The thread that judges gives way to all else on the machine.
  for (int time = 0; time < 6000 && lines.size() < 2; ++time) {
    (*service)->step();
    if (auto told = (*service)->explain(JobNumber{1}, service::Eyes::owner)) lines = *told;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "job 1 has ended: FAILED");
  EXPECT_THAT(lines[1], HasSubstr("its log says: GPU out of memory, line 2: RuntimeError: CUDA"));
  EXPECT_EQ((*service)->explain(JobNumber{2}, service::Eyes::owner).value().size(), 1U)
      << "its log is not known";
}

}  // namespace
}  // namespace almanac::steer
