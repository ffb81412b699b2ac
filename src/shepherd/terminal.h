// SPDX-License-Identifier: Apache-2.0

/// \file
/// The terminal of a run: its user can attach, detach and return while the run continues.
///
/// The shepherd holds the master of a pseudo terminal and listens on a socket in the run's folder.
/// Only the latest program is attached; it receives recent output, then everything new. Only the
/// run's user can attach: the socket belongs to that user, and the kernel's credentials of the peer
/// are checked too. An attached program can never block the shepherd: if it does not read, the
/// command waits as on any terminal.
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

/// In the child that will become the command: opens a terminal as the current user, and makes it
/// our controlling terminal, standard input and output. Returns its master; empty, with errno, on
/// failure.
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
  /// Informs the attached client that the run has ended, after all that it has written; waits a
  /// moment for a slow client.
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
