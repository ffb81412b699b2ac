// SPDX-License-Identifier: Apache-2.0

/// \file
/// The log of a service: one line per event, on stderr, for journald or a terminal. Commands that
/// end print their messages themselves.
#pragma once

#include <string_view>

namespace almanac::service {

void log_info(std::string_view line);
void log_warning(std::string_view line);
void log_error(std::string_view line);

}  // namespace almanac::service
