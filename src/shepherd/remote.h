// SPDX-License-Identifier: Apache-2.0

/// \file
/// A run on other machines (boxes), as the head keeps it: the same folder, without a shepherd.
///
/// | file | content |
/// |---|---|
/// | `tasks.json` | the boxes, how far each is, and how each ended; one file, so that it changes at
/// once | | `spec.N.json` | what task N runs | | `order` | the strongest order so far; absent for
/// none | | `news` | a FIFO, readable once the run has ended |
///
/// The head writes `tasks.json`; the folder of a run is complete once it has that file. A task that
/// has ended there never starts again, and neither does one whose file is gone.
///
/// Why so    docs/decisions/0034-boxes.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shepherd/run.h"

namespace almanac::shepherd {

inline constexpr const char* kTasksFile = "/tasks.json";
inline constexpr const char* kOrderFile = "/order";
inline constexpr const char* kNewsFile = "/news";

/// Returns the name of the file with the spec of a task, below its folder.
std::string spec_file(std::size_t task);

struct RemoteTask {
  enum class State : std::uint8_t {
    made,   ///< No box has ever been sent it.
    sent,   ///< Its box may have it.
    ready,  ///< Its box has it on disk, and waits for the others.
    ended,
  };
  std::string box{};
  State state = State::made;
  Outcome outcome{};  ///< If it has ended.
};

struct RemoteRun {
  /// Distinguishes it from an earlier run of the same name, which no box ever started.
  std::string nonce{};
  std::vector<RemoteTask> tasks{};
  bool may_start = false;  ///< Every box has its task, so all start.

  bool has_ended() const;
};

/// Fails with `not_found` if the folder is not one of a run on boxes, with `unavailable` if it
/// cannot be read now, and with `corrupt` if the file is damaged.
Result<RemoteRun> read_remote(const std::string& folder);
/// Writes the state of a run to the disk, wholly or not at all, and wakes who waits for its end.
Result<void> write_remote(const std::string& folder, const RemoteRun& run);

/// Returns how the run ended: as the first task in order of rank that did not end well. If any task
/// was lost, the run was.
Outcome outcome_of(const RemoteRun& run);

/// Returns what the file `order` says for the signal that a shepherd would get: "room", "end",
/// "memory", "end_now", "kill".
std::string order_word(int signal);
/// Gives an order to all boxes of a run, unless one as strong stands. Thread-safe in one process.
Result<void> order_remote(const std::string& folder, const std::string& word);

std::string to_json(const Outcome& outcome);
/// Fails with `corrupt`.
Result<Outcome> parse_outcome(std::string_view text);

}  // namespace almanac::shepherd
