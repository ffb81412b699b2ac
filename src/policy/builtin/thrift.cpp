// SPDX-License-Identifier: Apache-2.0

/// \file
/// As many deadlines as can be met, whichever job came first: in each lease those are chosen that
/// cost least GPU time, each on the fewest GPUs that are enough; what is left goes where it helps
/// most.
///
/// Source   ours. That the costly deadlines are to be given up when not all can be met is Moore's
///          (Management Science, 1968), for one machine; shares and what is done with the rest are
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
