// SPDX-License-Identifier: Apache-2.0

/// \file
/// Words of slurmctld's log and of Slurm's command lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slurmctld/nodes/node_table.h"

namespace almanac::reproduce {

/// Returns what follows `key` in `line`, up to one of `ends`; nothing without the key.
std::optional<std::string_view> word_after(std::string_view line, std::string_view key,
                                           std::string_view ends = " ");

/// Returns the nodes of a list such as "n[1-3,7]" that `table` has; none if it is no list.
slurmctld::NodeBits nodes_in(const slurmctld::NodeTable& table, std::string_view list);
/// Returns a set of nodes as such a list.
std::string names_of(const slurmctld::NodeBits& nodes, const slurmctld::NodeTable& table);

}  // namespace almanac::reproduce
