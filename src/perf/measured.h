// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measurements as a catalogue: each model is fed as its table says, without a fit. Step times with
/// more GPUs, with another batch size and next to a neighbor are fitted to the rows without cores
/// and memory (fit.h), if there are any.
#pragma once

#include <string>

#include "base/result.h"
#include "perf/catalogue.h"
#include "perf/measurement.h"

namespace almanac::perf {

/// Tables are of one GPU; cores are needed, memory that no row says does not matter. A cell that
/// was not measured, but whose cores were with most memory and whose memory was with most cores, is
/// the lesser of the two (Synergy: the slower of both decides). Fails with invalid when there is no
/// table, or when one has other holes.
Result<Catalogue> as_measured(const Profile& profile, const std::string& path);

}  // namespace almanac::perf
