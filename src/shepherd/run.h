// SPDX-License-Identifier: Apache-2.0

/// \file
/// One run of a job on this machine: started, adopted after a restart of the service, ended, read.
///
/// A run is a folder and a shepherd: a small process that starts the command, records how it ends,
/// and outlives the service. A lock on a file in the folder shows whether a shepherd lives. The
/// lock is taken before the shepherd starts and inherited by it, so the answer is always defined,
/// and no process number needs to be trusted.
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
  std::string script{};             ///< Script that argv are arguments of; "" for none.
  std::string allocation{};         ///< Initial content of kAllocationFile; "" for none.
  std::vector<std::string> environment{};  ///< All of it, but ALMANAC_RUN=folder, which is added.
  std::string directory{};                 ///< "" for the root directory.
  std::string out{};         ///< Relative to `directory`, opened as the user; "" to discard.
  std::string err{};         ///< "" to join `out`.
  bool append = false;       ///< To logs that are there: a later run of the job.
  double log_limit_gb = 4;   ///< Per file; further output is dropped and reported.
  std::vector<int> cores{};  ///< Empty = all that we may use.
  /// N of each /dev/nvidiaN that it may open, enforced by cgroup if possible; nothing for all.
  std::optional<std::vector<int>> gpus{};
  std::optional<double> cpus{};       ///< Enforced by cgroup, if possible.
  std::optional<double> memory_gb{};  ///< By cgroup, else watched; all is killed beyond.
  std::optional<double> io_mbs{};     ///< Per disk, by cgroup; otherwise not enforced.
  Duration time_limit = kNoDuration;
  Duration grace = 30s;
  int signal = 0;                 ///< Sent before the time limit, and by make_room(); 0 for none.
  Duration signal_before = 1min;  ///< How long before the limit.
  bool signal_shell = false;  ///< To the command alone; else, of a script, to all but its shell.
  /// Default limit of open files (RLIMIT_NOFILE, soft); nothing for ours.
  std::optional<std::uint64_t> open_files{};
  std::vector<std::string> resource_limits{};  ///< After that (process/resource_limits.h).
  /// Limit of processes of its user (process::limit_processes).
  std::optional<std::uint64_t> processes{};
  std::int32_t umask = 022;
  bool terminal = false;  ///< Runs on one, to which its user attaches (terminal.h); without `err`.
  std::optional<uid_t> uid{};  ///< To become, with its groups; only root can.
  std::optional<gid_t> gid{};
  /// Whether the user had a name at submission. If the name is unknown now, the command does not
  /// start yet, because it would lack its groups.
  bool user_has_name = false;
};

/// File in the run's folder in which the command may report its progress. It belongs to the job's
/// user and is initially empty.
inline constexpr const char* kProgressFile = "/progress";
/// File in the run's folder with the current allocation, for runs whose GPUs may change
/// (Run::reallocate). Readable by all users.
inline constexpr const char* kAllocationFile = "/allocation";

/// File in the run's folder with the number of bytes of output that its log lacks so far: written
/// by the shepherd, or by the head of boxes, if it is more than 0.
inline constexpr const char* kLostFile = "/lost";
/// Returns what that file says; 0 if there is none.
std::int64_t lost_output(const std::string& folder);

/// How a run ended: exit.json.
enum class Cause : std::uint8_t {
  by_itself,
  told,
  time_limit,
  memory,
  cannot_start,
  /// Its user's account: it cannot start now, nothing of it has run, and a later try may succeed.
  account,
};

struct Exit {
  process::Ending ending{};
  Cause cause = Cause::by_itself;
  std::string message{};  ///< Why it could not start; "" if it did.
  Time start{};
  Time end{};
  Duration ran{};                ///< By a clock that is never set.
  process::Usage usage{};        ///< memory_gb is the peak, as far as it was polled.
  std::int64_t log_dropped = 0;  ///< Bytes of output.
};

/// What became of a run.
struct Outcome {
  enum class Kind {
    lives,
    ended,
    lost,  ///< The shepherd is gone without a word; what it left has been killed now.
    /// It has ended, and its record is damaged: the result is lost.
    corrupt,
    never_started,  ///< It never ran: it may be started again.
    unreadable,     ///< Unknown for now: it may be any of the others.
  };
  Kind kind = Kind::lives;
  std::optional<Exit> exit{};  ///< If it has ended.
  bool is_account = false;     ///< If it never started: its user's account is the cause.
  std::string why{};           ///< In words, of all that follow.
};

/// Why a run was not started; its folder is gone again.
struct NotStarted : Error {
  enum class For : std::uint8_t {
    /// Processes or space are short, or the shepherd's program is missing: try again.
    now,
    /// The same, but only for this run: something of its name is in the way.
    job,
    /// No program can be started with what it requests.
    good,
  };
  For how_long = For::now;
};

/// Means for GPUs that a job is informed of, but not confined to.
inline constexpr const char* kTold = "told";

