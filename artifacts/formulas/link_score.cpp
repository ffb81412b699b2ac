// SPDX-License-Identifier: Apache-2.0
#include "formulas/link_score.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace almanac::links {
namespace {

/// What a sender asks in each millisecond of its period, in Gb/s.
std::vector<double> demand(const Sender& sender) {
  std::vector<double> demand(static_cast<std::size_t>(sender.period_ms), 0);
  for (const Phase& phase : sender.phases) {
    for (int ms = phase.from_ms; ms < phase.to_ms; ++ms) {
      demand[static_cast<std::size_t>(ms % sender.period_ms)] += phase.gbps;
    }
  }
  return demand;
}

/// Adds a sender's demand over the perimeter, delayed.
void add(std::vector<double>& total, const std::vector<double>& demand, int shift) {
  std::size_t at =
      (demand.size() - static_cast<std::size_t>(shift) % demand.size()) % demand.size();
  for (double& sum : total) {
    sum += demand[at];
    if (++at == demand.size()) at = 0;
  }
}

double score_of(const std::vector<double>& total, double capacity) {
  double beyond = 0;
  for (const double sum : total) beyond += std::max(sum - capacity, 0.0);
  return 1 - beyond / capacity / static_cast<double>(total.size());
}

struct Search {
  const std::vector<std::vector<double>>& demands;
  double capacity;
  std::vector<int> shifts;
  Alignment best{-std::numeric_limits<double>::infinity(), {}};

  void from(std::size_t sender, const std::vector<double>& total) {
    if (sender == demands.size()) {
      // Equal but for rounding is equal.
      if (const double score = score_of(total, capacity); score > best.score + 1e-12) {
        best = {score, shifts};
      }
      return;
    }
    const auto period = static_cast<int>(demands[sender].size());
    for (int shift = 0; shift < (sender == 0 ? 1 : period); ++shift) {
      shifts[sender] = shift;
      std::vector<double> with = total;
      add(with, demands[sender], shift);
      from(sender + 1, with);
    }
  }
};

}  // namespace

std::int64_t perimeter_ms(std::span<const Sender> senders) {
  std::int64_t perimeter = 1;
  for (const Sender& sender : senders) {
    perimeter = std::lcm(perimeter, static_cast<std::int64_t>(sender.period_ms));
  }
  return perimeter;
}

double link_score(std::span<const Sender> senders, std::span<const int> shifts_ms,
                  double capacity_gbps) {
  ALMANAC_CHECK(senders.size() == shifts_ms.size(), "{} shifts of {} senders", shifts_ms.size(),
                senders.size());
  std::vector<double> total(static_cast<std::size_t>(perimeter_ms(senders)), 0);
  for (std::size_t at = 0; at < senders.size(); ++at)
    add(total, demand(senders[at]), shifts_ms[at]);
  return score_of(total, capacity_gbps);
}

Alignment align(std::span<const Sender> senders, double capacity_gbps) {
  std::vector<std::vector<double>> demands;
  for (const Sender& sender : senders) demands.push_back(demand(sender));
  Search search{demands, capacity_gbps, std::vector<int>(senders.size(), 0)};
  search.from(0, std::vector<double>(static_cast<std::size_t>(perimeter_ms(senders)), 0));
  return search.best;
}

}  // namespace almanac::links
