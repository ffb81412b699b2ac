// SPDX-License-Identifier: Apache-2.0
#include "steer/announced.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace almanac::steer {
namespace {

constexpr Duration kRefused = 3s;
/// Slurm's own numbers begin again long before they come there (MaxJobId).
constexpr std::uint32_t kHighest = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::uint32_t kRoom = 1U << 24U;

}  // namespace

manager::JobNumber Announced::next_number() {
  return manager::JobNumber{kHighest - given_++ % kRoom};
}

void Announced::add(manager::Job job, std::int64_t site_factor) {
  job.site_factor = site_factor;
  jobs_.push_back(std::move(job));
}

std::optional<std::int64_t> Announced::site_factor(manager::JobNumber job) const {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const manager::Job& each) { return each.number == job; });
  return found == jobs_.end() ? std::nullopt : std::optional(found->site_factor);
}

std::vector<manager::JobNumber> Announced::look(const Mirror& mirror,
                                                const std::vector<manager::Job>& ended) {
  std::vector<manager::JobNumber> gone;
  if (jobs_.empty()) return gone;
  std::set<std::pair<std::int64_t, std::uint32_t>> told;
  for (const manager::Job& job : ended) told.emplace(job.site_factor, job.uid);
  for (const auto& [number, job] : mirror.jobs()) told.emplace(job.site_factor, job.uid);
  std::erase_if(jobs_, [&](const manager::Job& job) {
    const bool is_gone =
        told.contains({job.site_factor, job.uid}) || mirror.at() - job.submit >= kRefused;
    if (is_gone) gone.push_back(job.number);
    return is_gone;
  });
  return gone;
}

}  // namespace almanac::steer
