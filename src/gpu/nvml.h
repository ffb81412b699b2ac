// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asks NVIDIA's driver about the GPUs of this machine, by NVML (libnvidia-ml.so.1).
///
/// Source   NVML API reference, "Device Queries", "Device Commands". Functions that some drivers
///          since 2013 lack are optional: errors, temperature, events.
/// Limits   utilization is the fraction of the driver's last sample (1/6 to 1 s) in which any
///          kernel ran; it is unavailable with MIG.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/driver.h"

namespace almanac::gpu {

/// Moves; closes the library when it goes.
class Nvml final : public Driver {
 public:
  /// Fails with unavailable when there is no driver, and says why.
  static Result<Nvml> open();
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml() override;

  /// GPUs are numbered by their place on the PCI bus: CUDA_DEVICE_ORDER=PCI_BUS_ID.
  int count() const override;
  std::string visible_variable() const override { return "CUDA_VISIBLE_DEVICES"; }
  std::string name(int gpu) const override;
  std::string uuid(int gpu) const override;
  std::optional<double> memory_gb(int gpu) const override;
  std::optional<int> device_minor(int gpu) const override;
  Sample sample(int gpu) const override;
  /// Clients of MPS too.
  Result<std::vector<Holder>> holders(int gpu) const override;
  std::string trouble(int gpu) const override;
  Result<void> persist(int gpu) override;
  Result<void> limit_power(int gpu, double watts) override;
  Route route(int gpu, int other) const override;
  std::vector<Xid> new_xids() override;
  std::optional<bool> is_cut(int gpu) const override;
  std::vector<MigProfile> mig_profiles(int gpu) const override;
  Result<std::vector<MigInstance>> mig_instances(int gpu) const override;
  Result<MigInstance> create_mig_instance(int gpu, const MigProfile& profile, int start) override;
  Result<void> destroy_mig_instance(int gpu, unsigned instance) override;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace almanac::gpu
