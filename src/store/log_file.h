// SPDX-License-Identifier: Apache-2.0

/// \file
/// SQLite's write-ahead log next to the store's file (`-wal`): commits that are not in the file
/// yet.
#pragma once

#include <string>

namespace almanac::store {

/// Finds damage in the log of the store at `path`. SQLite treats a wrong checksum as the end of the
/// log, and silently drops what follows. That is right for the last commit, which a power failure
/// may leave incomplete. It loses acknowledged commits after a flipped bit, and then complete
/// commits follow. Throws (failure.h). Cost: one pass over the log.
/// Source  SQLite, "WAL-mode File Format", sections 4 and 5.
void check_log(const std::string& path);

}  // namespace almanac::store
