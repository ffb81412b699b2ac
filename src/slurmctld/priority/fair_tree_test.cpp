// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/fair_tree.h"

#include <cmath>

#include <gtest/gtest.h>

#include "slurmctld/priority/example_site_test.h"

namespace almanac::slurmctld {
namespace {

struct Ranked {
  std::vector<Standing> standings{};
  std::vector<FairTreeStep> walk{};
};

/// Ranks the associations, of which each user has used `raw` billing-seconds.
Ranked ranked(site::Site site, const std::vector<double>& raw) {
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] == 0) continue;
    auto up = static_cast<std::int32_t>(at);
    for (; up >= 0; up = site.associations[static_cast<std::size_t>(up)].parent) {
      site.associations[static_cast<std::size_t>(up)].usage.known = true;
      site.associations[static_cast<std::size_t>(up)].usage.raw += raw[at];
    }
  }
  const AssociationTree tree(site.associations);
  const UsageLedger usage(site);
  Ranked made;
  made.standings.resize(tree.size());
  made.walk = rank_fair_tree(tree, usage, made.standings);
  return made;
}

std::vector<double> factors(const Ranked& ranked) {
  std::vector<double> all;
  for (const Standing& each : ranked.standings) all.push_back(each.factor);
  return all;
}

TEST(FairTree, RanksTheLeastServedAccountFirst) {
  // LevelFS: chem 0.5/0.6, phys 0.3/0.3, bio 0.2/0.1. Within chem: u1 0.8/0.5, u2 0.2/0.5.
  const Ranked made = ranked(example_site(), {0, 0, 300, 300, 0, 300, 0, 100});
  EXPECT_EQ(factors(made), (std::vector<double>{0, 0, 0.5, 0.25, 0, 0.75, 0, 1}));
  EXPECT_NEAR(static_cast<double>(made.standings[1].level_fs), 0.5 / 0.6, 1e-15);
  EXPECT_NEAR(static_cast<double>(made.standings[6].level_fs), 2, 1e-15);
  EXPECT_NEAR(static_cast<double>(made.standings[3].level_fs), 0.4, 1e-15);
}

TEST(FairTree, GivesAllUsersFactorOneWithoutUsage) {
  const Ranked made = ranked(example_site(), {});
  EXPECT_EQ(factors(made), (std::vector<double>{0, 0, 1, 1, 0, 1, 0, 1}));
  // All tie with the one before, but for the first account and its first user.
  for (const FairTreeStep& step : made.walk) EXPECT_EQ(step.is_tied, step.association > 2);
}

// The documentation merges the children of accounts that tie; the code does not. The first child of
// the second account takes the rank of the last user of the first.
TEST(FairTree, DoesNotMergeTheChildrenOfTiedAccounts) {
  site::Site site = example_site();
  site.associations = {
      account("root", -1, 1),   user("root", "root", 0, 1), account("t4", 0, 10),
      user("root", "t4", 2, 3), user("u8", "t4", 2, 2),     user("u7", "t4", 2, 1),
      account("t3", 0, 10),     user("u6", "t3", 6, 0),     user("u5", "t3", 6, 1),
      account("t2", 0, 10),     user("u4", "t2", 9, 0),     user("u3", "t2", 9, 1),
      account("t1", 0, 10),     user("u2", "t1", 12, 0),    user("u1", "t1", 12, 1)};
  const Ranked made = ranked(site, {});
  EXPECT_EQ(factors(made),
            (std::vector<double>{0, 1, 0, 1, 1, 1, 0, 0.5, 1, 0, 0.3, 0.5, 0, 0.1, 0.3}));
}

TEST(FairTree, LiftsMembersOfAnAccountWithParentShares) {
  site::Site site = example_site();
  site.associations = {account("root", -1, 1), account("a", 0, 10),
                       user("u1", "a", 1, 5),  account("ax", 1, site::Association::kParent),
                       user("u2", "ax", 3, 1), user("u3", "ax", 3, site::Association::kParent)};
  const AssociationTree tree(site.associations);
  EXPECT_EQ(tree.fair_parent(4), 1U);
  EXPECT_EQ(std::vector<AssociationAt>(tree.children(1).begin(), tree.children(1).end()),
            (std::vector<AssociationAt>{2, 3, 4, 5}));
  EXPECT_TRUE(tree.children(3).empty());
  EXPECT_EQ(tree.level_shares(2), 6U);
  const Ranked made = ranked(site, {0, 0, 600, 0, 100, 300});
  // u3 has parent: highest in its level. The account ax comes next, then u2 (1/6 over 0.1).
  EXPECT_EQ(factors(made), (std::vector<double>{0, 0, 1.0 / 3, 0, 2.0 / 3, 1}));
  EXPECT_TRUE(std::isinf(made.standings[5].level_fs));
}

TEST(FairTree, PutsUsersWithoutSharesLast) {
  site::Site site = example_site();
  site.associations[2].shares = 0;
  const Ranked made = ranked(site, {0, 0, 0, 500, 0, 0, 0, 0});
  // phys and bio tie; then chem: u2 (1/1 over 1), then u1 without shares.
  EXPECT_EQ(factors(made), (std::vector<double>{0, 0, 0.25, 0.5, 0, 1, 0, 1}));
  EXPECT_EQ(made.standings[2].level_fs, 0);
}

TEST(FairTree, IsEmptyWithoutAccounting) { EXPECT_TRUE(ranked({}, {}).walk.empty()); }

}  // namespace
}  // namespace almanac::slurmctld
