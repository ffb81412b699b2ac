// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much GPU memory each job uses, and which jobs exceed the part that they requested.
///
/// A part of a GPU includes the same part of its memory. The memory of a CUDA context (some hundred
/// MB per process) counts, because the neighbor cannot use it; parts that add up to one therefore
/// fit. A job that requested whole GPUs and that the policy lets share them has no limit, because
/// it never knew of a part.
///
/// Cost     one pass over /proc per job with GPUs, two queries per GPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "gpu/driver.h"
#include "machine/machine.h"
#include "machine/patient.h"

namespace almanac::machine {

/// A job that uses more memory of a GPU than it may.
struct GpuExcess {
  store::JobNumber job{};
  std::string folder{};  ///< Of the run that was measured.
  NodeId node{};
  int gpu = 0;
  double held_gb = 0;
  double part_gb = 0;  ///< Memory that it may use.
};

struct GpuMemory {
  /// Sum over all GPUs of a job; jobs for which the driver does not report everything are left out.
  std::map<store::JobNumber, double> held_gb{};
  std::vector<GpuExcess> excesses{};
};

/// Returns nothing if the driver uses other process ids than we do.
GpuMemory look_at_gpu_memory(const gpu::Driver& driver, const Machine& machine,
                             const std::vector<Patient>& patients);

}  // namespace almanac::machine
