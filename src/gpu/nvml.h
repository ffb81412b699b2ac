// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asks NVIDIA's driver about the GPUs of this machine, by NVML (libnvidia-ml.so.1).
///
/// Source   NVML API reference, "Device Queries". Only functions that every driver since 2013 has.
/// Limits   utilisation is the share of the driver's last sample (1/6 to 1 s) in which any kernel
///          ran; with MIG it cannot be told.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace almanac::gpu {

/// A moment of one GPU.
struct Sample {
  std::optional<double> use{};        ///< 0 to 1; nothing where the driver does not tell.
  std::optional<double> memory_gb{};  ///< Used, by whomever.
};

/// Moves; closes the library when it goes.
class Nvml {
 public:
  /// Fails with unavailable when there is no driver, and says why.
  static Result<Nvml> open();
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml();

  /// GPUs are numbered by their place on the PCI bus: CUDA_DEVICE_ORDER=PCI_BUS_ID.
  int count() const;
  /// "NVIDIA H100 80GB HBM3"; "" = not told.
  std::string name(int gpu) const;
  std::string uuid(int gpu) const;
  std::optional<double> memory_gb(int gpu) const;
  Sample sample(int gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace almanac::gpu
