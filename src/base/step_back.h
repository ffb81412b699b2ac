// SPDX-License-Identifier: Apache-2.0

/// \file
/// Work beside what must not wait.
#pragma once

namespace almanac {

/// Lets every other thread of the machine go before the calling one, for good.
void step_back();

}  // namespace almanac
