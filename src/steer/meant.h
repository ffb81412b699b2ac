// SPDX-License-Identifier: Apache-2.0

/// \file
/// Identifies the job that a number meant. Slurm gives a number again: after 67 million jobs, and
/// from the first one on where slurmctld has lost its state. Another job was submitted at another
/// time. So is one that is requeued, which Slurm counts as submitted again; but that has begun once
/// more.
#pragma once

#include "base/time.h"
#include "manager/job.h"

namespace almanac::steer {

struct Meant {
  Time submit = kNoTime;  ///< Missing = not told (a journal of before): any job of the number.
  int restarts = 0;
};

inline Meant meant_by(const manager::Job& job) { return {job.submit, job.restarts}; }

/// Whether the `known` record and the record `now` of the same number are one job.
inline bool is_same(const Meant& known, const Meant& now) {
  if (known.submit == kNoTime || now.submit == kNoTime || known.submit == now.submit) return true;
  return now.submit > known.submit && now.restarts > known.restarts;
}

}  // namespace almanac::steer
