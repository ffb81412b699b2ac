// SPDX-License-Identifier: Apache-2.0
#include "steer/node_reports.h"

namespace almanac::steer {
namespace {

constexpr Duration kFresh = 30s;

}  // namespace

void NodeReports::take(const std::string& node, const agent::Report& report, Time now) {
  last_[node] = {report, now};
}

void NodeReports::note_change(const std::string& node, Time now) { changed_[node] = now; }

const agent::Report* NodeReports::fresh(const std::string& node, Time now) const {
  const auto found = last_.find(node);
  const bool is_fresh = found != last_.end() && now - found->second.at <= kFresh;
  return is_fresh ? &found->second.report : nullptr;
}

std::optional<double> NodeReports::bandwidth_gbs(const std::string& node, Time now) const {
  const agent::Report* const report = fresh(node, now);
  if (report == nullptr) return std::nullopt;
  const auto changed = changed_.find(node);
  const Time from = last_.at(node).at - report->length;
  if (changed != changed_.end() && from < changed->second) return std::nullopt;
  return report->bandwidth_gbs;
}

}  // namespace almanac::steer
