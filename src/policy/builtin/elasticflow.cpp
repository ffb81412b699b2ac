// SPDX-License-Identifier: Apache-2.0

/// \file
/// An elastic job gets, lease by lease, the fewest GPUs that meet its deadline, if the deadline can
/// be accepted when it arrives. Spare GPUs go where they help most. A change of the number of GPUs
/// costs a restart.
///
/// Source   Gu et al., ASPLOS'23 (ElasticFlow), section 4: minimum satisfactory share, admission,
///          marginal return; earliest deadline first among equals.
/// Differs  Leases of 5 minutes; the artifact's are 1 minute in simulation and 4 on its cluster,
///          where a change costs 70 to 100 s. See pledge_book.h and pass/elastic.cpp for the rest.
#include "policy/registry.h"

namespace almanac::policy::builtin {

void register_elasticflow(Registry& registry) {
  registry.add_policy({.name = "elasticflow",
                       .summary = "elastic: fewest GPUs that meet each accepted deadline; spare "
                                  "GPUs go where they speed up jobs most, every 5 min",
                       .source = "Gu et al. ASPLOS'23 (ElasticFlow) §4",
                       .order = "edf",
                       .placement = "consolidate_first",
                       .shape = "one",
                       .pass = "elastic"});
}

}  // namespace almanac::policy::builtin
