// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes generic resources (text/gres.h) available in this namespace.
#pragma once

#include "text/gres.h"

namespace almanac::slurm {

using text::Gres;
using text::parse_gres;
using text::times;
using text::TypedGpus;

}  // namespace almanac::slurm
