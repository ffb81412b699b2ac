// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which jobs hold GPUs, and which GPUs a process may use although its job no longer holds them.
#pragma once

#include <vector>

#include "cluster/ledger.h"
#include "machine/machine.h"
#include "machine/state.h"

namespace almanac::machine {

/// Returns jobs that hold GPUs: running, or leaving the GPUs on which they ran. In order of number.
std::vector<const Entry*> holders_of(const State& state);

/// GPUs of `entry` that other processes have not released yet.
std::vector<cluster::Grant> not_released(const State& state, const Entry& entry);

/// Returns `held` without the GPUs of `others`; drops grants that become empty.
std::vector<cluster::Grant> without(std::vector<cluster::Grant> held,
                                    const std::vector<cluster::Grant>& others);

/// Returns all GPUs of all nodes.
std::vector<cluster::Grant> whole_machine(const Machine& machine);

}  // namespace almanac::machine
