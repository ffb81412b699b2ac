// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the GPUs of this machine are connected, as its driver tells, in the words of cluster files.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "gpu/nvml.h"

namespace almanac::machine {

/// Tells `make` of the sockets and connections of its GPUs, which are the driver's `numbers` in
/// that order. What is as far for all of them is left out, and so is what the driver does not say.
void find_connections(const gpu::Nvml& nvml, const std::vector<int>& numbers,
                      cluster::NodeClass& make);

}  // namespace almanac::machine
