// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tables, and how those of an older Almanac become today's.
#pragma once

#include "store/connection.h"

namespace almanac::store {

/// Makes the tables, or brings them up to date, all in one transaction. Throws Refused: invalid
/// when it is another program's file, unsupported when a later Almanac wrote it; neither is
/// touched.
void bring_up_to_date(Connection& connection);

}  // namespace almanac::store
