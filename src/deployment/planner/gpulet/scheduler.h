// SPDX-License-Identifier: Apache-2.0

/// \file
/// gpulet: models on GPUs that are cut in two by MPS, and that take turns on a part.
///
/// Source   Choi et al., ATC'22, sections 4 and 5, and the released scheduler, its faults included:
///          the largest batch is never tried, up to 15 requests/s are dropped
///          (GpuletSetting::dropped), a plan is called feasible though it serves less than was
///          asked.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace almanac::deployment::gpulet {

/// Sizes of gpulets, in percent of a GPU.
inline constexpr std::array kShares{20, 40, 50, 60, 80, 100};

/// Of one network: what a batch on a part of a GPU takes and uses. Times ms.
struct GpuletModel {
  int id = 0;
  double memory_mib = 0;
  double input_bytes = 0;  ///< Of one item.
  /// By share in percent, then by batch from 1.
  std::map<int, std::vector<double>> latency{};
  std::vector<double> assembly{};                  ///< Of a batch, by batch from 1.
  std::map<int, std::array<double, 2>> traffic{};  ///< By batch: parts of L2 and of DRAM used.
};

struct GpuletProfile {
  double memory_mib = 0;  ///< Of a GPU.
  double stretch = 1;     ///< Factor on latencies.
  std::size_t tasks = 1;  ///< That take turns on one gpulet, at most.
  int batch = 1;          ///< No batch is larger.
  double own_l2 = 0, other_l2 = 0, own_dram = 0, other_dram = 0, constant = 1;
  std::map<std::string, GpuletModel> models{};
};

struct GpuletSetting {
  int gpus = 0;
  bool interference = false;
  bool parts = true;    ///< Else whole GPUs only.
  bool greedy = false;  ///< The smallest part that does, and no turns.
  int dropped = 15;     ///< Requests/s of a model that no plan has to serve.
};

struct GpuletRequest {
  std::string model{};
  int rate = 0;    ///< Requests a second.
  double slo = 0;  ///< ms.
};

struct GpuletTask {
  std::string model{};
  int batch = 0;
  double throughput = 0;  ///< Requests a second.
};

struct Gpulet {
  int gpu = 0;
  int share = 100;  ///< Percent.
  std::vector<GpuletTask> tasks{};
  double duty = 0;       ///< ms from one turn to the next.
  double occupancy = 0;  ///< Part of it that is used.
};

/// What a rate is planned as: its 99th percentile by Poisson's law, and one more.
/// Differs  The released program does not return for less than 5 a second; here these stay.
int gpulet_rate(int rate);

/// Gpulets, those without tasks too; nothing = infeasible. Models must be in the profile. A model
/// comes once.
std::optional<std::vector<Gpulet>> plan_gpulets(const GpuletProfile& profile,
                                                const GpuletSetting& setting,
                                                const std::vector<GpuletRequest>& requests);

}  // namespace almanac::deployment::gpulet
