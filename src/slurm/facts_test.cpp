// SPDX-License-Identifier: Apache-2.0
#include "slurm/facts.h"

#include <string>

#include <gmock/gmock.h>

namespace almanac::slurm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

manager::Facts facts_of(std::map<std::string, std::string> parameters) {
  Site site{.parameters = std::move(parameters)};
  tell_facts(site);
  EXPECT_EQ(site.manager, "slurm");
  return site.facts;
}

TEST(Facts, OfASiteWithoutSettingsAreSlurmsDefaults) {
  const manager::Facts facts = facts_of({});
  EXPECT_THAT(facts.order_obstacle, IsEmpty());
  EXPECT_THAT(facts.sharing_obstacle, HasSubstr("GresTypes"));
  EXPECT_THAT(facts.power_obstacle, HasSubstr("SuspendProgram"));
  EXPECT_FALSE(facts.keeps_priorities);
  EXPECT_TRUE(facts.requeues_by_default);
  EXPECT_FALSE(facts.enforces_limits);
  EXPECT_FALSE(facts.loses_age_when_held);
  EXPECT_EQ(facts.half_life, 0s);
  EXPECT_EQ(facts.power_cycle, 30s + 60s + 2min);
}

TEST(Facts, SayThatAnotherPluginSetsTheOrder) {
  EXPECT_THAT(facts_of({{"PrioritySiteFactorPlugin", "site_factor/none"}}).order_obstacle,
              IsEmpty());
  EXPECT_THAT(facts_of({{"PrioritySiteFactorPlugin", "(null)"}}).order_obstacle, IsEmpty());
  EXPECT_EQ(facts_of({{"PrioritySiteFactorPlugin", "site_factor/other"}}).order_obstacle,
            "PrioritySiteFactorPlugin site_factor/other already sets site factors");
  EXPECT_TRUE(facts_of({{"PriorityType", "priority/basic"}}).keeps_priorities);
  EXPECT_FALSE(facts_of({{"PriorityType", "priority/multifactor"}}).keeps_priorities);
}

TEST(Facts, CountQuotasOnlyIfTheSiteEnforcesThem) {
  EXPECT_FALSE(facts_of({{"AccountingStorageEnforce", "associations,qos"}}).enforces_limits);
  EXPECT_TRUE(facts_of({{"AccountingStorageEnforce", "associations,limits,qos"}}).enforces_limits);
}

TEST(Facts, TellHowLongANodeIsAway) {
  const manager::Facts facts = facts_of({{"SuspendProgram", "/off"},
                                         {"ResumeProgram", "/on"},
                                         {"SuspendTime", "300 sec"},
                                         {"SuspendTimeout", "3 sec"},
                                         {"ResumeTimeout", "60 sec"}});
  EXPECT_THAT(facts.power_obstacle, IsEmpty());
  EXPECT_EQ(facts.power_cycle, 3s + 60s + 2min);
}

TEST(Facts, TellTheSettingsOfSharesAndRestarts) {
  EXPECT_THAT(facts_of({{"GresTypes", "gpu,shard"}}).sharing_obstacle, IsEmpty());
  EXPECT_THAT(facts_of({{"GresTypes", "gpu"}}).sharing_obstacle, HasSubstr("shard"));
  EXPECT_FALSE(facts_of({{"JobRequeue", "0"}}).requeues_by_default);
  EXPECT_EQ(facts_of({{"PriorityDecayHalfLife", "7-00:00:00"}}).half_life, 24h * 7);
}

}  // namespace
}  // namespace almanac::slurm
