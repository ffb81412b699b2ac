// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "profiling/progress.h"

namespace almanac::profiling {

// More particular ones first: the first pattern that finds something in a line has it.
std::span<const ProgressPreset> progress_presets() {
  static const std::array<ProgressPreset, 7> presets{{
      {"deepspeed",
       "the timer and step lines of the engine's log",
       {R"(global_step=(?P<step>\d+).*SamplesPerSec=)", R"(\[Rank 0\] step=(?P<step>\d+), )"}},
      {"lightning",
       "the training bar, of tqdm or rich",
       {R"(^\s*(?:Epoch|Training) \d+(?:/\d+)?:? .*?(?P<step>\d+)/(?P<total>\d+|\?) )"}},
      {"huggingface",
       "the bar of Trainer, a tqdm bar without a label",
       {R"(^\s*\d{1,3}%\|[^|]*\|\s*(?P<step>\d+)/(?P<total>\d+) \[)"}},
      {"keras",
       "the bar of fit(), of Keras 2 and 3",
       {R"(^\s*(?P<step>\d+)/(?P<total>\d+|Unknown) (?:\[[=>.]+\]|━+|\s*\d+\w+ \d+\w+/step))"}},
      {"tqdm",
       "any other bar of tqdm",
       {R"(\|\s*(?P<step>\d+)/(?P<total>\d+|\?) \[[\d:?]+<)",
        R"((?:^|\s)(?P<step>\d+)it \[[\d:]+,)"}},
      {"steps",
       "lines like \"step 120\", \"iter 120/5000\", \"Epoch: [0][120/5000]\", \"[640/60000 (1%)]\"",
       {R"(Epoch:? \[\d+\]\s*\[\s*(?P<step>\d+)/\s*(?P<total>\d+)\])",
        R"(\[\s*(?P<samples>\d+)/(?P<total>\d+) \(\s*[\d.]+%\)\])",
        R"((?i)\b(?:global[_ ]?)?(?:step|iter|iteration)s?\b\s*[:=#\[]?\s*(?P<step>\d+)\b)"}},
      {"rates",
       "lines with \"12.5 it/s\", \"0.8 s/it\", \"640 samples/s\"",
       {R"((?P<rate>\d+(?:\.\d+)?)\s*(?:it|iter|step|batch|batche)s?/s(?:ec)?\b)",
        R"((?P<step_s>\d+(?:\.\d+)?)\s*s(?:ec)?/(?:it|iter|step|batch)\b)",
        R"((?P<sample_rate>\d+(?:\.\d+)?)\s*(?:sample|image|img|example|sequence)s?/s(?:ec)?\b)"}},
  }};
  return presets;
}

}  // namespace almanac::profiling
