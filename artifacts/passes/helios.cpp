// SPDX-License-Identifier: Apache-2.0
#include "passes/helios.h"

#include "passes/passes.h"

namespace almanac::passes {

void as_helios(experiment::PolicyRun& run) {
  install();
  run.restart = {.one_gpu = 7s, .up_to_8_gpus = 30s, .more_gpus = 60s, .launch = Duration{0}};
  policy::Composition& composition = run.composition;
  if (composition.pass == "by_rank" && composition.order == "srtf") {
    composition.pass = "helios_count";
    run.restart.launch = 1s;
  }
  if (composition.pass == "strict" && composition.order == "gpu_time") {
    composition.pass = "helios_qssf";
  }
}

}  // namespace almanac::passes
