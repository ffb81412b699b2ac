// SPDX-License-Identifier: Apache-2.0

/// \file
/// How long earlier jobs like this one ran, as a distribution whose mean can be trusted: run times
/// are heavy-tailed, so the last ten of a user give a median but no mean.
///
/// Source   Hu et al., SC'21, section 4.2: the user's jobs of this name, else of this many GPUs.
#pragma once

#include "predict/memory.h"
#include "predict/nested_counts.h"

namespace almanac::predict {

class PastRuns {
 public:
  /// `memory` knows the last runs of each name.
  Distribution run_time(const KindKeys& keys, const Memory& memory) const;
  void learn(const KindKeys& keys, Duration ran);

 private:
  NestedCounts counts_;
};

}  // namespace almanac::predict
