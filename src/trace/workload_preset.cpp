// SPDX-License-Identifier: Apache-2.0
#include "trace/workload_preset.h"

namespace almanac::trace {

std::optional<std::string_view> preset(std::string_view name) {
  for (const text::Preset& candidate : presets()) {
    if (candidate.name == name) return candidate.text;
  }
  return std::nullopt;
}

}  // namespace almanac::trace
