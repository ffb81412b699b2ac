// SPDX-License-Identifier: Apache-2.0

/// \file
/// The AMD GPUs of this machine, from files of the kernel's drivers amdgpu and amdkfd below /sys.
/// No library of ROCm is needed.
///
/// Source   Linux kernel, Documentation/gpu/amdgpu (driver-misc, thermal, ras): product_name,
///          mem_info_vram_*, gpu_busy_percent, power1_*, umc_err_count; drivers/gpu/drm/amd/amdkfd:
///          kfd_topology.c (nodes/N/properties), kfd_process.c (proc/PID/vram_ID).
/// Limits   Links of Infinity Fabric, partitions of a GPU (CPX) and persistence are not reported.
///          Read from the sources, and tried only on files made by tests.
#pragma once

#include <string>
#include <vector>

#include "gpu/driver.h"

namespace almanac::gpu {

class Amd final : public Driver {
 public:
  /// `sys` has the files. Fails with `unavailable` if it has no AMD GPU.
  static Result<Amd> open(const std::string& sys = "/sys");
  Amd(Amd&&) noexcept;

  /// GPUs are numbered by their node in amdkfd, as HIP does.
  int count() const override { return static_cast<int>(cards_.size()); }
  std::string visible_variable() const override { return "HIP_VISIBLE_DEVICES"; }
  /// Returns the name in the board's FRU, or "AMD gfx942".
  std::string name(int gpu) const override;
  /// As ROCR_VISIBLE_DEVICES takes it: "GPU-1a2b..."; "" if the GPU has none.
  std::string uuid(int gpu) const override;
  std::optional<double> memory_gb(int gpu) const override;
  std::optional<int> device_minor(int) const override { return std::nullopt; }
  Sample sample(int gpu) const override;
  Result<std::vector<Holder>> holders(int gpu) const override;
  std::string trouble(int gpu) const override;
  /// Does nothing: the driver keeps settings.
  Result<void> persist(int) override { return {}; }
  Result<void> limit_power(int gpu, double watts) override;
  Route route(int gpu, int other) const override;

 private:
  struct Card {
    std::string kfd_id{};   ///< amdkfd's gpu_id.
    std::string device{};   ///< Folder of the PCI device.
    std::string sensors{};  ///< Its folder below hwmon; "" if none.
    std::string isa{};      ///< "gfx942"; "" if unknown.
    std::string uuid{};
  };

  Amd(std::string sys, std::vector<Card> cards);
  static std::vector<Card> find_cards(const std::string& sys);
  const Card* at(int gpu) const;

  std::string sys_;
  std::vector<Card> cards_;
};

}  // namespace almanac::gpu
