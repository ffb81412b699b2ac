// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs hold GPUs, and which GPUs a process may use though its job holds them no more.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "machine/machine.h"
#include "machine/state.h"

namespace almanac::machine {

/// Jobs that hold GPUs: they run, or leave the GPUs on which they ran. In order of number.
std::vector<const Entry*> holders_of(const State& state);

/// GPUs of `entry` that other processes have not released yet.
std::vector<cluster::Grant> not_released(const State& state, const Entry& entry);

/// `held` without the GPUs of `others`, and without grants that are empty then.
std::vector<cluster::Grant> without(std::vector<cluster::Grant> held,
                                    const std::vector<cluster::Grant>& others);

/// All GPUs of all nodes.
std::vector<cluster::Grant> whole_machine(const Machine& machine);

}  // namespace almanac::machine
