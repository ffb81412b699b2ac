// SPDX-License-Identifier: Apache-2.0

/// \file
/// The combined meaning of Slurm's words for the state of a node.
#pragma once

#include <string>
#include <vector>

#include "slurm/types.h"

namespace almanac::slurm {

/// Sets power, drained, busy and reserved of `node` from a state and flags in upper case: {"IDLE",
/// "DRAIN", "POWER_DOWN"}.
void read_node_words(const std::vector<std::string>& words, Node& node);

}  // namespace almanac::slurm
