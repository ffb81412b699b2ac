// SPDX-License-Identifier: Apache-2.0

/// \file
/// The path of this program, to find the programs installed with it.
#pragma once

#include <filesystem>

namespace almanac::process {

/// The file that was started. A launcher that hands this program to a loader of its own, as the
/// tarball's does, says so by $ALMANAC_LAUNCHER, since then the running file is the loader; the
/// first call takes that out of the environment. To be called first by main().
const std::filesystem::path& own_program();

}  // namespace almanac::process
