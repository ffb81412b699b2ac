// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes that a log says a job ran on, as Slurm writes them: "g[001-004,7],x1".
#pragma once

#include <string_view>

namespace almanac::trace {

/// The number of nodes that `text` names, where it cannot be a count or a word: it begins with a
/// letter and has a digit. Else 0: "4", "None assigned", "(null)".
/// Cost: linear in the names.
int nodes_in(std::string_view text);

/// Whether `text` names at least one node; a node whose name is a number counts.
bool is_node_list(std::string_view text);

}  // namespace almanac::trace
