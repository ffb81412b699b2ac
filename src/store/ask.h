// SPDX-License-Identifier: Apache-2.0

/// \file
/// The attributes of a job: the one list from which submissions are stored (record.h), included in
/// the job log (log.h), written and read as JSON and documented in the API (serve), read from
/// command lines and scripts and validated (submission), and shown (almanac show).
///
/// A new attribute is a member of Submission and a row here. Its meaning is defined elsewhere.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

#include "store/job.h"
#include "trace/job.h"

namespace almanac::store {

/// Who learns of it.
enum class Audience : std::uint8_t {
  all,         ///< Part of a submission, and of the job that every user sees.
  of_job,      ///< Part of the job only: the service sets it.
  submission,  ///< Part of a submission only: environments hold passwords.
  nobody,      ///< The service keeps it to itself.
};

/// How `almanac submit`, `#ALMANAC` lines and sweeps spell it.
struct Spelled {
  const char* name = "";  ///< "" if it is not an option.
  char letter = '\0';     ///< '\0' for none.
  const char* value = "";
  const char* note = "";  ///< Allowed values, or the default.
};

/// Properties of an attribute other than its type.
struct About {
  const char* name;       ///< In JSON; times and lengths end with "_s".
  const char* what = "";  ///< A noun phrase or a sentence for --help and the API.
  Audience audience = Audience::all;
  const char* formerly = "";  ///< Name in the previous release, which is still read; "" for none.
  bool always = false;        ///< Whether JSON includes it when it is missing.
  /// In table `submission`; "" for the same name, null if stored elsewhere.
  const char* column = "";
  const char* unit = "";                                  ///< "GB" is read as 32G, "MB/s" as 200M.
  bool above_0 = false;                                   ///< Otherwise numbers must be at least 0.
  double most = std::numeric_limits<double>::infinity();  ///< Number, bytes of a text, entries.
  bool one_line = false;                                  ///< A text without control characters.
  Spelled option{};
  const char* label = "";  ///< Label in `almanac show`; "" for none.
};

struct Unlogged {};

/// An attribute: its member in a submission, its properties, and its member in a job of a log.
template <typename T, typename Logged = Unlogged>
struct Ask : About {
  constexpr Ask(T Submission::*at, const About& about, Logged trace::Request::*log = nullptr)
      : About(about), member(at), logged(log) {}

  /// Returns null if the table has no column for it.
  constexpr const char* column_name() const {
    return column != nullptr && *column == '\0' ? name : column;
  }
  constexpr bool is_option() const { return *option.name != '\0'; }

