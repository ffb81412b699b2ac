// SPDX-License-Identifier: Apache-2.0

/// \file
/// The connections between the GPUs of this machine as reported by its driver, in the words of
/// cluster files.
#pragma once

#include <vector>

#include "cluster/cluster.h"
#include "gpu/driver.h"

namespace almanac::machine {

/// Sets the sockets and connections of `make`, whose GPUs are the driver's `numbers` in this order.
/// Leaves out what is the same for all pairs, and what the driver does not report.
void find_connections(const gpu::Driver& driver, const std::vector<int>& numbers,
                      cluster::NodeClass& make);

}  // namespace almanac::machine
