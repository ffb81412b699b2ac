// SPDX-License-Identifier: Apache-2.0

/// \file
/// The terminal of a run: its user attaches to it, leaves it and comes back, while the run goes on.
///
/// The shepherd holds the master of a pseudo terminal and listens at a socket in the run's folder.
/// One program is attached at a time, the latest; it is sent what was written last, then all that
/// comes. Only the run's user can: the socket is that user's alone, and the kernel's word on who
/// connects is asked as well. Nothing that an attached program does, or does not do, keeps us
/// waiting: where it does not read, the command waits as at any terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "base/result.h"
#include "process/descriptor.h"
#include "shepherd/log.h"

namespace almanac::shepherd {

/// For the child that will be the command: opens a terminal as whoever we are, and makes it our
/// own, with our input and output on it. Gives its master; empty, with errno, where that fails.
process::Descriptor enter_terminal();

class Terminal {
 public:
  /// Listens in `folder` for `user`. Fails with unavailable.
  static Result<Terminal> open(const std::string& folder, process::Descriptor master, uid_t user,
                               gid_t group);

  /// Adds what is waited for.
  void add_to(std::vector<pollfd>& news) const;
  /// Moves what can be moved without waiting; `log` gets what the command writes, too.
  void pump(Log& log);
  /// Says to whoever is attached that the run has ended, after all that it has written; waits a
  /// moment for one that is slow.
  void close(Log& log);

 private:
  void let_in();
  void hear();
  void hear_packet(std::string_view packet);
  void read_master(Log& log, std::size_t room);
  void write_master();
  void show();
  void leave(char word);
  std::size_t waiting() const { return to_show_.size() - shown_; }

  process::Descriptor master_;
  process::Descriptor listener_;
  process::Descriptor attached_;
  uid_t user_ = 0;
  bool is_hung_ = false;  // nobody has the terminal open, at the last look
  std::string last_;      // what was written last, for one who attaches
  std::string to_show_;   // to whoever is attached, from shown_ on
  std::size_t shown_ = 0;
  std::string to_write_;  // to the terminal
};

}  // namespace almanac::shepherd
