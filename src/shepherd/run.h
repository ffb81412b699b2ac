// SPDX-License-Identifier: Apache-2.0

/// \file
/// One run of a job on this machine: started, adopted after a restart of ours, ended, read.
///
/// A run is a folder and a shepherd: a small process that starts the command, writes down how it
/// ends and outlives us. Whether a shepherd lives is told by a lock on a file of the folder, taken
/// before it is started and inherited by it: no moment is without an answer, and no process number
/// is trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "process/descriptor.h"
#include "process/job.h"
#include "process/tree.h"

namespace almanac::shepherd {

/// What to run: spec.json.
struct Spec {
  std::string id{};                 ///< "17.1": of the name of its control group.
  std::vector<std::string> argv{};  ///< The program is looked for in the PATH of `environment`.
  std::string script{};             ///< Text of a script that argv are arguments of; "" = none.
  std::string allocation{};         ///< What kAllocationFile says at first; "" = there is none.
  std::vector<std::string> environment{};  ///< All of it, but ALMANAC_RUN=folder, which is added.
  std::string directory{};                 ///< "" = the root.
  std::string out{};                       ///< From `directory` on, as its user; "" = nowhere.
  std::string err{};                       ///< "" = with `out`.
  bool append = false;                     ///< To logs that are there: a later run of the job.
  double log_limit_gb = 4;                 ///< Of each file; more is dropped, and said so.
  std::vector<int> cores{};                ///< Empty = all that we may use.
  /// N of each /dev/nvidiaN that it may open, none of others, by cgroup where that can be; nothing
  /// = all of them.
  std::optional<std::vector<int>> gpus{};
  std::optional<double> cpus{};       ///< Limit by cgroup, where that can be.
  std::optional<double> memory_gb{};  ///< By cgroup, else watched; all is killed beyond.
  std::optional<double> io_mbs{};     ///< Of each disk, by cgroup, else not held.
  Duration time_limit = kNoDuration;
  Duration grace = 30s;
  int signal = 0;                 ///< Sent before the time limit, and by make_room(); 0 = none.
  Duration signal_before = 1min;  ///< So long before the limit.
  bool signal_shell = false;  ///< To the command alone; else, of a script, to all but its shell.
  /// Files that it may have open unless it asks for more (RLIMIT_NOFILE, soft); nothing = as we.
  std::optional<std::uint64_t> open_files{};
  std::vector<std::string> resource_limits{};  ///< After that (process/resource_limits.h).
  /// It starts no other while its user has so many processes (process::limit_processes).
  std::optional<std::uint64_t> processes{};
  std::int32_t umask = 022;
  bool terminal = false;  ///< Runs on one, to which its user attaches (terminal.h); without `err`.
  std::optional<uid_t> uid{};  ///< To become, with its groups; only root can.
  std::optional<gid_t> gid{};
  /// The user had a name at submission. Where it is not known now the command is not started yet:
  /// it would be without its groups.
  bool user_has_name = false;
};

/// The file of a run's folder where the command may say how it goes. Its user's own, empty at
/// first.
inline constexpr const char* kProgressFile = "/progress";
/// The file of a run's folder that says what the command has, of runs that may be given other GPUs
/// as they go on (Run::reallocate). Everybody may read it.
inline constexpr const char* kAllocationFile = "/allocation";

/// How a run ended: exit.json.
enum class Cause : std::uint8_t {
  by_itself,
  told,
  time_limit,
  memory,
  cannot_start,
  account,  ///< Of its user: it cannot start now, nothing of it has run, a later try may succeed.
};

struct Exit {
  process::Ending ending{};
  Cause cause = Cause::by_itself;
  std::string message{};  ///< Why it could not start; "" = it did.
  Time start{};
  Time end{};
  Duration ran{};                ///< By a clock that is never set.
  process::Usage usage{};        ///< memory_gb: the most at once, as far as it was watched.
  std::int64_t log_dropped = 0;  ///< Bytes of output.
};

/// What has become of a run.
struct Outcome {
  enum class Kind {
    lives,
    ended,
    lost,           ///< The shepherd is gone without a word; what it left has been killed now.
    corrupt,        ///< It has ended, and its last word is damaged: nobody can tell how.
    never_started,  ///< Nothing of it ran: it may be started again.
    unreadable,     ///< Nobody can tell now: it may be any of the others.
  };
  Kind kind = Kind::lives;
  std::optional<Exit> exit{};  ///< Of one that has ended.
  bool is_account = false;     ///< Of one that never started: its user's account is at fault.
  std::string why{};           ///< In words, of all that follow.
};

/// Why a run was not started; its folder is gone again.
struct NotStarted : Error {
  enum class For : std::uint8_t {
    now,   ///< No process or room is to be had, the shepherd's program is not there: try again.
    job,   ///< The same, but other runs are not affected: a folder of its name is in the way.
    good,  ///< What it is to run can be given to no program.
  };
  For how_long = For::now;
};

/// Of GPUs that a job is told to use, and could use others.
inline constexpr const char* kTold = "told";

/// How limits are held. Of a run: "" = it has no such limit.
struct Means {
  std::string cpus{};    ///< "cgroup v2", "affinity".
  std::string memory{};  ///< "cgroup v2", "watched".
  std::string io{};      ///< "cgroup v2", "not held".
  std::string gpus{};    ///< "cgroup v2", kTold.

