// SPDX-License-Identifier: Apache-2.0

/// \file
/// A policy that another program decides.
#pragma once

#include <memory>

#include "policy/contract/contract.h"
#include "policy/slots.h"
#include "predict/estimator.h"
#include "script/talk.h"
#include "trace/trace.h"

namespace almanac::script {

/// Tells `talk` each decision's events and does what it says. What breaks a rule of the contract
/// is thrown as Broken before anything of the decision is carried out. `trace` must outlive it.
/// `estimator` null = nothing is believed of run times.
///
/// Cost: two writes and reads of a pipe for each command, about 20 us.
std::unique_ptr<policy::Policy> make_scripted(std::shared_ptr<Talk> talk, const trace::Trace& trace,
                                              std::unique_ptr<policy::Placement> placement,
                                              std::unique_ptr<predict::Estimator> estimator);

/// Says that the simulation is over: the last line of the talk.
void say_over(Talk& talk);

}  // namespace almanac::script