/// How limits are enforced. For a run, "" means no such limit.
struct Means {
  std::string cpus{};    ///< "cgroup v2", "affinity".
  std::string memory{};  ///< "cgroup v2", "watched".
  std::string io{};      ///< "cgroup v2", "not held".
  std::string gpus{};    ///< "cgroup v2", kTold.

  bool operator==(const Means&) const = default;
};

/// What one box runs of a run on several.
struct Part {
  std::string box{};
  Spec spec{};
};

/// A run in progress, or one that has just ended. Movable. The destructor lets it continue.
class Run {
 public:
  /// Makes the folder, which must not be there, and starts; does not wait until the command runs.
  static tl::expected<Run, NotStarted> start(const std::string& folder, const Spec& spec);
  /// Makes the folder of a run on other machines (remote.h), and creates its logs here as its user.
  /// Boxes fetch their parts; nothing starts before every box has its own.
  static tl::expected<Run, NotStarted> start_on_boxes(const std::string& folder,
                                                      const std::vector<Part>& parts);
  /// The state that a folder shows. If the starter has exited, never_started is final. unreadable
  /// may be any of the others.
  enum class Found { lives, ended, lost, never_started, unreadable };
  static Found look(const std::string& folder);
  /// Takes over one that lives, has ended, is lost or unreadable. Fails with not_found when it
  /// never started.
  static Result<Run> adopt(const std::string& folder);
  Run(Run&&) noexcept = default;
  Run& operator=(Run&&) noexcept = default;
  ~Run();

  /// Returns when its shepherd started, by the boot clock (since_boot()), as the kernel reports it,
  /// regardless of files and the wall clock. Nothing if it has exited, or cannot be checked.
  std::optional<Duration> begun() const;
  /// Descriptor for poll(2), readable when the shepherd has exited. -1 if it could not be opened;
  /// only exited() knows then.
  int news() const { return news_.get(); }
  /// Whether the shepherd is known to have exited.
  bool has_news() const;
  /// Returns what became of it. Kills what a crashed shepherd has left, without waiting. After
  /// `unreadable`, or `lives` despite news, call again later.
  Outcome exited();
  /// Ends it: SIGTERM to all below, SIGKILL after the grace of the spec. Does not wait.
  void end();
  /// Same with the signal of the spec instead of SIGTERM, once. Requires a run with such a signal.
  void make_room();
  /// Kills it without grace period, even if it was asked to end before. Does not wait.
  void end_now();
  /// Kills a shepherd that follows no order, and all its processes. exited() then returns `lost`;
  /// there is no news if the shepherd is stuck in the kernel.
  void kill();
  /// Kills it as if the shepherd had seen too much memory: it has used too much memory that is
  /// measured from outside, that of a GPU. Does not wait.
  void end_for_memory();
  /// Changes its cores (empty: no change) and limits. Does not wait. A limit that the control group
  /// did not have from the start cannot be enforced later. `time_limit` counts from the start of
  /// the run.
  Result<void> resize(const std::vector<int>& cores, std::optional<double> cpus,
                      std::optional<double> memory_gb, Duration time_limit);
  /// Writes the new allocation to its file and sends SIGUSR2. Does not wait. Requires a run with
  /// such a file, and a command that handles the signal; otherwise the signal ends it.
  Result<void> reallocate(const std::string& allocation);
  /// Returns the content of that file; nothing if there is none.
  std::optional<std::string> allocation() const;
  /// Returns the process of the command; -1 if it has not started.
  pid_t process() const;
  process::Usage usage() const;
  /// -1 = gone when we took over.
  pid_t shepherd() const { return shepherd_; }
  const std::string& folder() const { return folder_; }

 private:
  Run() = default;
  /// Holds the shepherd of one that lives. False when that cannot be now.
  bool take_hold();
  bool take_hold_remote();
  Outcome exited_remote() const;
  /// Whether it was given.
  bool order(int signal);

  std::string folder_;
  // pidfd of the shepherd, always readable once it has exited; empty if not open yet
  process::Descriptor news_;
  pid_t shepherd_ = -1;  // -1 = gone when we took over
  bool is_killed_ = false;
  bool is_remote_ = false;
  int looks_ = 0;  // at one whose shepherd is dead, and something else of it is not
};

/// Returns the folder of the programs that stand in for Slurm's, next to the shepherd; "" if it is
/// missing.
std::string slurm_commands();

/// Returns what this machine can enforce.
Means means();
/// Creates a control group as for a job, and removes it. Fails, with the reason, if the machine
/// does not allow it.
Result<void> try_group();
/// Returns how the limits of a run are enforced; nothing if its command has not started.
std::optional<Means> means_of(const std::string& folder);
/// Returns "cores: cgroup v2, memory: watched"; "" without limits.
std::string to_string(const Means& means);

}  // namespace almanac::shepherd
