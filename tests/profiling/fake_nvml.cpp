// SPDX-License-Identifier: Apache-2.0

/// \file
/// A driver that is none: two GPUs, of which the first is 80 % busy with 10 of 80 GB, and the
/// second tells nothing of its use, as one cut up by MIG. The first draws up to 300 W and may be
/// limited to 100 W or more, the second only by root, which never asks; without persistence mode,
/// which FAKE_NVML_FORGETS keeps it from, it forgets the limit when no process uses it any more.
/// The processes that compute on the first are told by the lines "PROCESS MEGABYTES" of the file
/// that FAKE_NVML_PROCESSES names, without megabytes where the memory is not told, with "mps"
/// behind them for clients of MPS; the second never says that. Built as libnvidia-ml.so.1, for
/// tests.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" {

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Process {
  unsigned process;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

constexpr int kSuccess = 0;
constexpr int kInvalid = 2;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr unsigned long long kGigabyte = 1ULL << 30;

static int gpus[2] = {0, 1};
constexpr unsigned kOwnLimit_mw = 300'000;
static unsigned limit_mw = kOwnLimit_mw;
static bool is_persistent = false;

int nvmlInit_v2() {
  return std::getenv("FAKE_NVML_BROKEN") == nullptr ? kSuccess : kDriverNotLoaded;
}
int nvmlShutdown() {
  if (!is_persistent) limit_mw = kOwnLimit_mw;
  return kSuccess;
}
const char* nvmlErrorString(int error) {
  if (error == kInvalid) return "Invalid Argument";
  if (error == kNotSupported) return "Not Supported";
  return error == kNoPermission ? "Insufficient Permissions" : "Driver Not Loaded";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return kInvalid;
  *device = &gpus[index];
  return kSuccess;
}
int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "NVIDIA Testing 80GB");
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-%d000-test", *static_cast<int*>(device) + 1);
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  if (device != &gpus[0]) return kNotSupported;
  use->gpu = 80;
  use->memory = 40;
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {80 * kGigabyte, 70 * kGigabyte, 10 * kGigabyte};
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (device != &gpus[0]) return kNotSupported;
  *milliwatts = limit_mw;
  return kSuccess;
}
int nvmlDeviceSetPersistenceMode(void* device, int mode) {
  if (device != &gpus[0]) return kNoPermission;
  if (std::getenv("FAKE_NVML_FORGETS") != nullptr) return kNotSupported;
  is_persistent = mode == 1;
  return kSuccess;
}
int nvmlDeviceSetPowerManagementLimit(void* device, unsigned milliwatts) {
  if (device != &gpus[0]) return kNoPermission;
  if (milliwatts < 100'000) return kInvalid;
  limit_mw = milliwatts;
  return kSuccess;
}
/// Those of the file whose line ends so.
static int list(const std::string& end, void* device, unsigned* count, Process* processes) {
  if (device != &gpus[0]) return kNoPermission;
  const char* const file = std::getenv("FAKE_NVML_PROCESSES");
  std::ifstream lines(file == nullptr ? "/dev/null" : file);
  std::vector<Process> found;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Process told{0, kNotAvailable, ~0U, ~0U};
    if (unsigned long long megabytes = 0; words >> told.process && words >> megabytes) {
      told.memory = megabytes << 20;
    }
    std::string last;
    words >> last;
    if (last == end) found.push_back(told);
  }
  const bool has_room = found.size() <= *count;
  *count = static_cast<unsigned>(found.size());
  if (!has_room) return kInsufficientSize;
  for (const Process& each : found) *processes++ = each;
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  return list("", device, count, processes);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  return list("mps", device, count, processes);
}

}  // extern "C"
