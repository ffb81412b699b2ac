// SPDX-License-Identifier: Apache-2.0
#include "perf/remote_input.h"

#include <algorithm>

#include "rules/fairness/dues.h"

namespace almanac::perf {

std::vector<double> cached_gb(std::span<const DataSet> data_sets, double cache_gb) {
  double told = 0;
  std::vector<double> wanted;
  for (const DataSet& each : data_sets) {
    if (each.told_gb) told += std::min(*each.told_gb, each.gb);
    wanted.push_back(each.told_gb ? 0 : each.gb);
  }
  const double part = told > cache_gb ? cache_gb / told : 1;
  const std::vector<double> weights(wanted.size(), 1);
  std::vector<double> made = fairness::fair_parts(wanted, weights, std::max(0.0, cache_gb - told));
  for (std::size_t at = 0; at < data_sets.size(); ++at) {
    const DataSet& each = data_sets[at];
    if (each.told_gb) made[at] = part * std::min(*each.told_gb, each.gb);
  }
  return made;
}

std::vector<double> remote_speeds(std::span<const RemoteReader> readers,
                                  std::span<const DataSet> data_sets,
                                  std::span<const double> cached, double remote_gbs) {
  std::vector<double> needs;
  std::vector<double> asked;
  for (const RemoteReader& reader : readers) {
    needs.push_back(
        remote_need(reader.gbs, data_sets[reader.data_set].gb, cached[reader.data_set]));
    asked.push_back(std::min(needs.back(), reader.most_gbs));
  }
  const std::vector<double> given =
      fairness::fair_parts(asked, std::vector<double>(asked.size(), 1), remote_gbs);
  std::vector<double> speeds;
  for (std::size_t at = 0; at < readers.size(); ++at) {
    // A need of 0 but for rounding is none.
    const bool needs_none = needs[at] <= 1e-12 * readers[at].gbs;
    speeds.push_back(needs_none ? 1 : std::min(1.0, given[at] / needs[at]));
  }
  return speeds;
}

}  // namespace almanac::perf
