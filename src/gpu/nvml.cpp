// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml.h"

#include <cmath>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

#include "gpu/nvml_library.h"

namespace almanac::gpu {
namespace {

constexpr int kGpuIsLost = 15;                  // NVML_ERROR_GPU_IS_LOST
constexpr int kUncorrected = 1;                 // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int kSinceLoaded = 0;                 // NVML_VOLATILE_ECC
constexpr unsigned long long kTooHot = 0x40;    // nvmlClocksThrottleReasonHwThermalSlowdown
constexpr unsigned long long kXidEvents = 0x8;  // nvmlEventTypeXidCriticalError

}  // namespace

Result<Nvml> Nvml::open() {
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    return fail(Code::unavailable, "no NVIDIA driver: libnvidia-ml.so.1 was not found");
  }
  if (!library->find_all()) {
    return fail(Code::unavailable, "libnvidia-ml.so.1 is not a known version of NVML");
  }
  library->find_more();
  if (const int status = library->init(); status != kFine) {
    return fail(Code::unavailable,
                fmt::format("NVML cannot be started: {}", library->error_string(status)));
  }
  library->ready = true;
  return Nvml(std::move(library));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::Nvml(Nvml&& other) noexcept : library_(std::move(other.library_)) {}
Nvml& Nvml::operator=(Nvml&& other) noexcept {
  library_ = std::move(other.library_);
  return *this;
}
Nvml::~Nvml() = default;

int Nvml::count() const {
  unsigned count = 0;
  return library_->device_count(&count) == kFine ? static_cast<int>(count) : 0;
}

std::string Nvml::name(int gpu) const { return library_->text(gpu, library_->device_name); }

std::string Nvml::uuid(int gpu) const { return library_->text(gpu, library_->device_uuid); }

std::optional<double> Nvml::memory_gb(int gpu) const {
  Memory memory;
  const Device found = library_->at(gpu);
  if (found == nullptr || library_->device_memory(found, &memory) != kFine) return std::nullopt;
  return static_cast<double>(memory.total) / kGigabyte;
}

std::optional<int> Nvml::device_minor(int gpu) const {
  unsigned minor = 0;
  const Device found = library_->at(gpu);
  if (found == nullptr || library_->device_minor == nullptr ||
      library_->device_minor(found, &minor) != kFine) {
    return std::nullopt;
  }
  return static_cast<int>(minor);
}

Sample Nvml::sample(int gpu) const {
  Sample made;
  const Device found = library_->at(gpu);
  if (found == nullptr) return made;
  if (Utilization use; library_->device_use(found, &use) == kFine) made.use = use.gpu / 100.0;
  if (Memory memory; library_->device_memory(found, &memory) == kFine) {
    made.memory_gb = static_cast<double>(memory.used) / kGigabyte;
  }
  unsigned milliwatts = 0;
  if (library_->device_power != nullptr && library_->device_power(found, &milliwatts) == kFine) {
    made.power_w = milliwatts / 1e3;
  }
  return made;
}

Result<std::vector<Holder>> Nvml::holders(int gpu) const {
  const Device found = library_->at(gpu);
  if (found == nullptr || library_->device_processes == nullptr) {
    return fail(Code::unavailable, "the driver does not list processes");
  }
  auto listed = library_->holders(found, library_->device_processes);
  if (!listed || library_->device_mps_clients == nullptr) return listed;
  const auto clients = library_->holders(found, library_->device_mps_clients);
  if (!clients) return clients;
  return joined(*listed, *clients);
}

std::string Nvml::trouble(int gpu) const {
  Device found = nullptr;
  Utilization use;
  if (library_->device(static_cast<unsigned>(gpu), &found) == kGpuIsLost ||
      (found != nullptr && library_->device_use(found, &use) == kGpuIsLost)) {
    return "the driver lost the GPU";
  }
  if (found == nullptr) return "";
  unsigned long long errors = 0;
  if (library_->device_errors != nullptr &&
      library_->device_errors(found, kUncorrected, kSinceLoaded, &errors) == kFine && errors > 0) {
    return fmt::format("{} uncorrectable memory errors since the driver was loaded", errors);
  }
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned pending = 0;
  unsigned failed = 0;
  if (library_->device_rows != nullptr &&
      library_->device_rows(found, &corrected, &uncorrected, &pending, &failed) == kFine &&
      failed != 0) {
    return "rows of its memory could not be replaced";
  }
  unsigned long long why = 0;
  if (library_->device_throttled != nullptr && library_->device_throttled(found, &why) == kFine &&
      (why & kTooHot) != 0) {
    return "too hot";
  }
  return "";
}

Result<void> Nvml::persist(int gpu) {
  constexpr int kOn = 1;
  const Device found = library_->at(gpu);
  if (found == nullptr || library_->device_persistence == nullptr) {
    return fail(Code::unavailable, "the driver has no persistence mode");
  }
  if (const int status = library_->device_persistence(found, kOn); status != kFine) {
    return fail(Code::unavailable, library_->error_string(status));
  }
  return {};
}

Result<void> Nvml::limit_power(int gpu, double watts) {
  const Device found = library_->at(gpu);
  if (found == nullptr || library_->device_limit == nullptr) {
    return fail(Code::unavailable, "the driver has no power limits");
  }
  const auto milliwatts = static_cast<unsigned>(std::lround(watts * 1e3));
  if (const int status = library_->device_limit(found, milliwatts); status != kFine) {
    return fail(Code::unavailable, library_->error_string(status));
  }
  return {};
}

std::vector<Xid> Nvml::new_xids() {
  std::vector<Xid> told;
  if (library_->events_create == nullptr) return told;
  if (library_->events == nullptr) {
    if (library_->events_create(&library_->events) != kFine) {
      library_->events = nullptr;
      library_->events_create = nullptr;
      return told;
    }
    for (int gpu = 0; gpu < count(); ++gpu) {
      if (const Device device = library_->at(gpu); device != nullptr) {
        static_cast<void>(library_->events_register(device, kXidEvents, library_->events));
      }
    }
  }
  for (EventData event; library_->events_wait(library_->events, &event, 0) == kFine;) {
    for (int gpu = 0; gpu < count(); ++gpu) {
      if (library_->at(gpu) == event.device) {
        told.push_back({gpu, static_cast<unsigned>(event.data)});
      }
    }
  }
  return told;
}

}  // namespace almanac::gpu
