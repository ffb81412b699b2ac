// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/fair_share.h"

#include <cmath>

#include <gtest/gtest.h>

#include "slurmctld/priority/example_site_test.h"

namespace almanac::slurmctld {
namespace {

site::Site used_site() {
  site::Site site = example_site();
  const double raw[] = {1000, 600, 600, 0, 300, 300, 100, 100};
  for (std::size_t at = 0; at < std::size(raw); ++at) {
    site.associations[at].usage.known = true;
    site.associations[at].usage.raw = raw[at];
  }
  return site;
}

struct Judged {
  explicit Judged(const site::Site& site, std::uint32_t dampening = 1, bool oblivious = false)
      : tree(site.associations),
        usage(site),
        standings(tree.size()),
        classic(tree, dampening, oblivious) {
    classic.begin_pass(usage, standings);
  }

  double factor(AssociationAt at) { return classic.factor(at, usage, standings); }

  AssociationTree tree;
  UsageLedger usage;
  std::vector<Standing> standings;
  ClassicFairShare classic;
};

TEST(ClassicFairShare, FallsWithUsageOverShares) {
  Judged judged(used_site());
  // u1: share 0.5 x 0.8, usage 0.6 + (0.6 - 0.6) x 0.8.
  EXPECT_NEAR(judged.factor(2), std::exp2(-0.6 / 0.4), 1e-15);
  // u2: share 0.5 x 0.2; 0.2 of what its account has used counts as its own.
  EXPECT_NEAR(judged.factor(3), std::exp2(-0.12 / 0.1), 1e-15);
  EXPECT_NEAR(judged.factor(5), std::exp2(-0.3 / 0.3), 1e-15);
  EXPECT_NEAR(judged.factor(7), std::exp2(-0.1 / 0.2), 1e-15);
}

TEST(ClassicFairShare, IsDampened) {
  Judged judged(used_site(), 3);
  EXPECT_NEAR(judged.factor(2), std::exp2(-0.6 / 0.4 / 3), 1e-15);
}

TEST(ClassicFairShare, JudgesAUserWithParentSharesByItsAccount) {
  site::Site site = used_site();
  site.associations[3].shares = site::Association::kParent;
  Judged judged(site);
  EXPECT_NEAR(judged.factor(3), std::exp2(-0.6 / 0.5), 1e-15);
}

TEST(ClassicFairShare, IsZeroWithoutShares) {
  site::Site site = used_site();
  site.associations[3].shares = 0;
  Judged judged(site);
  EXPECT_EQ(judged.factor(3), 0);
}

TEST(ClassicFairShare, KeepsWhatItKnowsOfAUserUntilTheNextPass) {
  Judged judged(used_site());
  const double before = judged.factor(5);
  const site::TresCounts held{{site::kCpu, 1}};
  judged.usage.add({.association = 5, .seconds = 100, .billable = 10, .held = &held}, judged.tree);
  EXPECT_EQ(judged.factor(5), before);
  judged.classic.begin_pass(judged.usage, judged.standings);
  EXPECT_LT(judged.factor(5), before);
}

TEST(ClassicFairShare, DepthObliviousIsTheSameOneLevelDeep) {
  Judged judged(used_site(), 1, true);
  // Parent ratio 0.6 / 0.5 = 1.2; own ratio (0.6 / 0.4) / (0.6 / 0.5) = 1.25: both above 1, k = 1.
  EXPECT_NEAR(judged.factor(2), std::exp2(-1.2 * 1.25), 1e-12);
  EXPECT_NEAR(judged.factor(3), 1, 1e-15);  // no usage
}

}  // namespace
}  // namespace almanac::slurmctld
