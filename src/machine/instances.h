// SPDX-License-Identifier: Apache-2.0

/// \file
/// Instances of GPUs that are cut (MIG), made as jobs need them, and removed when they stand in the
/// way of one.
///
/// What stands is the driver's word, asked before each change and kept nowhere else. What a job is
/// to hold is on the disk before its instance is made: a service that dies in between leaves one
/// that stands idle, and the next gives it to that job or removes it for another. One without its
/// compute instance, which is what is left of a making that broke off, is made anew.
///
/// Whoever lets the service do so gives it the GPUs that are in MIG mode: what no job of its holds
/// there may go. An instance that a process uses is kept by the driver.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "cluster/ledger.h"
#include "cluster/slices/board.h"
#include "gpu/nvml.h"
#include "machine/machine.h"

namespace almanac::machine {

/// The board that has the profiles which the driver lists; null = none that is known here.
///
/// Compared are compute slices, multiprocessors, media engines and, within 5 %, memory.
const slices::Board* board_of(const std::vector<gpu::MigProfile>& told);

/// The instance that a job needs on each GPU of `grant`: all of a board is one too. Needs a node
/// whose GPUs are cut.
Place place_of(const cluster::Grant& grant, const Machine& machine);

/// Whether two jobs can not have these at once, of GPUs that are cut.
bool overlap(const cluster::Grant& one, const cluster::Grant& other, const Machine& machine);

/// What stands of the GPUs that the service cuts, without what no job can be given.
std::vector<Standing> standing_instances(const gpu::Nvml& nvml, const Machine& machine);

/// Makes what `held` lacks, and removes what stands in its way; `standing` says then what stands.
/// Fails with unavailable and the driver's words, or where that would take what one of `others`
/// holds; what was done before that stays. Takes as long as the driver does, up to seconds.
Result<void> make_instances(gpu::Nvml& nvml, const Machine& machine,
                            std::span<const cluster::Grant> held,
                            std::span<const cluster::Grant> others,
                            std::vector<Standing>& standing);

}  // namespace almanac::machine
