// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says why a job is not running. "Not now" and "never" are different answers.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "cluster/slices/board.h"
#include "policy/contract/slurm_reason.h"

namespace almanac::policy {

enum class ReasonKind : std::uint8_t {
  none,                  ///< Nothing prevents the start: the job is about to start.
  short_of_cores,        ///< Not now: GPUs are free, but not enough cores or memory
                         ///< next to them.
  reclaimed,             ///< Not now: stopped when its borrowed cores were reclaimed; no
                         ///< room since.
  short_of_gpus,         ///< Not now: fewer free GPUs in its virtual cluster than
                         ///< requested.
  fragmented,            ///< Not now: enough are free, but not in the form that it needs.
  booting,               ///< Not now: it fits once nodes have booted.
  behind,                ///< Not now: it would fit, but another job is first in the queue.
  reserved,              ///< Not now: it would fit, but it would delay a job that holds a
                         ///< reservation.
  next_lease,            ///< Not now: it would fit, but is only considered at the next
                         ///< lease.
  part_used,             ///< Not now: it would fit, but its model's part of the GPUs is in
                         ///< use.
  at_quota,              ///< Not now: a quota has too few GPUs left, whatever the nodes
                         ///< have.
  at_limit,              ///< Not now: the limit of its tenant, or of one above it, leaves
                         ///< too few GPUs.
  passed_over,           ///< Not now: it would fit, but the policy keeps the GPUs for
                         ///< other jobs.
  awaits_signal,         ///< Not now: it would fit, but waits for cheaper or cleaner
                         ///< power.
  unknown_vc,            ///< Never: the cluster has no such virtual cluster.
  too_large,             ///< Never: it requests more than the virtual cluster has.
  too_many_cores,        ///< Never: it requests more cores or memory than a node, or
                         ///< all nodes, have.
  over_limit,            ///< Never: it requests more than the limit of its tenant, or of
                         ///< one above it.
  declined,              ///< Never: the policy rejected it.
  no_such_gpu,           ///< Never: no node of the virtual cluster has a GPU type that it
                         ///< accepts.
  no_instance,           ///< Not now: no board that it can use has room for its MIG
                         ///< instance.
  no_such_instance,      ///< Never: no board that it can use supports its MIG
                         ///< instance.
  not_in_thousandths,    ///< Never: it requests a fraction of a GPU, but only MIG
                         ///< instances exist.
  gpu_memory_too_small,  ///< Never: it requests more GPU memory than the GPUs it
                         ///< can use have.
  oldest,                ///< Not now: it has waited beyond the age cap, and free GPUs are
                         ///< reserved until it fits.
  set_aside,             ///< Not now: it would fit, but GPUs are reserved for a job beyond
                         ///< the age cap.
  stopped,               ///< Not now: it was stopped for another job, which still runs; no
                         ///< room since.
  nvlink_busy,           ///< Not now: enough GPUs are free, but too few NVLink domains
                         ///< have room for a whole group of the job.
  nvlink_too_large,      ///< Never: its groups are larger than the NVLink domains, or these
                         ///< hold too few of them.
  short_of_gpu_part,     ///< Not now: no GPU has as much of its compute left as the job's part.
  short_of_gpu_memory,   ///< Not now: GPUs have enough compute left for its part, but too
                         ///< little memory.
};

/// What puts one job before another.
enum class Term : std::uint8_t {
  none,           ///< Not stated, or the jobs are equal and one joined the queue first.
  tier,           ///< The higher priority tier.
  overdue,        ///< A wait beyond the job's bound or the age cap, in seconds.
  gpu_time,       ///< The smaller expected GPU time, in GPU-seconds.
  gittins_index,  ///< The smaller Gittins index: expected GPU-seconds per chance
                  ///< of ending.
  run_time,       ///< The shorter expected run time, in seconds.
  user_share,     ///< The smaller dominant share of the job's user, as a fraction.
  priority,       ///< The higher priority in Slurm.
  due,            ///< A deadline that is met only if the job runs now, in seconds from
                  ///< now.
  deadline,       ///< The earlier deadline, in seconds from now.
};

/// The term that puts another job before this one.
struct Precedence {
  Term term = Term::none;
  float own = 0;     ///< Value of the term for this job; 0 for `overdue`, and for
                     ///< `due` if this job need not run now.
  float others = 0;  ///< Value of the term for the other job.

  bool operator==(const Precedence&) const = default;
};

/// Kept for each stretch of waiting of a simulation: 40 bytes.
struct Reason {
  ReasonKind kind = ReasonKind::none;
  SlurmReason slurm = SlurmReason::none;           ///< Slurm's own name, if its rules decide.
  slices::ProfileId profile = slices::kNoProfile;  ///< MIG instance requested.
  std::int32_t wanted = 0;                         ///< GPUs requested; thousandths of a GPU, or MB,
                                                   ///< for parts of one.
  std::int32_t available = 0;                      ///< GPUs that are free or that limits leave; for
                                                   ///< "never", that exist or that limits allow;
                                                   ///< for NVLink, those that make whole groups;
                                                   ///< for a part of a GPU, the most that one has.
  JobId other = kNoJob;     ///< Job that this one waits behind or for, or was stopped for.
  Precedence precedence{};  ///< For behind, reserved and stopped: what puts
                            ///< `other` first.
  float stop_gpu_s = 0;     ///< For stopped: what the stop costs this job, in GPU-seconds.
  const slices::Board* board = nullptr;  ///< For no_such_instance: a board that it can use.

  bool operator==(const Reason&) const = default;
};

/// Returns true if no change of load can ever let the job start.
bool is_never(const Reason& reason);

/// Returns the reason as a clause: "not enough GPUs: needs 8, 5 free on the
/// nodes it can use". `other` is the name of the other job.
std::string to_string(const Reason& reason, const std::string& other);

/// Returns why `other` goes first as a clause: "it is expected to take 15
/// GPU-min, this job 40 GPU-min". Empty if the reason does not say.
std::string to_string(const Precedence& precedence);

/// Returns a stable name for files, such as "SHORT_OF_GPUS".
std::string name(ReasonKind kind);
/// Returns a stable name for files, such as "GPU_TIME"; empty for `none`.
std::string name(Term term);

}  // namespace almanac::policy
