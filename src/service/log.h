// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a service says while it runs: one line an event, on stderr, where journald or a terminal
/// takes it. Commands that end say what they have to say themselves.
#pragma once

#include <string_view>

namespace almanac::service {

void log_info(std::string_view line);
void log_warning(std::string_view line);
void log_error(std::string_view line);

}  // namespace almanac::service
