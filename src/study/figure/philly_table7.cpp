// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why jobs fail, by their own logs; study/failure_table.h draws it.
///
/// Source   Jeon et al., ATC'19, Table 7.
#include "study/figures.h"

namespace almanac::study {

void register_philly_table7(Figures& registry);

void register_philly_table7(Figures& registry) {
  registry.add({.id = "philly_table7",
                .title = "Causes of failures",
                .source = "Jeon et al., ATC'19, Table 7",
                .part = Part::failures,
                .needs = {Need::job_logs},
                .draw = [](const Study& study) { return *study.measured().failures; }});
}

}  // namespace almanac::study
