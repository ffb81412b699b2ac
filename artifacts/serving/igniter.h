// SPDX-License-Identifier: Apache-2.0

/// \file
/// iGniter: how models that share a GPU by MPS slow one another, and who shares with whom.
///
/// Source   Xu et al., TPDS'22, sections 3 and 4, and the released algorithm, its faults included:
///          shares below 0, batches beyond 32.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace almanac::serving {

/// Of one network, as fitted. Times ms, shares percent.
struct IgniterModel {
  double kernels = 0, input_bytes = 0, output_bytes = 0, sched_base = 0;
  double k1 = 0, k2 = 0, k3 = 0, k4 = 0, k5 = 0;
  double power_slope = 0, power_offset = 0;
  double l2_slope = 0, l2_offset = 0, l2_sensitivity = 0;

  /// Time on the GPU of a batch alone.
  double active(double batch, double share) const {
    return (k1 * batch * batch + k2 * batch + k3) / (share + k4) + k5;
  }
};

struct IgniterBoard {
  double frequency = 0, power_cap = 0, idle_power = 0, share_unit = 0, bytes_per_ms = 0;
  double frequency_slope = 0, sched_slope = 0, sched_offset = 0;
};

struct IgniterProfile {
  IgniterBoard board{};
  std::map<std::string, IgniterModel> models{};
};

struct IgniterResident {
  int workload = -1;  ///< Index of the workload, for plans.
  std::string model{};
  double batch = 0;
  double share = 0;  ///< Percent.
};

struct IgniterForecast {
  double latency = 0;     ///< ms.
  double throughput = 0;  ///< Requests a second.
};

/// What each resident of one GPU will see; every model must be in the profile.
std::vector<IgniterForecast> forecast(const IgniterProfile& profile,
                                      const std::vector<IgniterResident>& residents);

struct IgniterWorkload {
  std::string model{};
  double slo = 0;   ///< ms.
  double rate = 0;  ///< Requests a second.
};

/// GPUs, each with its residents in the order in which they came.
std::vector<std::vector<IgniterResident>> plan_igniter(const IgniterProfile& profile,
                                                       std::vector<IgniterWorkload> workloads);

}  // namespace almanac::serving
