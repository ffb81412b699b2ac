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

#include "base/result.h"
#include "gpu/holders.h"
#include "gpu/mig.h"
#include "gpu/route.h"

namespace almanac::gpu {

/// A moment of one GPU.
struct Sample {
  std::optional<double> use{};        ///< 0 to 1; nothing if the driver does not report it.
  std::optional<double> memory_gb{};  ///< Used, by any process.
  std::optional<double> power_w{};    ///< Of the board.
};

/// A GPU error that the driver reported.
struct Xid {
  int gpu = 0;
  unsigned number = 0;
};

/// Whether the GPU has to be taken out of service for it, and not the program that ran on it.
///
/// Source   NVIDIA, "XID Errors": 48, 63, 64, 74, 79, 92, 94, 95, 119, 120 are of the hardware or
///          leave it in doubt until a reset; 13, 31, 43, 45 and the like are of programs.
bool is_of_the_hardware(const Xid& xid);

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
  /// Returns "NVIDIA H100 80GB HBM3"; "" if unknown.
  std::string name(int gpu) const;
  std::string uuid(int gpu) const;
  std::optional<double> memory_gb(int gpu) const;
  /// Returns N of its device /dev/nvidiaN; nothing if unknown.
  std::optional<int> device_minor(int gpu) const;
  Sample sample(int gpu) const;
  /// The processes that compute on it, clients of MPS too. Fails with unavailable, and why: the
  /// driver does not say, or not to us.
  Result<std::vector<Holder>> holders(int gpu) const;
  /// Returns why it is unfit for work now: uncorrectable memory errors since the driver was loaded,
  /// memory rows that could not be replaced, overheating, lost. "" if the driver reports nothing.
  std::string trouble(int gpu) const;
  /// Makes the driver keep the GPU's settings when no process uses it (persistence mode), until the
  /// driver is reloaded. Fails with `unavailable` and the driver's message: only root may.
  Result<void> persist(int gpu);
  /// Sets the power limit of the board, for as long as the driver keeps settings: see persist().
  /// Fails with `unavailable` and the driver's message: only root may, and the limit must suit the
  /// board.
  Result<void> limit_power(int gpu, double watts);
  /// How it reaches the GPU `other`.
  Route route(int gpu, int other) const;
  /// Whether it is partitioned (MIG); nothing if it cannot be, or the driver does not say.
  std::optional<bool> is_cut(int gpu) const;
  /// Returns the driver's instance profiles; empty if it is not partitioned.
  std::vector<MigProfile> mig_profiles(int gpu) const;
  /// Returns its instances in order of their first slice. Fails with `unavailable` and the driver's
  /// message.
  Result<std::vector<MigInstance>> mig_instances(int gpu) const;
  /// Makes an instance with all its multiprocessors for one job. Fails with unavailable and the
  /// driver's words: only root may, or others stand in its way; then nothing was made.
  Result<MigInstance> create_mig_instance(int gpu, const MigProfile& profile, int start);
  /// Removes one. Fails with unavailable and the driver's words: only root may, or a process uses
  /// it.
  Result<void> destroy_mig_instance(int gpu, unsigned instance);
  /// Returns errors since the last call; the first call starts to listen.
  std::vector<Xid> new_xids();

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace almanac::gpu
