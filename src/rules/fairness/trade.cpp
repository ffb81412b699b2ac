// SPDX-License-Identifier: Apache-2.0
#include "rules/fairness/trade.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace almanac::fairness {
namespace {

constexpr double kNoGpus = 1e-9;  // GPUs

/// One trade of `fast` for `slow`; false = none pays.
bool trade_once(Table& gpus, const Table& rates, std::size_t fast, std::size_t slow,
                double least_gain) {
  const auto gain = [&](std::size_t user) { return rates[user][fast] / rates[user][slow]; };
  const std::size_t none = gpus.size();
  std::size_t buyer = none;
  std::size_t seller = none;
  for (std::size_t user = 0; user < gpus.size(); ++user) {
    if (gpus[user][slow] > kNoGpus && (buyer == none || gain(user) > gain(buyer))) buyer = user;
    if (gpus[user][fast] > kNoGpus && (seller == none || gain(user) < gain(seller))) seller = user;
  }
  if (buyer == none || seller == none || gain(buyer) <= least_gain * gain(seller)) return false;
  const double price = std::sqrt(gain(buyer) * gain(seller));
  const double sold = std::min(gpus[seller][fast], gpus[buyer][slow] / price);
  gpus[seller][fast] -= sold;
  gpus[seller][slow] += price * sold;
  gpus[buyer][fast] += sold;
  gpus[buyer][slow] -= price * sold;
  return true;
}

}  // namespace

Table trade(Table gpus, const Table& rates, double least_gain) {
  const std::size_t types = gpus.empty() ? 0 : gpus.front().size();
  std::size_t left = 4 * gpus.size() * types * types;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t fast = 0; fast < types; ++fast) {
      for (std::size_t slow = 0; slow < types; ++slow) {
        while (fast != slow && left > 0 && trade_once(gpus, rates, fast, slow, least_gain)) {
          --left;
          any = true;
        }
      }
    }
  }
  return gpus;
}

}  // namespace almanac::fairness
