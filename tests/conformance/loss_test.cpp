// SPDX-License-Identifier: Apache-2.0

/// \file
/// No policy that chooses how many GPUs a job has deals GPUs at a loss: with more of them in the
/// cluster, jobs whose speeds are known end no later.
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
using policy::Trait;

/// Policies that choose numbers of GPUs, and every shape but the one that is drawn.
std::vector<std::string> every_elastic_policy() {
  std::vector<std::string> names;
  for (const policy::Composition& known : registry().policies()) {
    if (registry().traits(known).any_of({Trait::chooses_gpus, Trait::resizes_jobs})) {
      names.push_back(as_played(known.name));
    }
  }
  for (const policy::Entry& shape : registry().shapes.entries()) {
    if (shape.name == "any") continue;
    for (const char* const base : {"fifo+scan+", "easy+", "elasticflow+", "genie+"}) {
      if (registry().compose(base + shape.name)) names.push_back(base + shape.name);
    }
  }
  return names;
}

class EveryElasticPolicy : public testing::TestWithParam<std::string> {
 protected:
  /// Two GPUs are the best that a job of this model can have.
  static constexpr const char* kModel = "crowded";

  /// How long `jobs` jobs take together on one node of `gpus`.
  static Duration taken(int gpus, int jobs, bool trains) {
    Case made;
    made.policy = GetParam();
    made.cluster = cluster::uniform(1, gpus);
    made.speed = "linear";
    made.elastic = trains ? "elastic.toml" : "";
    made.options.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    for (int job = 0; job < jobs; ++job) {
      add_job(made.trace, {.id = std::to_string(job),
                           .gpus = 1,
                           .run = 10'000s,
                           .name = "train",
                           .limit = 10'000s,
                           .predicted = 10'000s,
                           .model = kModel,
                           .max_gpus = 4});
    }
    const Result<Played> played = play(made);
    EXPECT_TRUE(played) << to_string(played.error());
    if (!played) return 0s;
    Duration sum{0};
    for (std::size_t job = 0; job < played->result.jobs.size(); ++job) {
      sum += played->result.jobs[job].end - Time{};
    }
    return sum;
  }
};

TEST_P(EveryElasticPolicy, DealsNoGpuAtALoss) {
  for (const int jobs : {1, 2, 3}) {
    Duration least = taken(1, jobs, false);
    for (int gpus = 2; gpus <= 6; ++gpus) {
      const Duration now = taken(gpus, jobs, false);
      EXPECT_LE(now, least) << jobs << " jobs on " << gpus << " GPUs";
      least = std::min(least, now);
    }
  }
}

/// What is believed of numbers of GPUs on which a job has not reported may be wrong, but not cost
/// more than all that GPUs beyond the first bring.
TEST_P(EveryElasticPolicy, DealsNoGpuAtALossToJobsThatTellOfTheirTraining) {
  for (const int jobs : {1, 2, 3}) {
    const Duration one = taken(1, jobs, true);
    for (int gpus = 2; gpus <= 6; ++gpus) {
      EXPECT_LE(taken(gpus, jobs, true), one) << jobs << " jobs on " << gpus << " GPUs";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryElasticPolicy, testing::ValuesIn(every_elastic_policy()),
                         test_name);

}  // namespace
}  // namespace almanac
