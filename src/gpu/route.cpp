// SPDX-License-Identifier: Apache-2.0
#include "gpu/route.h"

#include <algorithm>

#include "gpu/nvml_library.h"

namespace almanac::gpu {
namespace {

constexpr unsigned kMostLinks = 18;  // NVML_NVLINK_MAX_LINKS
constexpr int kIsUp = 1;             // NVML_FEATURE_ENABLED
constexpr int kSwitch = 2;           // NVML_NVLINK_DEVICE_TYPE_SWITCH
constexpr int kLevelStep = 10;       // between values of nvmlGpuTopologyLevel_t

}  // namespace

Route Nvml::route(int gpu, int other) const {
  Route made;
  const Device from = library_->at(gpu);
  const Device to = library_->at(other);
  if (from == nullptr || to == nullptr) return made;
  int level = 0;
  if (library_->common_ancestor != nullptr &&
      library_->common_ancestor(from, to, &level) == kFine && level >= 0 &&
      level <= 5 * kLevelStep) {
    made.by = static_cast<Ancestor>(level / kLevelStep + 1);
  }
  const bool tells_links = library_->link_state != nullptr && library_->link_end != nullptr &&
                           library_->device_bus != nullptr;
  if (!tells_links) return made;
  const auto ends = [&](Device device, const auto& is_wanted) {
    int found = 0;
    for (unsigned link = 0; link < kMostLinks; ++link) {
      int state = 0;
      if (library_->link_state(device, link, &state) == kFine && state == kIsUp &&
          is_wanted(link)) {
        ++found;
      }
    }
    return found;
  };
  BusAddress own;
  if (library_->device_bus(to, &own) != kFine) return made;
  made.nvlinks = ends(from, [&](unsigned link) {
    BusAddress end;
    return library_->link_end(from, link, &end) == kFine && end.is_at(own);
  });
  if (made.nvlinks > 0 || library_->link_end_kind == nullptr) return made;
  const auto to_switches = [&](Device device) {
    return ends(device, [&](unsigned link) {
      int kind = 0;
      return library_->link_end_kind(device, link, &kind) == kFine && kind == kSwitch;
    });
  };
  made.nvlinks = std::min(to_switches(from), to_switches(to));
  return made;
}

}  // namespace almanac::gpu
