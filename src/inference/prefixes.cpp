// SPDX-License-Identifier: Apache-2.0

#include "inference/prefixes.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace almanac::inference {

double repeated_share(const Requests& requests) {
  if (requests.tokens_per_block == 0) return 0;
  std::unordered_set<std::uint64_t> seen;
  double repeated = 0, all = 0;
  for (const Request& each : requests.all) {
    const auto ids = requests.ids(each);
    std::size_t found = 0;
    while (found < ids.size() && seen.contains(ids[found])) ++found;
    seen.insert(ids.begin(), ids.end());
    // The last token of a prompt is always computed.
    repeated += std::min<double>(static_cast<double>(found) * requests.tokens_per_block,
                                 std::max(0, each.prompt - 1));
    all += each.prompt;
  }
  return all > 0 ? repeated / all : 0;
}

}  // namespace almanac::inference
