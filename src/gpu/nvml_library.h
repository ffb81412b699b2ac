// SPDX-License-Identifier: Apache-2.0

/// \file
/// The functions of libnvidia-ml.so.1 that we call, for the files that implement gpu::Nvml.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "gpu/nvml.h"

namespace almanac::gpu {

inline constexpr int kNotSupported = 3;  // NVML_ERROR_NOT_SUPPORTED

using Device = void*;
using Instance = void*;

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
/// nvmlEventData_t.
struct EventData {
  Device device = nullptr;
  unsigned long long type = 0;
  unsigned long long data = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
/// nvmlPciInfo_t.
struct BusAddress {
  std::array<char, 16> short_form{};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned id = 0;
  unsigned subsystem = 0;
  std::array<char, 32> text{};

  bool is_at(const BusAddress& other) const {
    return domain == other.domain && bus == other.bus && device == other.device;
  }
};
/// nvmlGpuInstancePlacement_t.
struct MigPlacement {
  unsigned start = 0;
  unsigned size = 0;
};
/// nvmlGpuInstanceProfileInfo_t.
struct MigProfileInfo {
  unsigned id = 0;
  unsigned is_peer_to_peer = 0;
  unsigned compute_slices = 0;
  unsigned most = 0;
  unsigned multiprocessors = 0;
  unsigned copy_engines = 0;
  unsigned decoders = 0;
  unsigned encoders = 0;
  unsigned jpeg = 0;
  unsigned optical_flow = 0;
  unsigned long long memory_mb = 0;
};
/// nvmlGpuInstanceInfo_t.
struct MigInstanceInfo {
  Device device = nullptr;
  unsigned id = 0;
  unsigned profile = 0;
  MigPlacement placement{};
};
/// nvmlComputeInstanceProfileInfo_t.
struct ComputeProfileInfo {
  unsigned id = 0;
  unsigned compute_slices = 0;
  unsigned most = 0;
  unsigned multiprocessors = 0;
  unsigned shared_copy_engines = 0;
  unsigned shared_decoders = 0;
  unsigned shared_encoders = 0;
  unsigned shared_jpeg = 0;
  unsigned shared_optical_flow = 0;
};
/// Functions for Multi-Instance GPU.
struct MigFunctions {
  bool is_there = false;  ///< All of them.
  int (*mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*profile)(Device, unsigned, MigProfileInfo*) = nullptr;
  int (*places)(Device, unsigned, MigPlacement*, unsigned*) = nullptr;
  int (*list)(Device, unsigned, Instance*, unsigned*) = nullptr;
  int (*tell)(Instance, MigInstanceInfo*) = nullptr;
  int (*create)(Device, unsigned, const MigPlacement*, Instance*) = nullptr;
  int (*destroy)(Instance) = nullptr;
  int (*compute_profile)(Instance, unsigned, unsigned, ComputeProfileInfo*) = nullptr;
  int (*list_compute)(Instance, unsigned, Instance*, unsigned*) = nullptr;
  int (*create_compute)(Instance, unsigned, Instance*) = nullptr;
  int (*destroy_compute)(Instance) = nullptr;
  int (*most_devices)(Device, unsigned*) = nullptr;
  int (*device)(Device, unsigned, Device*) = nullptr;
  int (*instance_of)(Device, unsigned*) = nullptr;
};

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
  // Only in later drivers; null if missing.
  int (*device_power)(Device, unsigned*) = nullptr;
  int (*device_limit)(Device, unsigned) = nullptr;
  int (*device_persistence)(Device, int) = nullptr;
  int (*device_errors)(Device, int, int, unsigned long long*) = nullptr;
  int (*device_rows)(Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  int (*device_throttled)(Device, unsigned long long*) = nullptr;
  int (*device_bus)(Device, BusAddress*) = nullptr;
  int (*device_minor)(Device, unsigned*) = nullptr;
  int (*link_state)(Device, unsigned, int*) = nullptr;
  int (*link_end)(Device, unsigned, BusAddress*) = nullptr;
  int (*link_end_kind)(Device, unsigned, int*) = nullptr;
  int (*common_ancestor)(Device, Device, int*) = nullptr;
  MigFunctions mig{};
  ListProcesses device_processes = nullptr;
  ListProcesses device_mps_clients = nullptr;
  int (*events_create)(void**) = nullptr;
  int (*events_register)(Device, unsigned long long, void*) = nullptr;
  int (*events_wait)(void*, EventData*, unsigned) = nullptr;
  int (*events_free)(void*) = nullptr;
  void* events = nullptr;
  bool ready = false;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (events != nullptr) events_free(events);
    if (ready) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
  }
  void find_more() {
    find(device_power, "nvmlDeviceGetPowerUsage");
    find(device_limit, "nvmlDeviceSetPowerManagementLimit");
    find(device_persistence, "nvmlDeviceSetPersistenceMode");
    find(device_errors, "nvmlDeviceGetTotalEccErrors");
    find(device_rows, "nvmlDeviceGetRemappedRows");
    find(device_throttled, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(device_bus, "nvmlDeviceGetPciInfo_v3");
    find(device_minor, "nvmlDeviceGetMinorNumber");
    find(link_state, "nvmlDeviceGetNvLinkState");
    find(link_end, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    find(link_end_kind, "nvmlDeviceGetNvLinkRemoteDeviceType");
    find(common_ancestor, "nvmlDeviceGetTopologyCommonAncestor");
    find_mig();
    // The latest that it has.
    for (const char* const version : {"", "_v2", "_v3"}) {
      ListProcesses found = nullptr;
      const std::string of = version;
      if (find(found, ("nvmlDeviceGetComputeRunningProcesses" + of).c_str())) {
        device_processes = found;
      }
      if (find(found, ("nvmlDeviceGetMPSComputeRunningProcesses" + of).c_str())) {
        device_mps_clients = found;
      }
    }
    const bool has_events = find(events_create, "nvmlEventSetCreate") &&
                            find(events_register, "nvmlDeviceRegisterEvents") &&
                            find(events_wait, "nvmlEventSetWait_v2") &&
                            find(events_free, "nvmlEventSetFree");
    if (!has_events) events_create = nullptr;
  }
  void find_mig() {
    mig.is_there = find(mig.mode, "nvmlDeviceGetMigMode") &&
                   find(mig.profile, "nvmlDeviceGetGpuInstanceProfileInfo") &&
                   find(mig.places, "nvmlDeviceGetGpuInstancePossiblePlacements_v2") &&
                   find(mig.list, "nvmlDeviceGetGpuInstances") &&
                   find(mig.tell, "nvmlGpuInstanceGetInfo") &&
                   find(mig.create, "nvmlDeviceCreateGpuInstanceWithPlacement") &&
                   find(mig.destroy, "nvmlGpuInstanceDestroy") &&
                   find(mig.compute_profile, "nvmlGpuInstanceGetComputeInstanceProfileInfo") &&
                   find(mig.list_compute, "nvmlGpuInstanceGetComputeInstances") &&
                   find(mig.create_compute, "nvmlGpuInstanceCreateComputeInstance") &&
                   find(mig.destroy_compute, "nvmlComputeInstanceDestroy") &&
                   find(mig.most_devices, "nvmlDeviceGetMaxMigDeviceCount") &&
                   find(mig.device, "nvmlDeviceGetMigDeviceHandleByIndex") &&
                   find(mig.instance_of, "nvmlDeviceGetGpuInstanceId");
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
  std::string text(Device of, int (*ask)(Device, char*, unsigned)) const {
    std::array<char, 128> text{};
    if (of == nullptr || ask(of, text.data(), text.size() - 1) != kFine) return {};
    return text.data();
  }
  std::string text(int gpu, int (*ask)(Device, char*, unsigned)) const {
    return text(at(gpu), ask);
  }
  Result<std::vector<Holder>> holders(Device of, ListProcesses list) const {
    Holders listed = list_holders(list, of);
    // A driver without MPS has no clients of it.
    if (listed.status == kNotSupported && list == device_mps_clients) return listed.all;
    if (listed.status != kFine) return fail(Code::unavailable, error_string(listed.status));
    if (listed.is_understood) return std::move(listed.all);
    return fail(Code::unavailable, "the driver's list of processes has an unknown format");
  }
};

}  // namespace almanac::gpu
