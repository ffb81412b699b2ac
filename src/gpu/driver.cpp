// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "gpu/amd.h"
#include "gpu/nvml.h"

namespace almanac::gpu {

Result<std::unique_ptr<Driver>> open_driver() {
  auto nvml = Nvml::open();
  if (nvml) return std::make_unique<Nvml>(*std::move(nvml));
  auto amd = Amd::open();
  if (amd) return std::make_unique<Amd>(*std::move(amd));
  return fail(Code::unavailable, fmt::format("{}; {}", nvml.error().message, amd.error().message));
}

bool is_of_the_hardware(const Xid& xid) {
  constexpr std::array kHardware{48U, 63U, 64U, 74U, 79U, 92U, 94U, 95U, 119U, 120U};
  return std::find(kHardware.begin(), kHardware.end(), xid.number) != kHardware.end();
}

}  // namespace almanac::gpu
