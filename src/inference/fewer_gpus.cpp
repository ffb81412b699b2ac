// SPDX-License-Identifier: Apache-2.0

#include "inference/fewer_gpus.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace almanac::inference {

std::vector<std::string> slower_than_fewer_gpus(const Service& service) {
  std::vector<std::string> made;
  if (service.measured || service.tables || service.model.layer_count() == 0) return made;
  const auto own = parts(service);
  if (!own) return made;  // the simulation of the service reports the error
  constexpr int kPrompt = 2048, kSequences = 16, kContext = 1000;
  const std::pair<std::string, Batch> steps[] = {
      {fmt::format("a prompt of {} tokens", kPrompt),
       {.prefills = {{.fresh = kPrompt, .prompt = kPrompt}}}},
      {fmt::format("a decode step of {} sequences of {} tokens", kSequences, kContext),
       {.decodes = kSequences, .context = kSequences * kContext}}};
  for (const auto& [what, batch] : steps) {
    constexpr double kNotable = 1.02, kMs = 1e3;
    const Micros takes = (*own->step)(batch);
    std::pair<Micros, int> best{takes / kNotable, 0};
    Service fewer = service;
    for (const int gpus : fitting_gpus(service)) {
      if (gpus >= service.gpus) break;
      fewer.gpus = gpus;
      if (const auto other = parts(fewer)) best = std::min(best, {(*other->step)(batch), gpus});
    }
    if (best.second == 0) continue;
    made.push_back(fmt::format("{} takes {:.3g} ms with {} GPUs per stage and {:.3g} ms with {}",
                               what, takes / kMs, service.gpus, best.first / kMs, best.second));
  }
  return made;
}

}  // namespace almanac::inference
