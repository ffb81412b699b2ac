// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses a way to the controller that needs no program of ours.
#pragma once

#include <memory>
#include <string>

#include "slurm/link.h"

namespace almanac::slurm {

/// "commands": Slurm's own, as SLURM_CONF or the machine has it. "unix:/path", "http://host:port":
/// slurmrestd, over TCP with the token in SLURM_JWT. Asks nothing yet. Fails with usage for another
/// word, and for TCP without a token.
Result<std::unique_ptr<Link>> connect(const std::string& way);

}  // namespace almanac::slurm
