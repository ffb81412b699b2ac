// SPDX-License-Identifier: Apache-2.0

/// \file
/// Slurm's names of reasons for waiting, as squeue prints them: "Resources", "AssocGrpGRES".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace almanac::policy {

/// Position in the list of names; `none` for no name.
enum class SlurmReason : std::uint8_t { none };

/// Returns the reason that Slurm calls `name`; `none` if Almanac does not know it.
SlurmReason slurm_reason(std::string_view name);

/// Returns Slurm's name; "" for `none`.
std::string_view name(SlurmReason reason);

/// Returns what the reason means for the job, as a clause: "the GrpTRES limit of its account or of
/// one above leaves too few generic resources, such as GPUs".
std::string meaning(SlurmReason reason);

}  // namespace almanac::policy
