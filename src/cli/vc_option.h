// SPDX-License-Identifier: Apache-2.0

/// \file
/// The option that selects which field of a Slurm job is its virtual cluster.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "accounting/past_job.h"

namespace almanac::cli {

CLI::Option* add_vc_option(CLI::App& command, std::string& vc);
accounting::VcFrom vc_from(const std::string& vc);

}  // namespace almanac::cli
