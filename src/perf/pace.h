// SPDX-License-Identifier: Apache-2.0

/// \file
/// How fast a job runs, and which factors make it so.
#pragma once

namespace almanac::perf {

/// How a job runs.
struct Pace {
  double rate = 1;       ///< 1: as fast as recorded.
  double computing = 1;  ///< The share of its time in which a GPU is not kept waiting; 0 without.
};

/// Why a job runs as fast as it does; the product is the rate.
struct Parts {
  double gpus = 1;        ///< More or fewer of them than at the reference, with their spread.
  double type = 1;        ///< Another type of GPU.
  double neighbours = 1;  ///< Jobs on the same GPUs.
  double cpus = 1;
  double memory = 1;
  double power = 1;      ///< A power limit of the GPUs.
  double computing = 1;  ///< No factor: the share of its time in which the GPU is not kept waiting.

  double rate() const { return gpus * type * neighbours * cpus * memory * power; }
};

}  // namespace almanac::perf
