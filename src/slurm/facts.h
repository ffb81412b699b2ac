// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the settings of a Slurm controller mean for those who change its jobs and nodes.
#pragma once

#include "slurm/types.h"

namespace almanac::slurm {

/// Sets Site::manager, and Site::facts from Site::parameters. A setting that is not known counts as
/// Slurm's default.
void tell_facts(Site& site);

}  // namespace almanac::slurm
