// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses a way to the controller.
#pragma once

#include <memory>
#include <string>

#include "slurm/types.h"

namespace almanac::slurm {

/// "gateway": our program that uses libslurm. "commands": Slurm's commands, configured by
/// SLURM_CONF or the machine. "": the gateway if it was built, otherwise the commands.
/// "unix:/path", "http://host:port": slurmrestd, over TCP with the token in SLURM_JWT. Sends
/// nothing yet. Fails with `usage` for any other text, and for TCP without a token.
Result<std::unique_ptr<Link>> connect(const std::string& way);

/// The choices in words, for help texts.
inline constexpr const char* kWays =
    "How to reach Slurm: gateway, commands, or unix:/path or http://host:port of slurmrestd "
    "(default: gateway if it is installed, else commands)";

}  // namespace almanac::slurm
