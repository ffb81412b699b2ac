// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/node_space.h"

#include <algorithm>

namespace almanac::slurmctld {

Seconds NodeSpace::narrow(NodeBits& nodes, Seconds start, Seconds end) {
  before_ = nodes;
  const NodeBits::Extent extent = nodes.extent();
  Seconds later = 0;
  for (std::size_t at = 0; at < records_.size(); ++at) {
    const Record& record = records_[at];
    if (record.end > start && at + 1 < records_.size() && later == 0) {
      // Nodes that are free in both do not let the job start later than it could now.
      if (!record.nodes.includes_common(before_, records_[at + 1].nodes, extent))
        later = record.end;
    }
    if (record.end <= start) continue;
    if (record.begin > end) break;
    nodes.keep(record.nodes, extent);
  }
  return later;
}

bool NodeSpace::is_promised(const NodeBits& nodes, Seconds start, Seconds end) const {
  const NodeBits::Extent extent = nodes.extent();
  return std::any_of(records_.begin(), records_.end(), [&](const Record& record) {
    return record.end > start && record.begin < end && !record.nodes.includes(nodes, extent);
  });
}

void NodeSpace::promise(const NodeBits& nodes, Seconds start, Seconds end) {
  start = std::max(start, records_.front().begin);
  const auto cut = [&](Seconds at, std::size_t from) {
    for (std::size_t each = from; each < records_.size(); ++each) {
      if (records_[each].end == at) return;
      if (records_[each].end < at) continue;
      Record second = records_[each];
      second.begin = records_[each].end = at;
      records_.insert(records_.begin() + static_cast<std::ptrdiff_t>(each) + 1, std::move(second));
      return;
    }
  };
  cut(start, 0);
  // The first record may be empty once it is cut at its begin; the end lies beyond it.
  std::size_t from = 0;
  while (from < records_.size() && records_[from].end <= start) ++from;
  cut(end, from);
  for (Record& record : records_) {
    if (record.begin >= start && record.end <= end) record.nodes -= nodes;
  }
  // One pair of equal neighbours is joined, as slurmctld does.
  for (std::size_t at = 0; at + 1 < records_.size(); ++at) {
    if (records_[at].nodes != records_[at + 1].nodes) continue;
    records_[at].end = records_[at + 1].end;
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    break;
  }
}

}  // namespace almanac::slurmctld
