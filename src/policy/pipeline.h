// SPDX-License-Identifier: Apache-2.0

/// \file
/// The stock policy: slots filled with choices, run as events come.
#pragma once

#include <memory>

#include "policy/composition.h"
#include "policy/contract.h"
#include "policy/may_share.h"
#include "policy/registry.h"
#include "predict/estimator.h"

namespace almanac::policy {

/// Builds the policy of `composition`. `estimator` answers its estimate slot. Of those that could
/// share GPUs without harm only those do that `may_share`; empty = all.
///
/// Cost: O(log n) an event with n jobs waiting, plus what is started or stopped; only virtual
/// clusters that an event touched are looked at.
std::unique_ptr<Policy> make_pipeline(const Composition& composition,
                                      std::unique_ptr<predict::Estimator> estimator,
                                      MayShare may_share = {});

}  // namespace almanac::policy
