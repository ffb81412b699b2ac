// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml.h"

#include <array>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace almanac::gpu {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;
constexpr int kFine = 0;  // NVML_SUCCESS

using Device = void*;

/// nvmlUtilization_t and nvmlMemory_t.
struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*device_name)(Device, char*, unsigned) = nullptr;
  int (*device_uuid)(Device, char*, unsigned) = nullptr;
  int (*device_use)(Device, Utilization*) = nullptr;
  int (*device_memory)(Device, Memory*) = nullptr;
  bool ready = false;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (ready) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
  }
  bool find_all() {
    return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(error_string, "nvmlErrorString") && find(device_count, "nvmlDeviceGetCount_v2") &&
           find(device, "nvmlDeviceGetHandleByIndex_v2") &&
           find(device_name, "nvmlDeviceGetName") && find(device_uuid, "nvmlDeviceGetUUID") &&
           find(device_use, "nvmlDeviceGetUtilizationRates") &&
           find(device_memory, "nvmlDeviceGetMemoryInfo");
  }

  Device at(int gpu) const {
    Device found = nullptr;
    return device(static_cast<unsigned>(gpu), &found) == kFine ? found : nullptr;
  }
  std::string text(int gpu, int (*ask)(Device, char*, unsigned)) const {
    std::array<char, 128> text{};
    const Device found = at(gpu);
    if (found == nullptr || ask(found, text.data(), text.size() - 1) != kFine) return {};
    return text.data();
  }
};

Result<Nvml> Nvml::open() {
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    return fail(Code::unavailable, "no NVIDIA driver: libnvidia-ml.so.1 is not there");
  }
  if (!library->find_all()) {
    return fail(Code::unavailable, "libnvidia-ml.so.1 is not NVML as we know it");
  }
  if (const int status = library->init(); status != kFine) {
    return fail(Code::unavailable,
                fmt::format("NVML does not start: {}", library->error_string(status)));
  }
  library->ready = true;
  return Nvml(std::move(library));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
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

Sample Nvml::sample(int gpu) const {
  Sample made;
  const Device found = library_->at(gpu);
  if (found == nullptr) return made;
  if (Utilization use; library_->device_use(found, &use) == kFine) made.use = use.gpu / 100.0;
  if (Memory memory; library_->device_memory(found, &memory) == kFine) {
    made.memory_gb = static_cast<double>(memory.used) / kGigabyte;
  }
  return made;
}

}  // namespace almanac::gpu
