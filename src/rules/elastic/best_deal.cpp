// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/best_deal.h"

#include <algorithm>

#include "base/check.h"

namespace almanac::elastic {

std::vector<int> best_deal(std::span<const std::vector<double>> worth, int gpus) {
  const auto width = static_cast<std::size_t>(gpus) + 1;
  std::vector<double> best(width, 0.0);  // of the jobs so far, with that many GPUs at most
  std::vector<std::vector<int>> given;
  for (const std::vector<double>& job : worth) {
    ALMANAC_CHECK(!job.empty(), "a job has no worth without GPUs");
    std::vector<double> with(width);
    std::vector<int>& choice = given.emplace_back(width, 0);
    for (std::size_t left = 0; left < width; ++left) {
      with[left] = best[left] + job[0];
      for (std::size_t own = 1; own < std::min(job.size(), left + 1); ++own) {
        const double each = best[left - own] + job[own];
        if (each <= with[left]) continue;
        with[left] = each;
        choice[left] = static_cast<int>(own);
      }
    }
    best = std::move(with);
  }
  std::vector<int> made(worth.size(), 0);
  int left = gpus;
  for (std::size_t job = worth.size(); job-- > 0;) {
    made[job] = given[job][static_cast<std::size_t>(left)];
    left -= made[job];
  }
  return made;
}

}  // namespace almanac::elastic
