// SPDX-License-Identifier: Apache-2.0

/// \file
/// Generic resources (text/gres.h) under the names that this room gives them.
#pragma once

#include "text/gres.h"

namespace almanac::slurm {

using text::Gres;
using text::parse_gres;
using text::times;
using text::TypedGpus;

}  // namespace almanac::slurm
