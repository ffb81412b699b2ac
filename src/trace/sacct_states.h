// SPDX-License-Identifier: Apache-2.0

/// \file
/// The states of jobs in Slurm's accounting, of 20.11 to 25.05, with the flags that may stand in
/// their place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace almanac::trace {

/// Returns the one word for a state: "CANCELLED by 1001" is CANCELLED, "OUT_OF_ME+" (cut to a
/// narrow column) is OUT_OF_MEMORY, "COMPLETED,COMPLETING" is COMPLETED. RESIZING and REQUEUED take
/// precedence, because they say that the row is not the last of its job. Returns nothing for a word
/// with an unknown meaning: a flag, or a state of a later release.
std::optional<std::string_view> sacct_state(std::string_view text);

}  // namespace almanac::trace
