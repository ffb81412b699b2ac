// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures the use of a cluster by the value of a signal, so that power is billed at the price,
/// and counted with the carbon, of the hour in which it was drawn.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/cluster.h"

namespace almanac::cluster {
class Ledger;
}

namespace almanac::sim {

/// The signals that summaries use to bill power: money per kWh, and grams of CO2 per kWh.
inline constexpr const char* kPriceSignal = "price";
inline constexpr const char* kCarbonSignal = "carbon";
/// Whether a signal is `price/TYPE`: money per hour of a GPU of that type.
inline bool is_gpu_price(std::string_view signal) { return signal.starts_with("price/"); }

/// Use of a cluster in GPU-seconds; a node counts with all its GPUs, in use or not.
struct PoweredUse {
  double on = 0;
  double booting = 0;
  double asleep = 0;
  double busy = 0;  ///< GPUs at full use, without the power that limits save.
};

/// The use of a cluster, by the value of a signal.
struct SignalUse {
  std::string name{};
  /// Use under each value, in order of time; each change of the value begins a stretch. Nothing is
  /// multiplied here, so that a signal that never changes gives the digits of a constant.
  std::vector<std::pair<double, PoweredUse>> stretches{};
  PoweredUse unvalued{};  ///< Before the signal had its first value.
  /// For a signal `price/TYPE`: GPUs of that type held by jobs, weighted likewise.
  double held_weighted = 0;
  double held_gpu_s = 0;                  ///< Time of those GPUs, also before the first value.
  std::array<double, 24> held_by_hour{};  ///< `held_weighted` by hour of the day, in UTC.
};

/// Cost     O(signals) per interval; O(nodes) if a signal prices GPUs of a type.
class SignalMeter {
 public:
  SignalMeter(const cluster::Cluster& cluster, const std::vector<std::string>& signals);
  /// Adds a stretch without changes.
  void add(Time from, Time until, const cluster::Ledger& ledger, double spared_gpus);
  /// Sets the value of a signal from now on.
  void set(std::size_t signal, double value);
  const std::vector<SignalUse>& uses() const { return uses_; }

 private:
  struct State {
    double value = 0;
    bool has_value = false;
    /// For a signal `price/TYPE`: nodes with GPUs of the type, and their number.
    std::vector<std::pair<NodeId, int>> nodes{};
  };
  std::vector<SignalUse> uses_;
  std::vector<State> states_;
};

}  // namespace almanac::sim
