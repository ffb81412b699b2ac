// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes that a log says a job ran on, as Slurm writes them: "g[001-004,7],x1".
#pragma once

#include <string_view>

namespace almanac::trace {

/// Returns the number of nodes that `text` names, if it starts with a letter and contains a digit.
/// Otherwise 0, because it may be a count or a word: "4", "None assigned", "(null)". Cost: linear
/// in the names.
int nodes_in(std::string_view text);

/// Whether `text` names at least one node; a node whose name is a number counts.
bool is_node_list(std::string_view text);

}  // namespace almanac::trace
