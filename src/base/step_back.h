// SPDX-License-Identifier: Apache-2.0

/// \file
/// Work beside what must not wait.
#pragma once

namespace almanac {

/// Lets every other thread of the machine go before the calling one.
void step_back();

/// Undoes that for all threads of this process, as far as it may: root may, others may not. For a
/// process that ends, and waits for what such threads are at.
void step_forward();

}  // namespace almanac
