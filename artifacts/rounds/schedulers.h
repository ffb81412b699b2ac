// SPDX-License-Identifier: Apache-2.0

/// \file
/// The schedulers of Muri's simulator that share GPUs.
#pragma once

#include <memory>

#include "rounds/engine.h"

namespace almanac::rounds {

/// `by_remaining`: Muri-S, which knows how long jobs run; else Muri-L.
std::unique_ptr<Scheduler> make_muri(const Machines& machines, bool by_remaining);

std::unique_ptr<Scheduler> make_antman(const Machines& machines);

}  // namespace almanac::rounds