  T Submission::*member;
  Logged trace::Request::*logged;
};

inline constexpr double kLongestName = 256;
/// No system takes longer ones (PATH_MAX).
inline constexpr double kLongestPath = 4096;
inline constexpr double kMostBefore = 1000;

/// In the order in which JSON and --help have them.
inline constexpr std::tuple kAsks{
    Ask(&Submission::user,
        {.name = "user",
         .what = "User who submitted the job",
         .audience = Audience::of_job,
         .always = true},
        &trace::Request::user),
    Ask(&Submission::uid, {.name = "uid",
                           .what = "Numeric ID of that user",
                           .audience = Audience::of_job,
                           .always = true}),
    Ask(&Submission::gid, {.name = "gid", .audience = Audience::nobody}),
    Ask(&Submission::account, {.name = "account",
                               .what = "Slurm account that the job is charged to",
                               .audience = Audience::of_job,
                               .label = "Account"}),
    Ask(&Submission::partition, {.name = "partition",
                                 .what = "Slurm partition that the job was submitted to",
                                 .audience = Audience::of_job,
                                 .label = "Partition"}),

    Ask(&Submission::name,
        {.name = "name",
         .what = "Name of the job",
         .always = true,
         .most = kLongestName,
         .one_line = true,
         .option = {"name", 'J', "NAME", "default: that of the command"}},
        &trace::Request::name),
    Ask(&Submission::comment,
        {.name = "comment",
         .what = "Comment",
         .most = 1024,
         .one_line = true,
         .option = {"comment", '\0', "COMMENT", "any text on one line"},
         .label = "Comment"},
        &trace::Request::comment),
    Ask(&Submission::vc,
        {.name = "vc",
         .what = "Virtual cluster, if there are several",
         .most = kLongestName,
         .one_line = true,
         .option = {"vc", 'p', "NAME"}},
        &trace::Request::vc),
    Ask(&Submission::qos,
        {.name = "qos",
         .what = "Quality of service (QoS): one that the cluster file lists; only a label if it "
                 "lists none",
         .most = kLongestName,
         .one_line = true,
         .option = {"qos", 'q', "NAME"},
         .label = "QoS"},
        &trace::Request::qos),
    Ask(&Submission::model,
        {.name = "model",
         .what = "Model that the job trains, as named in speed profiles",
         .most = kLongestName,
         .one_line = true,
         .option = {"model", '\0', "NAME"}},
        &trace::Request::model),
    Ask(&Submission::group,
        {.name = "group",
         .what = "Hyperparameter sweep to which the job belongs as a trial",
         .column = "trial_of",
         .most = kLongestName,
         .one_line = true,
         .option = {"group", '\0', "NAME"}},
        &trace::Request::group),
    Ask(&Submission::parameters,
        {.name = "parameters", .what = "Parameters of a trial, such as lr=0.01", .most = 100}),
    Ask(&Submission::smaller_is_better,
        {.name = "smaller_is_better",
         .what = "Smaller values of the metric are better, as for a loss",
         .option = {"smaller-is-better"}}),

    Ask(&Submission::gpus,
        {.name = "gpus",
         .what = "Number of GPUs",
         .always = true,
         .option = {"gpus", 'G', "N|TYPE:N|M..N",
                    "2..8 for any number from 2 to 8; default: none"}},
        &trace::Request::gpus),
    Ask(&Submission::max_gpus,
        {.name = "max_gpus",
         .what = "Largest number of GPUs that the job can use",
         .option = {"max-gpus", '\0', "N"}},
        &trace::Request::max_gpus),
    Ask(&Submission::min_gpus,
        {.name = "min_gpus", .what = "Smallest number of GPUs that the job can use"},
        &trace::Request::min_gpus),
    Ask(&Submission::nvlink_gpus,
        {.name = "nvlink_gpus",
         .what = "GPUs that must share one NVLink domain: the job gets groups of this many",
         .option = {"nvlink-gpus", '\0', "N", "such as 8 for groups of 8 GPUs"},
         .label = "NVLink"},
        &trace::Request::nvlink_gpus),
    Ask(&Submission::gpu_share,
        {.name = "gpu_share",
         .what = "Fraction of one GPU that the job needs",
         .always = true,
         .above_0 = true,
         .most = 1,
         .option = {"gpu-share", '\0', "PART"}},
        &trace::Request::gpu_share),
    Ask(&Submission::gpu_type,
        {.name = "gpu_type",
         .what = "Type of GPU that the job needs",
         .most = kLongestName,
         .one_line = true,
         .option = {"gpu-type", '\0', "TYPE"},
         .label = "GPU type"},
        &trace::Request::gpu_type),
    Ask(&Submission::gpu_profile,
        {.name = "gpu_profile",
         .what = "MIG profile: the job gets instances with this profile instead of whole GPUs, and "
                 "the number of GPUs counts instances",
         .option = {"gpu-profile", '\0', "1g.10gb"}},
        &trace::Request::gpu_profile),
    Ask(&Submission::gpu_memory_gb,
        {.name = "gpu_memory_gb",
         .what = "Memory needed on each GPU",
         .unit = "GB",
         .above_0 = true,
         .most = 1e5,  // more, in MB, no grant holds, nor does any GPU have
         .option = {"gpu-mem", '\0', "20G"},
         .label = "GPU memory"},
        &trace::Request::gpu_memory_gb),
    Ask(&Submission::cpus,
        {.name = "cpus",
         .what = "Number of CPU cores",
         .above_0 = true,
         .option = {"cpus", 'c', "N"},
         .label = "Cores"},
        &trace::Request::cpus),
    Ask(&Submission::memory_gb,
        {.name = "memory_gb",
         .what = "Main memory",
         .unit = "GB",
         .above_0 = true,
         .option = {"mem", '\0', "32G|512M"},
         .label = "Memory"},
        &trace::Request::memory_gb),
    Ask(&Submission::io_mbs, {.name = "io_mbs",
                              .what = "Limit on the read rate and on the write rate of each disk",
                              .unit = "MB/s",
                              .above_0 = true,
                              .most = 1e9,  // more bytes no integer holds, nor does any disk move
                              .option = {"io", '\0', "200M|1G"},
                              .label = "Disks"}),
    Ask(&Submission::time_limit,
        {.name = "time_limit_s",
         .what = "Time limit",
         .column = "time_limit_ms",
         .above_0 = true,
         .option = {"time", 't', "[D-]HH:MM:SS"},
         .label = "Limit"},
        &trace::Request::time_limit),

    Ask(&Submission::deadline,
        {.name = "deadline_s",
         .what = "Deadline: the job should end by this time",
         .column = "deadline_ms",
         .option = {"deadline", '\0', "TIME", "such as 2026-11-22T08:00, 16:00 or now+2hours"},
         .label = "Deadline"},
        &trace::Request::deadline),
    Ask(&Submission::worthless_at,
        {.name = "worthless_at_s",
         .what = "Time at which the value, which falls from the deadline on, reaches 0",
         .column = "worthless_at_ms",
         .option = {"worthless-at", '\0', "TIME"}},
        &trace::Request::worthless_at),
    Ask(&Submission::value,
        {.name = "value",
         .what = "Value of a completion by the deadline",
         .option = {"value", '\0', "VALUE"}},
        &trace::Request::value),
    Ask(&Submission::batch,
        {.name = "batch",
         .what = "Samples per step, over all GPUs",
         .option = {"batch", '\0', "N"}},
        &trace::Request::batch),
    Ask(&Submission::steps,
        {.name = "steps", .what = "Number of training steps", .option = {"steps", '\0', "N"}},
        &trace::Request::steps),

    Ask(&Submission::argv, {.name = "argv",
                            .what = "Command, or the arguments of the script",
                            .always = true,
                            .column = nullptr}),
    Ask(&Submission::directory, {.name = "directory",
                                 .what = "Directory in which the job runs",
                                 .always = true,
                                 .most = kLongestPath,
                                 .option = {"directory", 'D', "DIR", "default: here"},
                                 .label = "Folder"}),
    Ask(&Submission::out, {.name = "out",
                           .what = "File for standard output; %j %A %a %x %u stand for job number, "
                                   "array number, task index, name and user",
                           .most = kLongestPath,
                           .option = {"out", 'o', "FILE", "default: almanac-%j.out"}}),
    Ask(&Submission::err, {.name = "err",
                           .what = "File for standard error",
                           .most = kLongestPath,
                           .option = {"err", 'e', "FILE", "default: with the output"}}),
    Ask(&Submission::grace, {.name = "grace_s",
                             .what = "Time between SIGTERM and SIGKILL when the job is stopped",
                             .always = true,
                             .column = "grace_ms",
                             .option = {"grace", '\0', "TIME", "default: 30s"}}),
    Ask(&Submission::warn_signal, {.name = "warn_signal",
                                   .what = "Signal to send before the time limit, and instead of "
                                           "SIGTERM when the job is preempted",
                                   .option = {"signal", '\0', "[B:]SIG[@SECONDS]",
                                              "sent SECONDS before the limit; default: 60"}}),
    Ask(&Submission::warn_before, {.name = "warn_before_s",
                                   .what = "How long before the time limit the signal is sent",
                                   .column = "warn_before_ms"}),
    Ask(&Submission::warn_shell, {.name = "warn_shell",
                                  .what = "Send the signal to the command only; otherwise, for a "
                                          "script, to all its processes except the shell"}),
    Ask(&Submission::pty,
        {.name = "pty",
         .what =
             "Run on a terminal, to which the user can attach (almanac attach); not for arrays"}),
    Ask(&Submission::endless,
        {.name = "endless", .what = "The job belongs to a service and runs until it is cancelled"}),
    Ask(&Submission::not_before, {.name = "not_before_s",
                                  .what = "Earliest start time",
                                  .column = "not_before_ms",
                                  .option = {"begin", 'b', "TIME"}}),
    Ask(&Submission::after,
        {.name = "after",
         .what = "Jobs that must end before this one starts; an array's number means all its tasks",
         .most = kMostBefore,
         .option = {"after", '\0', "JOB,..."}}),
    Ask(&Submission::after_ok,
        {.name = "after_ok",
         .what =
             "Jobs that must succeed before this one starts; if one fails, this job is cancelled",
         .most = kMostBefore,
         .option = {"after-ok", '\0', "JOB,..."}}),
    Ask(&Submission::after_not_ok,
        {.name = "after_not_ok",
         .what =
             "Jobs that must fail before this one starts; if one succeeds, this job is cancelled",
         .most = kMostBefore,
         .option = {"after-not-ok", '\0', "JOB,..."}}),
    Ask(&Submission::after_start,
        {.name = "after_start",
         .what = "Jobs that must start before this one, or end without starting",
         .most = kMostBefore}),
    Ask(&Submission::after_one,
        {.name = "after_one",
         .what = "One of the jobs in after, after_ok, after_not_ok and after_start is enough; the "
                 "job is cancelled once none can"}),
    Ask(&Submission::singleton,
        {.name = "singleton", .what = "Earlier jobs with the same user and name must end first"}),
    Ask(&Submission::requeue,
        {.name = "requeue",
         .what = "The job may be stopped and run again: policies may preempt it, and the service "
                 "requeues it after a failure of the machine",
         .option = {"requeue"},
         .label = "Requeue"},
        &trace::Request::requeue),
    Ask(&Submission::kept, {.name = "protected",
                            .what = "The job belongs to a service, starts as soon as there is "
                                    "room, and is never preempted",
                            .formerly = "kept",
                            .column = "kept"}),
    Ask(&Submission::retries,
        {.name = "retries",
         .what = "Number of times to retry a failed job: after 10 s, 20 s, 40 "
                 "s and so on, up to an hour",
         .most = 100,
         .option = {"retries", '\0', "N"}}),

    Ask(&Submission::script, {.name = "script",
                              .what = "Text of the batch script",
                              .audience = Audience::submission,
                              .column = nullptr}),
    Ask(&Submission::environment, {.name = "environment",
                                   .what = "Environment variables to pass to the job",
                                   .audience = Audience::submission,
                                   .column = nullptr,
                                   .option = {"export", '\0', "NAME,...", "default: ALL"}}),
    Ask(&Submission::hold, {.name = "hold",
                            .what = "Submit the job in held state",
                            .audience = Audience::submission,
                            .option = {"hold", 'H'}}),
    Ask(&Submission::key, {.name = "key",
                           .what = "Idempotency key chosen by the client. A second submission by "
                                   "the same user with this key returns the numbers of the first "
                                   "and submits nothing, so a client that got no answer may retry",
                           .audience = Audience::submission,
                           .most = 64}),
    Ask(&Submission::umask,
        {.name = "umask",
         .what = "The umask of the job, as a decimal number; default: 18, which is 022",
         .audience = Audience::submission,
         .most = 0777}),
    Ask(&Submission::resource_limits,
        {.name = "resource_limits",
         .what = "Soft limits of the job, such as nofile=1024 or core=unlimited; none may exceed "
                 "the service's hard limit",
         .audience = Audience::submission}),
    Ask(&Submission::indices, {.name = "indices",
                               .what = "Task indices of a job array",
                               .audience = Audience::submission,
                               .column = nullptr,
                               .most = 100'000,
                               .option = {"array", 'a', "0-9%3", "%3 limits it to 3 at once"}}),
    Ask(&Submission::at_once, {.name = "at_once",
                               .what = "Limit on the tasks that run at once; 0: none",
                               .audience = Audience::submission}),
};

/// Calls `visit` with each of them, in that order.
template <typename Visit>
void each_ask(Visit&& visit) {
  std::apply([&](const auto&... ask) { (visit(ask), ...); }, kAsks);
}

}  // namespace almanac::store
