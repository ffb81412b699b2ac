// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/usage.h"

#include <gtest/gtest.h>

#include "slurmctld/priority/billing.h"
#include "slurmctld/priority/example_site_test.h"
#include "slurmctld/priority/usage_reset.h"
#include "text/datetime.h"

namespace almanac::slurmctld {
namespace {

double raw(const Used& used) { return static_cast<double>(used.raw); }

TEST(UsageLedger, DecaysByTheFactorOfSlurm) {
  const site::Site site = example_site();
  const UsageLedger usage(site);
  EXPECT_NEAR(usage.remaining(60), 0.870436621044062, 1e-15);  // a true half-life: 0.870550563
  EXPECT_EQ(usage.remaining(0), 1);
}

TEST(UsageLedger, DecaysNewUsageAsIfAllLayAtTheStart) {
  const site::Site site = example_site();
  const AssociationTree tree(site.associations);
  UsageLedger usage(site);
  const site::TresCounts held{{site::kCpu, 16}};
  usage.add({.association = 2, .seconds = 32, .billable = 19.90625, .held = &held}, tree);
  EXPECT_NEAR(raw(usage.of(2)), 591.5606, 1e-4);
  EXPECT_EQ(usage.of(2).raw, usage.of(1).raw);
  EXPECT_EQ(usage.of(2).raw, usage.total().raw);
  EXPECT_EQ(raw(usage.of(5)), 0);
  EXPECT_NEAR(static_cast<double>(usage.of(2).tres[site::kCpu]), 16 * usage.of(2).wall_s, 1e-9);
}

TEST(UsageLedger, CountsUsageByTheFactorOfTheQos) {
  const site::Site site = example_site();
  const AssociationTree tree(site.associations);
  UsageLedger usage(site);
  usage.set_half_life(0s);
  const site::TresCounts held{{site::kCpu, 4}};
  usage.add({.association = 2, .qos = 2, .seconds = 100, .billable = 4, .held = &held}, tree);
  EXPECT_EQ(raw(usage.of(2)), 100);
  EXPECT_EQ(raw(usage.of_qos(2)), 100);
  EXPECT_EQ(usage.of(2).wall_s, 25);
}

TEST(UsageLedger, DecaysNothingOfAQosWithNoDecay) {
  site::Site site = example_site();
  site.qos[1].flags.no_decay = true;
  const AssociationTree tree(site.associations);
  UsageLedger usage(site);
  const site::TresCounts held{{site::kCpu, 1}};
  usage.add({.association = 2, .qos = 1, .seconds = 60, .billable = 1, .held = &held}, tree);
  usage.decay(60);
  EXPECT_EQ(raw(usage.of_qos(1)), 60);
  EXPECT_NEAR(raw(usage.of(2)), 60 * 0.870436621044062 * 0.870436621044062, 1e-12);
  usage.reset();
  EXPECT_EQ(raw(usage.of_qos(1)), 0);
}

TEST(Billing, IsNotRounded) {
  const site::TresWeights weights{{site::kCpu, 1}, {site::kMemory, 0.25 / 1024}, {8, 4}};
  const site::Site site = example_site();
  EXPECT_DOUBLE_EQ(billable({{site::kCpu, 1}, {site::kMemory, 500}}, weights, {}, site.tres),
                   1.1220703125);
  EXPECT_EQ(billable(example_request(), {}, {}, site.tres), 16);
}

TEST(Billing, TakesTheLargestWithMaxTres) {
  const site::TresWeights weights{{site::kCpu, 1}, {site::kMemory, 0.25 / 1024}, {8, 5}};
  const site::Site site = example_site();
  site::PrioritySettings settings;
  settings.max_tres = true;
  EXPECT_EQ(billable(example_request(), weights, settings, site.tres), 20);
  settings.max_tres = false;
  settings.max_tres_gres = true;
  EXPECT_EQ(billable(example_request(), weights, settings, site.tres), 16 + 20);
}

struct Reset {
  site::UsageReset period;
  const char* last;
  const char* next;
};

TEST(UsageReset, FollowsTheCalendar) {
  const text::TimeZone utc = text::TimeZone::find("UTC").value();
  for (const Reset& each : {
           Reset{site::UsageReset::daily, "2026-11-26 21:40:00", "2026-11-27 00:00:00"},
           Reset{site::UsageReset::weekly, "2026-11-26 21:40:00", "2026-11-29 00:00:00"},
           Reset{site::UsageReset::weekly, "2026-11-29 00:00:00", "2026-12-06 00:00:00"},
           Reset{site::UsageReset::monthly, "2026-12-01 00:00:00", "2027-01-01 00:00:00"},
           Reset{site::UsageReset::quarterly, "2026-09-30 12:00:00", "2026-10-01 00:00:00"},
           Reset{site::UsageReset::quarterly, "2026-11-26 21:40:00", "2027-01-01 00:00:00"},
           Reset{site::UsageReset::yearly, "2026-01-01 00:00:00", "2027-01-01 00:00:00"},
       }) {
    const Time next = next_usage_reset(each.period, *text::parse_datetime(each.last), utc);
    EXPECT_EQ(text::format_datetime(next), each.next) << each.last;
  }
  EXPECT_EQ(next_usage_reset(site::UsageReset::none, Time(), utc), kNever);
}

TEST(UsageReset, IsAtLocalMidnight) {
  const text::TimeZone zone = text::TimeZone::find("+05:30").value();
  const Time next =
      next_usage_reset(site::UsageReset::daily, *text::parse_datetime("2026-11-26 19:00:00"), zone);
  EXPECT_EQ(text::format_datetime(next), "2026-11-27 18:30:00");
}

}  // namespace
}  // namespace almanac::slurmctld
