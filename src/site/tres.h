// SPDX-License-Identifier: Apache-2.0

/// \file
/// Trackable resources (TRES): what Slurm counts, bills and limits. Memory is in MiB everywhere.
///
/// Source   slurm.conf(5), AccountingStorageTRES; sacctmgr show tres.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::site {

/// Position in Site::tres, which is in the order of Slurm's numbers. Slurm checks limits in this
/// order.
using TresIndex = std::uint16_t;

/// The resources that every cluster has, in this order.
inline constexpr TresIndex kCpu = 0;
inline constexpr TresIndex kMemory = 1;
inline constexpr TresIndex kEnergy = 2;
inline constexpr TresIndex kNode = 3;
inline constexpr TresIndex kBilling = 4;
inline constexpr TresIndex kDisk = 5;
inline constexpr TresIndex kVmem = 6;
inline constexpr TresIndex kPages = 7;

struct Tres {
  std::string name{};    ///< "cpu", "mem", "gres/gpu", "gres/gpu:a100", "license/matlab".
  std::uint32_t id = 0;  ///< Slurm's number; from 1001 on for those of AccountingStorageTRES.

  bool operator==(const Tres&) const = default;
};

/// An amount of one resource. As a limit, 0 allows none of it.
struct TresCount {
  TresIndex tres = 0;
  std::int64_t count = 0;

  bool operator==(const TresCount&) const = default;
};

/// Amounts in the order of `tres`, each at most once. A resource that is missing has no limit.
using TresCounts = std::vector<TresCount>;

/// A weight for each unit of a resource. For memory, a unit is 1 MiB ("Mem=0.25G" is 0.25 / 1024).
struct TresWeight {
  TresIndex tres = 0;
  double weight = 0;

  bool operator==(const TresWeight&) const = default;
};

using TresWeights = std::vector<TresWeight>;

/// "Not set" or "unlimited", for counts that are limits.
inline constexpr std::int64_t kNoLimit = -1;

}  // namespace almanac::site
