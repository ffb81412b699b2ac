// SPDX-License-Identifier: Apache-2.0

/// \file
/// MIG instances of partitioned GPUs: created as jobs need them, destroyed when they block another
/// job.
///
/// The driver is the only record of existing instances, and is asked before each change. The grant
/// of a job is on disk before its instance is created. If the service dies in between, an unused
/// instance remains; the next service gives it to that job or destroys it for another one. An
/// instance without its compute instance is left over from an interrupted creation, and is created
/// again.
///
/// An operator who allows this gives the service the GPUs in MIG mode: instances there that no job
/// holds may be destroyed. The driver refuses to destroy an instance that a process uses.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "cluster/ledger.h"
#include "cluster/slices/board.h"
#include "gpu/driver.h"
#include "machine/machine.h"

namespace almanac::machine {

/// Returns the board with the profiles that the driver lists; null if unknown.
///
/// Compares compute slices, multiprocessors, media engines and, within 5 %, memory.
const slices::Board* board_of(const std::vector<gpu::MigProfile>& told);

/// Returns the instance that a job needs on each GPU of `grant`; a whole board also is one.
/// Requires a node with partitioned GPUs.
Place place_of(const cluster::Grant& grant, const Machine& machine);

/// Whether two jobs cannot hold these grants of partitioned GPUs at once.
bool overlap(const cluster::Grant& one, const cluster::Grant& other, const Machine& machine);

/// Returns the existing instances on the GPUs that the service partitions, without those that no
/// job can use.
std::vector<Standing> standing_instances(const gpu::Driver& driver, const Machine& machine);

/// Creates the instances that `held` lacks, destroys those in their way, and updates `standing`.
/// Fails with `unavailable` and the driver's message, or if it would destroy an instance that one
/// of `others` holds; earlier steps remain. Takes as long as the driver does, up to seconds.
Result<void> make_instances(gpu::Driver& driver, const Machine& machine,
                            std::span<const cluster::Grant> held,
                            std::span<const cluster::Grant> others,
                            std::vector<Standing>& standing);

}  // namespace almanac::machine
