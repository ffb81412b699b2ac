// SPDX-License-Identifier: Apache-2.0

/// \file
/// Meets as many deadlines as possible, in whatever order jobs came. Each lease selects the
/// deadlines that cost the least GPU time, each on the fewest GPUs that suffice. Spare GPUs go
/// where they help most.
///
/// Source   Our own. That the costly deadlines should be given up if not all can be met is due to
///          Moore (Management Science, 1968), for one machine; shares and the use of spare GPUs are
///          ElasticFlow's (Gu et al., ASPLOS'23, section 4).
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_thrift(Registry& registry) {
  registry.add_policy(
      {.name = "thrift",
       .summary = "deadlines that cost the least GPU time, selected again every 5 min, each on the "
                  "fewest GPUs; spare GPUs go where they speed up jobs most",
       .source = "Almanac; after Moore 1968 and ElasticFlow",
       .order = "gpu_time",
       .placement = "consolidate_first",
       .shape = "one",
       .pass = {"elastic", {{"deadlines", {1}}}}});
}

}  // namespace almanac::policy::builtin
