// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tables, and how those of an older Almanac become today's.
#pragma once

#include <cstdint>
#include <limits>

#include "store/connection.h"

namespace almanac::store {

/// The version of the tables that a file has; 0 = it is new. Throws Refused as bring_up_to_date().
std::int64_t version_of(Connection& connection);
/// Today's.
std::int64_t newest_version();
/// Whether the tables are today's, with a column for each attribute of submissions. Throws Refused
/// as bring_up_to_date().
bool is_up_to_date(Connection& connection);

/// Makes the tables, or brings them up to date, all in one transaction. Throws Refused: invalid
/// when it is another program's file, unsupported when a later Almanac wrote it; neither is
/// touched. `at_most`: an older version to stop at.
void bring_up_to_date(Connection& connection,
                      std::int64_t at_most = std::numeric_limits<std::int64_t>::max());

}  // namespace almanac::store
