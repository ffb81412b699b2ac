// SPDX-License-Identifier: Apache-2.0

/// \file
/// Boxes: other machines that have joined, as nodes of the cluster of a head.
///
/// A box describes itself as it would run alone (find_machine). The head appends its nodes in order
/// of joining, so that the nodes of earlier boxes keep their numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/ledger.h"
#include "machine/machine.h"

namespace almanac::machine {

/// Returns a machine without nodes, to which boxes are added.
Machine head_of_boxes();

/// Returns the hardware of a box, as JSON that add_box() reads.
std::string describe_box(const Machine& machine);

/// Adds the nodes of the box `name`: the first has its name, further ones "NAME-2", "NAME-3". Fails
/// with `invalid` if `hardware` is not from describe_box(), has other nodes than a box can have, or
/// does not go together with those of earlier boxes.
Result<void> add_box(Machine& machine, const std::string& name, std::string_view hardware);

/// Returns the nodes of a box as a cluster file, for add_damaged_box(). Requires hardware that
/// add_box() has read.
std::string cluster_of_box(std::string_view hardware);

/// As add_box(), of a box of whose hardware only the nodes are known. Their GPUs get other names
/// and their processors none, so no job may start there.
Result<void> add_damaged_box(Machine& machine, const std::string& name, std::string_view cluster);

/// What a job holds on one box.
struct OnBox {
  std::string box{};
  std::vector<cluster::Grant> held{};
};
/// Returns what is held by box, in order of nodes. Requires a machine with boxes.
std::vector<OnBox> by_box(const std::vector<cluster::Grant>& held, const Machine& machine);

}  // namespace almanac::machine
