// SPDX-License-Identifier: Apache-2.0

/// \file
/// Says why a job is not running. "Not now" and "never" are different answers.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "cluster/slices/board.h"

namespace almanac::policy {

enum class ReasonKind : std::uint8_t {
  none,              ///< Nothing keeps it: it is about to start.
  short_of_cores,    ///< Not now: GPUs are free, but not the cores or memory beside them.
  reclaimed,         ///< Not now: stopped, since its cores were on loan; no room for it since.
  short_of_gpus,     ///< Not now: fewer free GPUs in its virtual cluster than it asks.
  fragmented,        ///< Not now: enough are free, but not in the form that it needs.
  booting,           ///< Not now: it fits once nodes have booted.
  behind,            ///< Not now: it would fit, but another job is first in the queue.
  reserved,          ///< Not now: it would fit, but it would delay a job that holds a reservation.
  next_lease,        ///< Not now: it would fit, and is looked at when the next lease begins.
  part_used,         ///< Not now: it would fit, but its model's part of the GPUs is in use.
  at_quota,          ///< Not now: a quota has too few GPUs left, whatever the nodes have.
  at_limit,          ///< Not now: its tenant, or one above it, may hold too few GPUs more.
  passed_over,       ///< Not now: it would fit, but the policy means the GPUs for other jobs.
  awaits_signal,     ///< Not now: it would fit, but waits for cheaper or cleaner power.
  unknown_vc,        ///< Never: the cluster has no such virtual cluster.
  too_large,         ///< Never: it asks more than the virtual cluster has.
  too_many_cores,    ///< Never: it asks more cores or memory than a node, or all nodes, have.
  over_limit,        ///< Never: it asks more than its tenant, or one above it, may hold.
  declined,          ///< Never: the policy turned it away.
  no_such_gpu,       ///< Never: no node of the virtual cluster has a GPU type that it accepts.
  no_instance,       ///< Not now: no board where it may run has a free place for its instance.
  no_such_instance,  ///< Never: no board where it may run can be cut so.
  not_in_thousandths,    ///< Never: where it may run GPUs are cut in instances.
  gpu_memory_too_small,  ///< Never: it asks more GPU memory than those where it may run have.
  oldest,  ///< Not now: it has waited beyond the age cap, and GPUs are kept for it until it fits.
  set_aside,  ///< Not now: it would fit, but what is free is kept for a job beyond the age cap.
};

struct Reason {
  ReasonKind kind = ReasonKind::none;
  std::int32_t wanted = 0;     ///< GPUs that it asks.
  std::int32_t available = 0;  ///< GPUs that are free, or that limits leave; for "never", that
                               ///< exist, or that they allow.
  JobId other = kNoJob;        ///< The job that it waits behind or for.
  slices::ProfileId profile = slices::kNoProfile;  ///< The instance that it asks.
  const slices::Board* board = nullptr;  ///< Of no_such_instance, one that it might lie on instead.

  bool operator==(const Reason&) const = default;
};

/// True when no change of load can ever let the job start.
bool is_never(const Reason& reason);

/// One sentence: "asks 8 GPUs, 5 free where it may run".
/// `other` is how the other job is called.
std::string to_string(const Reason& reason, const std::string& other);

/// "SHORT_OF_GPUS": stable, for files.
std::string name(ReasonKind kind);

}  // namespace almanac::policy
