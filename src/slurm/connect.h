// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses a way to the controller.
#pragma once

#include <memory>
#include <string>

#include "slurm/link.h"

namespace almanac::slurm {

/// "gateway": our program that speaks libslurm. "commands": Slurm's own, as SLURM_CONF or the
/// machine has it. "": the gateway where it was built, else the commands. "unix:/path",
/// "http://host:port": slurmrestd, over TCP with the token in SLURM_JWT. Asks nothing yet. Fails
/// with usage for another word, and for TCP without a token.
Result<std::unique_ptr<Link>> connect(const std::string& way);

/// The same in words, for the commands that offer the choice.
inline constexpr const char* kWays =
    "How to reach Slurm: gateway, commands, or unix:/path or http://host:port of slurmrestd "
    "(default: gateway if it is installed, else commands)";

}  // namespace almanac::slurm
