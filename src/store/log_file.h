// SPDX-License-Identifier: Apache-2.0

/// \file
/// The log that SQLite keeps beside a store's file (`-wal`): commits that are not in the file yet.
#pragma once

#include <string>

namespace almanac::store {

/// Looks for damage in the log of the store at `path`. SQLite takes a log to end where a checksum
/// of it is wrong, and drops what follows without a word. That is right for the last commit, which
/// a power failure may leave torn, and loses acknowledged ones where a bit was flipped: then whole
/// commits follow. Throws (failure.h). Cost: one pass over the log.
/// Source  SQLite, "WAL-mode File Format", sections 4 and 5.
void check_log(const std::string& path);

}  // namespace almanac::store
