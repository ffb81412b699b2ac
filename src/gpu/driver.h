// SPDX-License-Identifier: Apache-2.0

/// \file
/// The driver of this machine's GPUs: NVIDIA's (nvml.h) or AMD's (amd.h).
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

/// Bytes of a gigabyte in this room.
inline constexpr double kGigabyte = 1024.0 * 1024 * 1024;

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

/// The GPUs are numbered from 0, in the order that visible_variable() uses.
class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  virtual int count() const = 0;
  /// Returns the variable by which a command gets its GPUs: "CUDA_VISIBLE_DEVICES".
  virtual std::string visible_variable() const = 0;
  /// Returns "NVIDIA H100 80GB HBM3"; "" if unknown.
  virtual std::string name(int gpu) const = 0;
  virtual std::string uuid(int gpu) const = 0;
  virtual std::optional<double> memory_gb(int gpu) const = 0;
  /// Returns N of its device /dev/nvidiaN; nothing if unknown or not NVIDIA's.
  virtual std::optional<int> device_minor(int gpu) const = 0;
  virtual Sample sample(int gpu) const = 0;
  /// The processes that compute on it. Fails with unavailable, and why: the driver does not say, or
  /// not to us.
  virtual Result<std::vector<Holder>> holders(int gpu) const = 0;
  /// Returns why it is unfit for work now: uncorrectable memory errors since the driver was loaded,
  /// memory rows that could not be replaced, overheating, lost. "" if the driver reports nothing.
  virtual std::string trouble(int gpu) const = 0;
  /// Makes the driver keep the GPU's settings when no process uses it (persistence mode), until the
  /// driver is reloaded. Fails with `unavailable` and the driver's message: only root may.
  virtual Result<void> persist(int gpu) = 0;
  /// Sets the power limit of the board, for as long as the driver keeps settings: see persist().
  /// Fails with `unavailable` and the driver's message: only root may, and the limit must suit the
  /// board.
  virtual Result<void> limit_power(int gpu, double watts) = 0;
  /// How it reaches the GPU `other`.
  virtual Route route(int gpu, int other) const = 0;
  /// Returns errors since the last call; the first call starts to listen.
  virtual std::vector<Xid> new_xids() { return {}; }

  /// Whether it is partitioned (MIG); nothing if it cannot be, or the driver does not say.
  virtual std::optional<bool> is_cut(int) const { return std::nullopt; }
  /// Returns the driver's instance profiles; empty if it is not partitioned.
  virtual std::vector<MigProfile> mig_profiles(int) const { return {}; }
  /// Returns its instances in order of their first slice. Fails with `unavailable` and the driver's
  /// message.
  virtual Result<std::vector<MigInstance>> mig_instances(int) const { return {}; }
  /// Makes an instance with all its multiprocessors for one job. Fails with unavailable and the
  /// driver's words: only root may, or others stand in its way; then nothing was made.
  virtual Result<MigInstance> create_mig_instance(int, const MigProfile&, int /*start*/) {
    return fail(Code::unavailable, "the driver does not partition GPUs");
  }
  /// Removes one. Fails with unavailable and the driver's words: only root may, or a process uses
  /// it.
  virtual Result<void> destroy_mig_instance(int, unsigned /*instance*/) {
    return fail(Code::unavailable, "the driver does not partition GPUs");
  }
};

/// Opens NVIDIA's driver, or AMD's where there is none. Fails with `unavailable` when there is
/// neither, and says why.
Result<std::unique_ptr<Driver>> open_driver();

}  // namespace almanac::gpu
