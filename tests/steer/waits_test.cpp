// SPDX-License-Identifier: Apache-2.0

/// \file
/// The waits that a service of a Slurm in memory counts for its metrics.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "fake_link.h"
#include "steer_slurm/slurm_service.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

TEST(SlurmWaits, CountJobsThatStartWhileTheServiceLooks) {
  FakeSlurm slurm;
  slurm.site.cluster = "waits";
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  slurm.submit("bob", 4, 1h);
  const TemporaryFolder folder;
  Config config{.state = folder / "state", .policy = "fifo", .policy_is_told = true};
  config.settings.levers["order"] = Switch::off;
  auto service = steer_slurm::SlurmService::open(config, std::make_unique<FakeLink>(slurm));
  ASSERT_TRUE(service) << to_string(service.error());
  const auto settle = [&] {
    while ((*service)->step()) {
    }
  };
  settle();
  EXPECT_TRUE((*service)->counters().waits.by_user().empty())
      << "ann's job started before the service did";
  slurm.pass(1h);
  settle();
  const service::Waits waits = (*service)->counters().waits;
  ASSERT_EQ(waits.by_user().count("bob"), 1U);
  EXPECT_EQ(waits.by_user().at("bob").sum_s, 3600) << "until ann's job ended";
  EXPECT_EQ(waits.by_place().begin()->first, (service::Waits::Place{"v", "2-4"}));
  EXPECT_EQ(waits.by_gpus().at(4), 1U);
}

}  // namespace
}  // namespace almanac::steer
