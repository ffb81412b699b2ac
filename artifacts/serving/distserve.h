// SPDX-License-Identifier: Apache-2.0

/// \file
/// The simulator of DistServe: prefills and decodes on one worker in turn, or on two.
///
/// Source   Zhong et al., OSDI'24, and the released simulator.
/// Differs  from a service that runs: a prefill yields no token, and a prefill batch takes KV
///          memory as if no sequence were running.
#pragma once

#include <vector>

#include "inference/request.h"
#include "inference/step_time.h"

namespace almanac::serving {

/// One copy of a model, cut into `stages` that work on batches one after another.
struct DistServeWorker {
  const inference::StepTime* stage_time = nullptr;  ///< Of one stage.
  int stages = 1;
  double kv_tokens = 0;
};

/// When the prefill of a request ended, and when its last token came.
struct DistServeTimes {
  inference::Micros prefilled = inference::kNever;
  inference::Micros finish = inference::kNever;
};

/// Plays `requests` on `prefill`; decodes happen on `decode`, or on the same worker where that is
/// null. O(iterations x batch).
std::vector<DistServeTimes> play_distserve(const inference::Requests& requests,
                                           const DistServeWorker& prefill,
                                           const DistServeWorker* decode);

}  // namespace almanac::serving
