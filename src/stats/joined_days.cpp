// SPDX-License-Identifier: Apache-2.0
#include "stats/joined_days.h"

#include <cmath>
#include <utility>

namespace almanac::stats {
namespace {

/// How alike neighbors are: the correlation of each block's change with the next one's.
double likeness(const std::vector<DaySum>& blocks) {
  double mean = 0;
  for (const DaySum& block : blocks) mean += block.change() / static_cast<double>(blocks.size());
  double own = 0;
  double next = 0;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const double off = blocks[at].change() - mean;
    own += off * off;
    if (at + 1 < blocks.size()) next += off * (blocks[at + 1].change() - mean);
  }
  return own > 0 ? next / own : 0;
}

bool stand_alone(const std::vector<DaySum>& blocks) {
  return likeness(blocks) <= 1.645 / std::sqrt(static_cast<double>(blocks.size()));
}

std::vector<DaySum> blocks_of(const std::map<long long, DaySum>& days, int days_a_block) {
  std::vector<DaySum> blocks;
  long long last = -1;
  for (const auto& [day, sum] : days) {
    if (blocks.empty() || day / days_a_block != last) blocks.emplace_back();
    last = day / days_a_block;
    blocks.back().jobs += sum.jobs;
    blocks.back().before += sum.before;
    blocks.back().after += sum.after;
  }
  return blocks;
}

}  // namespace

JoinedDays join_days(const std::map<long long, DaySum>& days) {
  JoinedDays made{.blocks = blocks_of(days, 1)};
  while (!stand_alone(made.blocks)) {
    std::vector<DaySum> longer = blocks_of(days, 2 * made.days_a_block);
    if (longer.size() < kFewestBlocks) break;
    made.blocks = std::move(longer);
    made.days_a_block *= 2;
  }
  made.tell = made.blocks.size() >= kFewestBlocks && stand_alone(made.blocks);
  return made;
}

}  // namespace almanac::stats
