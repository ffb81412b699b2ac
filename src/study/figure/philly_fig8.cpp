// SPDX-License-Identifier: Apache-2.0

/// \file
/// How many epochs a job needs, which job logs do not contain.
///
/// Source   Jeon et al., ATC'19, Figure 8: drawn from the loss that 2,502 jobs reported by epoch.
#include "study/figures.h"

namespace almanac::study {

void register_philly_fig8(Figures& registry);

namespace {

Drawing draw_philly_fig8(const Study&) { return {}; }

}  // namespace

void register_philly_fig8(Figures& registry) {
  registry.add({.id = "philly_fig8",
                .title = "Epochs needed for the lowest loss",
                .source = "Jeon et al., ATC'19, Figure 8",
                .part = Part::failures,
                .needs = {Need::convergence},
                .draw = draw_philly_fig8});
}

}  // namespace almanac::study
