// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy whose decisions another program makes.
#pragma once

#include <memory>

#include "policy/contract/contract.h"
#include "policy/slots.h"
#include "predict/estimator.h"
#include "script/talk.h"
#include "trace/trace.h"

namespace almanac::script {

/// Returns a policy that sends each decision's events to `talk` and executes the commands that it
/// receives. A command that violates the contract is thrown as Broken before any command of the
/// decision is executed. `trace` must outlive the policy. Without an `estimator` (null), the
/// program receives no predicted run times.
///
/// Cost: two writes and two reads of a pipe for each command, about 20 us.
std::unique_ptr<policy::Policy> make_scripted(std::shared_ptr<Talk> talk, const trace::Trace& trace,
                                              std::unique_ptr<policy::Placement> placement,
                                              std::unique_ptr<predict::Estimator> estimator);

/// Sends the last line, which says that the simulation is over.
void say_over(Talk& talk);

}  // namespace almanac::script
