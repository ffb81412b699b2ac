// SPDX-License-Identifier: Apache-2.0

/// \file
/// Copies of the store: made beside the service that writes it, and put in its place again.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/connection.h"

namespace almanac::store {

/// Writes all that the store at `path` holds now, but for the environments of jobs that have ended,
/// into the file `to`, for its owner alone; one that is there is replaced when the copy is whole
/// and on the disk. The service goes on meanwhile. Fails with not_found, corrupt, unavailable (no
/// room, no right), or invalid where `to` is the store, anything in its folder, or no plain file.
///
/// Cost: reads and writes each page once; the size of the store on the disk of `to`.
Result<void> back_up(const std::string& path, const std::string& to);

/// Puts the copy `from` in the place of the store at `path`, all or nothing. What was there stays
/// beside it, as PATH.replaced. Fails with conflict while a service has the store, corrupt, invalid
/// or unsupported where `from` is no store of ours that this Almanac can read; then the old one is
/// untouched.
Result<void> restore(const std::string& from, const std::string& path);

/// Which environments a copy has, in which there are passwords: a copy that is kept elsewhere has
/// none of jobs that have ended.
enum class Secrets : std::uint8_t { all, of_unfinished };
/// back_up() by a connection that is open. Throws (failure.h).
void copy(Connection& connection, const std::string& to, Secrets secrets);

}  // namespace almanac::store
