// SPDX-License-Identifier: Apache-2.0

/// \file
/// Threads that write files of users. Such a file may be on a file system that hangs, so each piece
/// of work has a thread of its own, and no other thread waits for it for long.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace almanac::boxes {

/// How long write_apart() waits.
inline constexpr std::chrono::milliseconds kPatience{250};
/// Most threads, in total and for one user: one whose files hang leaves room for others.
inline constexpr std::size_t kMostWriters = 64;
inline constexpr std::size_t kMostWritersOfUser = 16;

/// Calls `work` in a thread of its own, and returns true if it ended within kPatience. Otherwise
/// it goes on, and must record its result itself. Returns false without calling it while work of
/// the same `name` goes on, or too much. What `work` uses must outlive it: it is never waited for,
/// and goes on if a service begins again in this process. Thread-safe.
bool write_apart(const std::string& name, std::uint32_t uid, std::function<void()> work);

}  // namespace almanac::boxes
