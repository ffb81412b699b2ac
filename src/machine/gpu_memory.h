// SPDX-License-Identifier: Apache-2.0

/// \file
/// How much memory of its GPUs each job holds, and which holds more than the part that it asked.
///
/// A part of a GPU is as much of its memory. What a CUDA context takes (some hundred MB a process)
/// counts, as the neighbour cannot have it: parts that add up to one then fit. Of a job that asked
/// whole GPUs and that the policy has let share them, nothing is asked: it was never told of a
/// part.
///
/// Cost     one pass over /proc a job with GPUs, two questions a GPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "gpu/nvml.h"
#include "machine/machine.h"
#include "machine/patient.h"

namespace almanac::machine {

/// A job that holds more of a GPU than it may.
struct GpuExcess {
  store::JobNumber job{};
  std::string folder{};  ///< Of the run that was looked at.
  NodeId node{};
  int gpu = 0;
  double held_gb = 0;
  double part_gb = 0;  ///< That it may hold.
};

struct GpuMemory {
  /// Over all GPUs of a job; those are not there of which the driver does not tell all.
  std::map<store::JobNumber, double> held_gb{};
  std::vector<GpuExcess> excesses{};
};

/// Nothing is known where the driver does not number processes as we do.
GpuMemory look_at_gpu_memory(const gpu::Nvml& nvml, const Machine& machine,
                             const std::vector<Patient>& patients);

}  // namespace almanac::machine
