// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tables, and how those of an older Almanac become today's.
#pragma once

#include <cstdint>
#include <limits>

#include "store/connection.h"

namespace almanac::store {

/// Returns the version of the tables in a file; 0 if it is new. Throws Refused like
/// bring_up_to_date().
std::int64_t version_of(Connection& connection);
/// Today's.
std::int64_t newest_version();
/// Whether the tables are today's, with a column for each attribute of submissions. Throws Refused
/// as bring_up_to_date().
bool is_up_to_date(Connection& connection);

/// Creates the tables, or updates them, in one transaction. Throws Refused without changing the
/// file: `invalid` if it belongs to another program, `unsupported` if a later Almanac wrote it.
/// `at_most`: an older version to stop at.
void bring_up_to_date(Connection& connection,
                      std::int64_t at_most = std::numeric_limits<std::int64_t>::max());

}  // namespace almanac::store