  bool operator==(const Means&) const = default;
};

/// A run that goes on, or has just ended. Moves. The destructor lets it go on.
class Run {
 public:
  /// Makes the folder, which must not be there, and starts; does not wait until the command runs.
  static tl::expected<Run, NotStarted> start(const std::string& folder, const Spec& spec);
  /// What a folder says. Of one whose starter has gone: never_started stays so for ever. Of one
  /// that is unreadable nothing is known yet: it may be any of the others.
  enum class Found { lives, ended, lost, never_started, unreadable };
  static Found look(const std::string& folder);
  /// Takes over one that lives, has ended, is lost or unreadable. Fails with not_found when it
  /// never started.
  static Result<Run> adopt(const std::string& folder);
  Run(Run&&) noexcept = default;
  Run& operator=(Run&&) noexcept = default;
  ~Run();

  /// When its shepherd began, by the clock that is never set (since_boot()): by the kernel's word,
  /// whatever any file or the wall's clock says. Nothing = it has gone, or cannot be looked at.
  std::optional<Duration> begun() const;
  /// Readable when the shepherd has gone; for poll(2). -1 = it could not be held: only exited()
  /// tells.
  int news() const { return news_.get(); }
  /// Whether the shepherd has gone, as far as it is held.
  bool has_news() const;
  /// What has become of it; kills what a shepherd without a word has left, and waits for none.
  /// `unreadable`, and `lives` though there is news: to be asked again, later.
  Outcome exited();
  /// Asks it to end: SIGTERM to all below, SIGKILL after the grace of the spec. Does not wait.
  void end();
  /// The same with the signal of the spec in place of SIGTERM, once. Of a run that has one.
  void make_room();
  /// Kills it without grace, also when it was asked to end before. Does not wait.
  void end_now();
  /// Kills the shepherd and what it has started, for one that follows no order: exited() then says
  /// `lost`, without news where the shepherd sits in the kernel.
  void kill();
  /// Kills it, as it is where the shepherd itself sees too much memory: it has taken some that is
  /// watched from outside, a GPU's. Does not wait.
  void end_for_memory();
  /// Gives it other cores (empty = as they are) and limits. Does not wait. A limit that the control
  /// group did not have from the start is not held by it later. `time_limit` counts from its begin.
  Result<void> resize(const std::vector<int>& cores, std::optional<double> cpus,
                      std::optional<double> memory_gb, Duration time_limit);
  /// Says in its file what the command has from now on, and sends it SIGUSR2. Does not wait. Of a
  /// run that has such a file and whose command expects the signal, which else ends it.
  Result<void> reallocate(const std::string& allocation);
  /// What that file says; nothing = there is none.
  std::optional<std::string> allocation() const;
  /// Of the command; -1 = not there yet.
  pid_t process() const;
  process::Usage usage() const;
  /// -1 = gone when we took over.
  pid_t shepherd() const { return shepherd_; }
  const std::string& folder() const { return folder_; }

 private:
  Run() = default;
  /// Holds the shepherd of one that lives. False when that cannot be now.
  bool take_hold();
  /// Whether it was given.
  bool order(int signal);

  std::string folder_;
  process::Descriptor news_;  // pidfd of the shepherd; of one that has gone, readable for ever;
                              // empty = not held yet
  pid_t shepherd_ = -1;       // -1 = gone when we took over
  bool is_killed_ = false;
  int looks_ = 0;  // at one whose shepherd is dead, and something else of it is not
};

/// The folder of the programs that stand in for Slurm's, beside the shepherd's; "" = it is not
/// there.
std::string slurm_commands();

/// What this machine allows.
Means means();
/// Makes a control group as a job gets one, and removes it. Fails where the machine allows none,
/// and says why.
Result<void> try_group();
/// What holds the run of a folder to its limits; nothing = its command is not there yet.
std::optional<Means> means_of(const std::string& folder);
/// "cores: cgroup v2, memory: watched"; "" = there are no limits.
std::string to_string(const Means& means);

}  // namespace almanac::shepherd
