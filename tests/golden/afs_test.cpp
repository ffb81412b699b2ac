// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tournament of AFS against the published rule on 120 cases (golden/elastic/afs), where the
/// shared data are at hand.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policy/kit/tournament.h"
#include "support/shared_data.h"
#include "table/stream.h"

namespace almanac {
namespace {

using nlohmann::json;

std::vector<int> allocate(const json& jobs, int gpus) {
  std::vector<std::size_t> order(jobs.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return jobs[a]["submit"].get<double>() < jobs[b]["submit"].get<double>();
  });
  std::vector<int> given(jobs.size());
  for (; gpus > 0; --gpus) {
    std::vector<policy::Contender> contenders;
    std::vector<std::size_t> who;
    for (const std::size_t at : order) {
      const json& job = jobs[at];
      if (given[at] >= job["max_gpus"].get<int>()) continue;
      const auto speed = [&](int held) {
        return held == 0 ? 0.0 : job["speedup"][static_cast<std::size_t>(held) - 1].get<double>();
      };
      contenders.push_back({.work = job["remaining_s"].get<double>(),
                            .speed = speed(given[at]),
                            .next_speed = speed(given[at] + 1)});
      who.push_back(at);
    }
    if (contenders.empty()) break;
    ++given[who[policy::win_step(contenders)]];
  }
  return given;
}

TEST(Afs, GivesGpusAsThePaperDoes) {
  const auto path = shared_path("golden/elastic/afs/cases.json.gz");
  if (!path) GTEST_SKIP() << "no shared golden data: set ALMANAC_SHARED";
  const auto text = table::read_file(*path);
  ASSERT_TRUE(text);
  const json cases = json::parse(*text);
  ASSERT_EQ(cases.size(), 120U);
  for (std::size_t at = 0; at < cases.size(); ++at) {
    const json& each = cases[at];
    EXPECT_EQ(json(allocate(each["jobs"], each["total_gpus"].get<int>())), each["allocation_rule"])
        << "case " << at;
  }
}

}  // namespace
}  // namespace almanac
