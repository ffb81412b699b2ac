// SPDX-License-Identifier: Apache-2.0

/// \file
/// Prices of GPU types: the signal `price/TYPE`, which may change at any time.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

inline bool is_price(const Signal& signal) { return signal.name.starts_with("price/"); }

/// Returns the price of a type, one bit of Cluster::gpu_types(), at View::now; 1 without a signal.
inline double price_of(std::uint64_t type, const View& view) {
  const std::vector<std::string> types = view.cluster.gpu_types();
  const std::string name = "price/" + types[static_cast<std::size_t>(std::countr_zero(type))];
  const auto told = std::find_if(view.signals.begin(), view.signals.end(),
                                 [&](const Signal& signal) { return signal.name == name; });
  return told != view.signals.end() && told->value > 0 ? told->value : 1;
}

}  // namespace almanac::policy
