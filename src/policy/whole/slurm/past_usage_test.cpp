// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/slurm/past_usage.h"

#include <gtest/gtest.h>

namespace almanac::policy::whole {
namespace {

constexpr Time kNow{Duration{std::chrono::days(100)}};

/// One node of 16 CPUs and 4 GPUs, so that a GPU is billed as 4 CPUs. Ann is in accounts `lab` and
/// `guests`, by default in `lab`. Usage halves in a week.
site::Site little_site() {
  site::Site site;
  site.tres = site::standard_tres();
  site::Node node{.name = "g1", .cpus = 16};
  node.effective_cpus = 16;
  node.gres.push_back({.name = "gpu", .count = 4});
  site.nodes.push_back(node);
  site::Partition partition{.name = "main"};
  partition.nodes = {0};
  site.partitions.push_back(partition);
  site.config.priority.decay_half_life = std::chrono::days(7);
  site.associations = {{.account = "root"},
                       {.account = "guests", .parent = 0},
                       {.account = "guests", .user = "ann", .parent = 1},
                       {.account = "lab", .parent = 0},
                       {.account = "lab", .user = "ann", .parent = 3, .is_default = true}};
  site.associations[2].usage = {.known = true, .raw = 77};
  return site;
}

TEST(PastUsage, CountsForTheDefaultAccountAndThoseAboveIt) {
  Names names;
  const NameId ann = names.intern("ann");
  const NameId zoe = names.intern("zoe");
  site::Site site = little_site();
  const std::vector<PastUse> uses{{.user = ann, .gpu_s = 1000, .from = kNow, .until = kNow},
                                  {.user = zoe, .gpu_s = 5000, .from = kNow, .until = kNow}};
  set_past_usage(site, uses, names, kNow);
  EXPECT_EQ(site.usage_at, kNow);
  EXPECT_DOUBLE_EQ(site.associations[4].usage.raw, 4000);
  EXPECT_DOUBLE_EQ(site.associations[3].usage.raw, 4000);
  EXPECT_DOUBLE_EQ(site.associations[0].usage.raw, 4000);
  EXPECT_EQ(site.associations[2].usage.raw, 0) << "what sshare reported is replaced";
}

TEST(PastUsage, Decays) {
  Names names;
  const NameId ann = names.intern("ann");
  site::Site site = little_site();
  const Time week_ago = kNow - std::chrono::days(7);
  const auto left = [&](Time from, Time until) {
    const std::vector<PastUse> uses{{.user = ann, .gpu_s = 1000, .from = from, .until = until}};
    set_past_usage(site, uses, names, kNow);
    return site.associations[4].usage.raw;
  };
  EXPECT_NEAR(left(week_ago, week_ago), 2000, 0.1);
  // Spread over the last week: the mean of 2^-x for x from 0 to 1 is 0.5 / ln 2.
  EXPECT_NEAR(left(week_ago, kNow), 4000 * 0.72135, 0.1);
}

}  // namespace
}  // namespace almanac::policy::whole
