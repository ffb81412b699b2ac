// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a cluster used while a signal had which value: so that power is billed at the price, and
/// counted with the carbon, of the hour in which it was drawn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/cluster.h"

namespace almanac::cluster {
class Ledger;
}

namespace almanac::sim {

/// The signals that summaries bill power by: money a kWh, and grams of CO2 a kWh.
inline constexpr const char* kPriceSignal = "price";
inline constexpr const char* kCarbonSignal = "carbon";
/// Whether a signal is `price/TYPE`: money an hour of a GPU of that type.
inline bool is_gpu_price(std::string_view signal) { return signal.starts_with("price/"); }

/// Use of a cluster in GPU-seconds; a node counts with its GPUs, in use or not.
struct PoweredUse {
  double on = 0;
  double booting = 0;
  double asleep = 0;
  double busy = 0;  ///< GPUs at full use; what power limits spare is left out.
};

/// The use of a cluster, weighted by a signal.
struct SignalUse {
  std::string name{};
  PoweredUse weighted{};  ///< Integral of use times the signal's value.
  PoweredUse unvalued{};  ///< Before the signal had its first value.
  /// The same of the GPUs of one type that jobs held, for a signal `price/TYPE`.
  double held_weighted = 0;
};

/// Cost     O(signals) an interval; O(nodes) if a signal prices GPUs of a type.
class SignalMeter {
 public:
  SignalMeter(const cluster::Cluster& cluster, const std::vector<std::string>& signals);
  /// Adds `step_s` seconds in which nothing changed.
  void add(double step_s, const cluster::Ledger& ledger, double spared_gpus);
  /// The signal has this value from now on.
  void set(std::size_t signal, double value);
  const std::vector<SignalUse>& uses() const { return uses_; }

 private:
  struct State {
    double value = 0;
    bool has_value = false;
    /// Nodes with GPUs of its type, and how many, for a signal `price/TYPE`.
    std::vector<std::pair<NodeId, int>> nodes{};
  };
  std::vector<SignalUse> uses_;
  std::vector<State> states_;
};

}  // namespace almanac::sim
