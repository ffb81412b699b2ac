// SPDX-License-Identifier: Apache-2.0

/// \file
/// An order that puts jobs beyond an age cap before all others.
#pragma once

#include <memory>

#include "policy/slots.h"

namespace almanac::policy {

/// Returns whether a job has waited for `cap` in all, the time that it ran not counted.
bool is_beyond(Duration cap, const Candidate& job);

/// Ranks as `order` does, but jobs beyond `cap` first, the earliest submission first.
std::unique_ptr<Order> oldest_first(std::unique_ptr<Order> order, Duration cap);

}  // namespace almanac::policy
