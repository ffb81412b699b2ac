// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a command as a job, with given folder, processors and output files, and ends it with all
/// processes that it started.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "process/descriptor.h"
#include "process/tree.h"

namespace almanac::process {

class Cgroup;

struct Command {
  std::vector<std::string> argv{};  ///< The program is looked for in PATH.
  std::vector<std::pair<std::string, std::string>> environment{};  ///< Added to ours, or instead.
  std::vector<std::string> hidden{};  ///< Prefixes of our variables that it does not get.
  std::string directory{};            ///< "" for ours.
  std::vector<int> cpus{};            ///< Rising; empty = all that we may use.
  const Cgroup* cgroup = nullptr;     ///< It starts in this group, which must outlive the job.
  int out = STDOUT_FILENO;
  int err = STDERR_FILENO;
};

/// How a command ended.
struct Ending {
  int status = 0;  ///< Its exit status.
  int signal = 0;  ///< Signal that ended it; 0 for none.

  bool good() const { return status == 0 && signal == 0; }
};

/// Converts a status of waitpid(2).
Ending ending_from(int wait_status);

/// "exit status 3", "killed by signal 9 (Killed)".
std::string to_string(const Ending& ending);

/// A command that was started. Its input is empty. Moves; the destructor ends it without grace.
class Job {
 public:
  /// Fails with not_found when there is no such program or folder, else with unavailable.
  static Result<Job> start(const Command& command);
  Job(Job&& other) noexcept;
  Job& operator=(Job&& other) noexcept;
  ~Job();

  pid_t process() const { return process_; }
  /// Returns how it ended, or nothing if it has not; does not wait. Its children may still run.
  const std::optional<Ending>& ended();
  /// Readable when there is news for ended(); for poll(2).
  int news() const { return socket_.get(); }
  /// Returns the usage of the command and its children.
  Usage usage() const { return usage_of(keeper_); }
  /// SIGTERM to all that it started, after `grace` SIGKILL to what is left. Waits for it; gives how
  /// many would not go even so (they sit in the kernel, or are not ours to kill).
  int end(Duration grace);

 private:
  Job(Descriptor socket, pid_t keeper) : socket_(std::move(socket)), keeper_(keeper) {}

  Descriptor socket_;
  pid_t keeper_ = -1;
  pid_t process_ = -1;
  std::optional<Ending> ending_;
};

}  // namespace almanac::process
