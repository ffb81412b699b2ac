// SPDX-License-Identifier: Apache-2.0
#include "submission/apply.h"

namespace almanac::submission {

Result<void> set_gpus(Draft& draft, std::string_view text) {
  auto gpus = read_gpus(text);
  if (!gpus) return tl::unexpected(std::move(gpus.error()));
  draft.asked.gpus = gpus->count;
  if (gpus->most > 0) draft.asked.max_gpus = gpus->most;
  draft.asked.min_gpus = gpus->most > 0 && gpus->count > 1 ? gpus->count : 0;
  draft.gpus_per_task.reset();
  draft.gpus_per_node.reset();
  if (!gpus->type.empty()) draft.asked.gpu_type = std::move(gpus->type);
  return {};
}

}  // namespace almanac::submission
