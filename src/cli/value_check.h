// SPDX-License-Identifier: Apache-2.0

/// \file
/// Checks of the values of options. Each fails with one sentence, "must be ..., found ...", and
/// says in help and manual pages what it allows. They check settings of almanac.toml too.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/time.h"

namespace almanac::cli {

/// A decimal whole number within these bounds. CLI11 alone reads 0x8 as 8, 010 as 8, and -1 as the
/// largest number.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// A bound for counts that have none of their own.
inline constexpr std::int64_t kLargestCount = 1'000'000'000;
/// A seed of random numbers: any whole number of 0 or more.
CLI::Validator seed_number();
/// A decimal number within these bounds.
CLI::Validator number(double least, double most = std::numeric_limits<double>::infinity());
/// A decimal number above 0.
CLI::Validator positive_number();

/// One of a few words.
CLI::Validator one_of(std::vector<std::string> words);

/// A time such as 1:30, 15:00 or 2-00:00:00, of at most `most`.
CLI::Validator time_up_to(Duration most);
/// A zone of the tz database, or a fixed offset.
CLI::Validator zone_name();

/// A policy by name, with parts replaced. Files are not read.
CLI::Validator policy_name();
/// Several policies, or a set of them.
CLI::Validator policy_names();

/// ADDRESS:PORT, [ADDRESS]:PORT or PORT.
CLI::Validator listen_address();
/// HOST:PORT or [ADDRESS]:PORT.
CLI::Validator host_and_port();
/// A way to reach Slurm (slurm/connect.h).
CLI::Validator slurm_way();
/// The URL of a service.
CLI::Validator service_url();

/// Returns why `option` does not take `text`: "must be ..., found ..."; "" if it does.
std::string problem_of(CLI::Option& option, std::string text);

}  // namespace almanac::cli
