// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace almanac::gpu {
namespace {

std::optional<int> number_of(std::string_view name, const std::vector<std::string>& uuids) {
  int number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec == std::errc{} && parsed.ptr == name.data() + name.size()) {
    if (number < static_cast<int>(uuids.size())) return number;
    return std::nullopt;
  }
  // A prefix is enough, as CUDA takes it, if only one begins with it.
  std::optional<int> found;
  for (std::size_t at = 0; at < uuids.size(); ++at) {
    if (name.empty() || !uuids[at].starts_with(name)) continue;
    if (found) return std::nullopt;
    found = static_cast<int>(at);
  }
  return found;
}

}  // namespace

std::vector<Visible> visible_gpus(std::optional<std::string_view> variable,
                                  const std::vector<std::string>& uuids) {
  std::vector<Visible> gpus;
  if (!variable) {
    for (std::size_t at = 0; at < uuids.size(); ++at) {
      gpus.push_back({std::to_string(at), static_cast<int>(at)});
    }
    return gpus;
  }
  for (std::size_t from = 0; from <= variable->size();) {
    const std::size_t comma = std::min(variable->find(',', from), variable->size());
    const std::string_view name = variable->substr(from, comma - from);
    if (name.empty() || name.starts_with('-')) break;
    gpus.push_back({std::string(name), number_of(name, uuids)});
    from = comma + 1;
  }
  return gpus;
}

std::string cuda_visible_devices(const std::vector<Visible>& gpus, int count) {
  std::string value;
  for (int at = 0; at < count && at < static_cast<int>(gpus.size()); ++at) {
    if (at > 0) value += ',';
    value += gpus[static_cast<std::size_t>(at)].name;
  }
  return value;
}

}  // namespace almanac::gpu
