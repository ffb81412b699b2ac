// SPDX-License-Identifier: Apache-2.0

/// \file
/// Copies of the store: made while a service writes it, and restored.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/connection.h"

namespace almanac::store {

/// Writes the contents of the store at `path`, except the environments of ended jobs, into the file
/// `to`, readable by its owner only. An existing file is replaced once the copy is complete and on
/// disk. The service continues meanwhile. Fails with `not_found`, `corrupt`, `unavailable` (no
/// space, no permission), or `invalid` if `to` is the store, inside its folder, or not a plain
/// file.
///
/// Cost: reads and writes each page once; needs the size of the store on the disk of `to`.
Result<void> back_up(const std::string& path, const std::string& to);

/// Replaces the store at `path` by the copy `from`, all or nothing. The old store stays next to it
/// as PATH.replaced. Fails with `conflict` while a service uses the store, and with `corrupt`,
/// `invalid` or `unsupported` if `from` is not a store that this Almanac can read; the old one is
/// unchanged then.
Result<void> restore(const std::string& from, const std::string& path);

/// The environments in a copy. They may contain passwords, so a copy for keeping has none of ended
/// jobs.
enum class Secrets : std::uint8_t { all, of_unfinished };
/// back_up() by a connection that is open. Throws (failure.h).
void copy(Connection& connection, const std::string& to, Secrets secrets);

}  // namespace almanac::store
