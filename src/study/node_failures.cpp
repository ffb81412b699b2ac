// SPDX-License-Identifier: Apache-2.0
#include "study/node_failures.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "stats/binomial.h"
#include "stats/holm.h"

namespace almanac::study {

std::vector<NodeRecord> node_records(const std::vector<NodeRun>& runs) {
  constexpr int kFewest = 5;
  std::map<std::string, std::map<std::string, bool>> failed;  // of node and kind
  for (const NodeRun& run : runs) failed[run.node][run.kind] |= run.failed;
  std::vector<NodeRecord> records;
  double all = 0;
  double all_failed = 0;
  for (const auto& [node, kinds] : failed) {
    NodeRecord record{.node = node, .kinds = static_cast<int>(kinds.size())};
    for (const auto& [kind, has_failed] : kinds) record.failed += has_failed ? 1 : 0;
    all += record.kinds;
    all_failed += record.failed;
    records.push_back(std::move(record));
  }
  std::erase_if(records, [](const NodeRecord& each) { return each.kinds < kFewest; });
  std::vector<double> chances;
  for (NodeRecord& record : records) {
    const double others = all - record.kinds;
    // With no other node there is nothing to be held against.
    const double rate = others > 0 ? (all_failed - record.failed) / others : 1;
    // Where nothing fails elsewhere, half a failure is what cannot be ruled out.
    const double least = others > 0 ? 0.5 / others : 1;
    record.expected = record.kinds * rate;
    chances.push_back(stats::binomial_at_least(record.failed, record.kinds, std::max(rate, least)));
  }
  const std::vector<double> corrected = stats::holm(chances);
  for (std::size_t at = 0; at < records.size(); ++at) records[at].p_value = corrected[at];
  std::stable_sort(records.begin(), records.end(),
                   [](const NodeRecord& a, const NodeRecord& b) { return a.p_value < b.p_value; });
  return records;
}

std::string in_words(const NodeRecord& record) {
  return fmt::format("{}: {} of {} failed, {:.1f} expected (p = {:.2g})", record.node,
                     record.failed, record.kinds, record.expected, record.p_value);
}

}  // namespace almanac::study
