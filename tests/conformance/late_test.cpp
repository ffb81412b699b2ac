// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job that comes late is served as one that was there from the beginning, under every policy of
/// the registry that stops jobs: policies that divide GPUs or hand them out in leases must not keep
/// those who come between two divisions waiting. (Without stops a job waits for those that came
/// before it, and no later order helps.)
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/names.h"
#include "policy/registry.h"
#include "support/play.h"

namespace almanac {
namespace {

using policy::registry;

std::vector<std::string> all_policies() {
  std::vector<std::string> names;
  for (const policy::Composition& known : registry().policies()) {
    const policy::TraitSet traits = registry().traits(known);
    // Those that go by deadlines stop jobs for deadlines only.
    if (traits.has(policy::Trait::reads_deadlines)) continue;
    if (traits.any_of({policy::Trait::stops_jobs, policy::Trait::leases})) {
      names.push_back(known.name);
    }
  }
  for (const char* const objective : {"finish_time", "duration", "throughput", "tenants"}) {
    names.push_back(std::string("gavel:") + objective);
  }
  return names;
}

class EveryLateJob : public testing::TestWithParam<std::string> {
 protected:
  struct Late {
    std::string user = "bob";
    std::string model{};
    int max_gpus = 0;
  };
  /// A job that has all GPUs for a day, and one of 100 s that comes at `at_s`: how long that one
  /// takes.
  static Duration taken(std::int64_t at_s, int gpus, const Late& late, int run_s = 100) {
    Case made;
    made.policy = GetParam();
    made.cluster = cluster::uniform(1, gpus);
    made.speed = "linear";
    made.elastic = late.max_gpus > 0 ? "elastic.toml" : "";
    made.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    const std::string model = late.max_gpus > 0 ? "linear" : "quiet";
    add_job(made.trace, {.id = "long",
                         .gpus = gpus,
                         .run = 100'000s,
                         .user = "ann",
                         .name = "train",
                         .limit = 100'000s,
                         .predicted = 100'000s,
                         .model = model,
                         .max_gpus = late.max_gpus > 0 ? gpus : 0});
    add_job(made.trace, {.id = "late",
                         .submit = at_s * 1s,
                         .gpus = 1,
                         .run = run_s * 1s,
                         .user = late.user,
                         .name = "test",
                         .limit = run_s * 1s,
                         .predicted = run_s * 1s,
                         .model = late.model,
                         .max_gpus = late.max_gpus});
    const Result<Played> played = play(made);
    EXPECT_TRUE(played) << to_string(played.error());
    if (!played) return 0s;
    const sim::JobResult& told = played->result.jobs[1];
    if (told.end == kNoTime) return kNoDuration;
    return told.end - Time{at_s * 1s};
  }

  static void expect_served(int gpus, const Late& late) {
    const Duration there = taken(0, gpus, late);
    const policy::Composition composition = *registry().compose(GetParam());
    // Elastic jobs are dealt GPUs once in a minute, and are given few until they have reported.
    const bool deals =
        late.max_gpus > 0 && registry().traits(composition).has(policy::Trait::reads_training);
    const Duration lease = registry().lease(composition) + (deals ? 2min : 0min);
    for (const std::int64_t at_s : {1, 10, 350, 361, 1'000, 2'000, 5'000, 30'000}) {
      EXPECT_LE(taken(at_s, gpus, late), there + lease) << "at " << at_s;
    }
  }
};

TEST_P(EveryLateJob, IsServedAsOneThatWasThere) { expect_served(1, {}); }
TEST_P(EveryLateJob, OfTheSameUserIsToo) { expect_served(1, {.user = "ann"}); }
TEST_P(EveryLateJob, OfAnotherModelIsToo) { expect_served(1, {.model = "harsh"}); }
TEST_P(EveryLateJob, ThatIsElasticIsToo) { expect_served(4, {.model = "linear", .max_gpus = 4}); }

INSTANTIATE_TEST_SUITE_P(Registry, EveryLateJob, testing::ValuesIn(all_policies()), test_name);

}  // namespace
}  // namespace almanac
