// SPDX-License-Identifier: Apache-2.0

/// \file
/// A driver that is none. FAKE_MACHINE says of which machine: if it is not told, of two GPUs, of
/// which it does not tell how they are connected; else of four. "pairs" has 0 and 1, and 2 and 3 by
/// four links of NVLink each, each pair at a socket; "switched" has all behind switches, by 18
/// links; "uneven" has no NVLink and 0, 1 and 2 at one socket, 0 and 1 behind one PCIe switch;
/// "mute" has a driver of before all that.
///
/// Each GPU has 80 GB, of which 10 are in use. The first is 80 % busy, draws up to 300 W and may be
/// limited to 100 W or more; without persistence mode, which FAKE_FORGETS keeps it from, it forgets
/// the limit when no process uses it any more. The processes that compute on it are told by the
/// lines "PROCESS MEGABYTES" of the file that FAKE_PROCESSES names, without megabytes where the
/// memory is not told, with "mps" behind them for clients of MPS. The others tell nothing of their
/// use, as GPUs that are cut by MIG, and whatever is to be changed only root may, which never asks.
/// FAKE_BROKEN: it does not begin.
///
/// With FAKE_INSTANCES, GPUs 0 and 1 are cut in instances as an A100 of 80 GB is: an instance has
/// so many memory slices from where it begins, two do not overlap, and of a profile there are so
/// many at most. What there is stands in the file that it names, for that outlives those that ask:
/// lines "GPU ID PROFILE START COMPUTE", where COMPUTE is how many compute instances it has.
/// FAKE_NO_ROOT refuses changes. An instance that the file FAKE_IN_USE names, "GPU ID", is not
/// removed. Built as libnvidia-ml.so.1, for tests.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalid = 2;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;
constexpr int kInUse = 19;
constexpr int kInsufficientResources = 23;
constexpr unsigned kGpus = 4;
constexpr unsigned kNone = 99;
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr unsigned kOwnLimit_mw = 300'000;
unsigned limit_mw = kOwnLimit_mw;
bool is_persistent = false;

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What a handle points at.
struct Gpu {
  unsigned number = 0;
  unsigned instance = kNone;  // of a device that is one
};
std::array<Gpu, kGpus> gpus{{{0}, {1}, {2}, {3}}};

struct Profile {
  unsigned id = 0;
  unsigned compute = 0;
  unsigned memory = 0;
  unsigned most = 0;
  unsigned multiprocessors = 0;
  unsigned megabytes = 0;
  std::vector<unsigned> starts;
  unsigned optical_flow = 0;
  std::string name;
};
const std::array<Profile, 8>& profiles() {
  static const std::array<Profile, 8> all{
      {{19, 1, 1, 7, 14, 9728, {0, 1, 2, 3, 4, 5, 6}, 0, "1g.10gb"},
       {14, 2, 2, 3, 28, 19968, {0, 2, 4}, 0, "2g.20gb"},
       {9, 3, 4, 2, 42, 40192, {0, 4}, 0, "3g.40gb"},
       {5, 4, 4, 1, 56, 40192, {0}, 0, "4g.40gb"},
       {0, 7, 8, 1, 98, 80896, {0}, 1, "7g.80gb"},
       {},
       {20, 1, 1, 1, 14, 9728, {0, 1, 2, 3, 4, 5, 6}, 1, "1g.10gb+me"},
       {15, 1, 2, 4, 14, 19968, {0, 2, 4, 6}, 0, "1g.20gb"}}};
  return all;
}
const Profile* find(unsigned id) {
  for (const Profile& each : profiles()) {
    if (each.id == id && each.memory > 0) return &each;
  }
  return nullptr;
}

struct Made {
  unsigned gpu = 0;
  unsigned id = 0;
  unsigned profile = 0;
  unsigned start = 0;
  unsigned compute = 0;
};
std::vector<Made> instances() {
  std::vector<Made> found;
  std::ifstream file(setting("FAKE_INSTANCES"));
  for (Made each; file >> each.gpu >> each.id >> each.profile >> each.start >> each.compute;) {
    found.push_back(each);
  }
  return found;
}
void write(const std::vector<Made>& all) {
  std::ofstream file(setting("FAKE_INSTANCES"));
  for (const Made& each : all) {
    file << each.gpu << ' ' << each.id << ' ' << each.profile << ' ' << each.start << ' '
         << each.compute << '\n';
  }
}
bool may_change() { return setting("FAKE_NO_ROOT").empty(); }
bool is_used(const Made& instance) {
  std::ifstream file(setting("FAKE_IN_USE"));
  for (unsigned gpu = 0, id = 0; file >> gpu >> id;) {
    if (gpu == instance.gpu && id == instance.id) return true;
  }
  return false;
}

/// Handles of instances: the GPU, and the instance's number.
std::array<std::array<Gpu, 64>, kGpus> handles;
std::array<std::array<Gpu, 64>, kGpus> compute_handles;
std::array<std::array<Gpu, 64>, kGpus> devices;

Gpu* handle(std::array<std::array<Gpu, 64>, kGpus>& of, unsigned gpu, unsigned id) {
  of[gpu][id] = {gpu, id};
  return &of[gpu][id];
}
bool is_cut(const Gpu& gpu) {
  return gpu.number < 2 && gpu.instance == kNone && !setting("FAKE_INSTANCES").empty();
}

std::string machine() { return setting("FAKE_MACHINE"); }
unsigned num_gpus() { return machine().empty() ? 2 : kGpus; }
/// Whether it knows neither connections nor instances.
bool is_mute() { return machine().empty() || machine() == "mute"; }
bool is_first(void* device) { return device == &gpus[0]; }

}  // namespace

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
struct BusAddress {
  char short_form[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};
struct Placement {
  unsigned start, size;
};
struct ProfileInfo {
  unsigned id, is_peer_to_peer, compute, most, multiprocessors, copy, dec, enc, jpeg, optical_flow;
  unsigned long long megabytes;
};
struct InstanceInfo {
  void* device;
  unsigned id, profile;
  Placement placement;
};
struct ComputeInfo {
  unsigned id, compute, most, multiprocessors, shared[5];
};

struct Process {
  unsigned process;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

int nvmlInit_v2() { return setting("FAKE_BROKEN").empty() ? kSuccess : kDriverNotLoaded; }
int nvmlShutdown() {
  if (!is_persistent) limit_mw = kOwnLimit_mw;
  return kSuccess;
}
const char* nvmlErrorString(int error) {
  switch (error) {
    case kInvalid:
      return "Invalid Argument";
    case kNoPermission:
      return "Insufficient Permissions";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kInUse:
      return "In use by another client";
    case kInsufficientResources:
      return "Insufficient Resources";
    default:
      return "Not Supported";
  }
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = num_gpus();
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= num_gpus()) return kInvalid;
  *device = &gpus[index];
  return kSuccess;
}
static bool get(void* of, Made& made) {
  const Gpu& asked = *static_cast<Gpu*>(of);
  for (const Made& each : instances()) {
    if (each.gpu == asked.number && each.id == asked.instance) {
      made = each;
      return true;
    }
  }
  return false;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::string text = machine().empty() ? "NVIDIA Testing 80GB" : "NVIDIA A100-SXM4-80GB";
  if (Made made; get(device, made)) text += " MIG " + find(made.profile)->name;
  std::snprintf(name, length, "%s", text.c_str());
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  const Gpu& gpu = *static_cast<Gpu*>(device);
  if (gpu.instance == kNone) {
    std::snprintf(uuid, length, "GPU-%u000-test", gpu.number + 1);
  } else {
    std::snprintf(uuid, length, "MIG-%u-%u", gpu.number, gpu.instance);
  }
  return kSuccess;
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
  *minor = static_cast<Gpu*>(device)->number;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  if (!is_first(device)) return kNotSupported;
  *use = {80, 40};
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {80ULL << 30, 70ULL << 30, 10ULL << 30};
  return kSuccess;
}

// What they draw, and for whom.

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (!is_first(device)) return kNotSupported;
  *milliwatts = limit_mw;
  return kSuccess;
}
int nvmlDeviceSetPersistenceMode(void* device, int mode) {
  if (!is_first(device)) return kNoPermission;
  if (!setting("FAKE_FORGETS").empty()) return kNotSupported;
  is_persistent = mode == 1;
  return kSuccess;
}
int nvmlDeviceSetPowerManagementLimit(void* device, unsigned milliwatts) {
  if (!is_first(device)) return kNoPermission;
  if (milliwatts < 100'000) return kInvalid;
  limit_mw = milliwatts;
  return kSuccess;
}
/// Those of the file whose line ends so.
static int list(const std::string& end, void* device, unsigned* count, Process* processes) {
  if (!is_first(device)) return kNoPermission;
  std::ifstream lines(setting("FAKE_PROCESSES"));
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

// How they are connected.

int nvmlDeviceGetPciInfo_v3(void* device, BusAddress* address) {
  *address = {};
  address->bus = 0x10 * (static_cast<Gpu*>(device)->number + 1);
  return kSuccess;
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, int* state) {
  const unsigned links = machine() == "pairs" ? 4 : machine() == "switched" ? 18 : 0;
  if (link >= links) return is_mute() ? kNotSupported : kInvalid;
  *state = 1;
  return kSuccess;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, BusAddress* address) {
  *address = {};
  const unsigned number = static_cast<Gpu*>(device)->number;
  address->bus = machine() == "switched" ? 0xF0 : 0x10 * ((number ^ 1U) + 1);
  return kSuccess;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* kind) {
  *kind = machine() == "switched" ? 2 : 0;
  return kSuccess;
}
int nvmlDeviceGetTopologyCommonAncestor(void* device, void* other, int* level) {
  if (is_mute()) return kNotSupported;
  const unsigned low =
      std::min(static_cast<Gpu*>(device)->number, static_cast<Gpu*>(other)->number);
  const unsigned high =
      std::max(static_cast<Gpu*>(device)->number, static_cast<Gpu*>(other)->number);
  if (machine() == "uneven") {
    *level = high == 3 ? 50 : low == 0 && high == 1 ? 10 : 40;
  } else {
    *level = low / 2 == high / 2 ? 40 : 50;
  }
  return kSuccess;
}

// Cut in instances.

int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* next) {
  if (is_mute()) return kNotSupported;
  *now = *next = is_cut(*static_cast<Gpu*>(device)) ? 1 : 0;
  return kSuccess;
}
int nvmlDeviceGetGpuInstanceProfileInfo(void* device, unsigned number, ProfileInfo* info) {
  if (!is_cut(*static_cast<Gpu*>(device)) || number >= profiles().size()) return kNotSupported;
  const Profile& told = profiles()[number];
  if (told.memory == 0) return kNotSupported;
  *info = {told.id, 0, told.compute,      told.most,     told.multiprocessors, 1, 0,
           0,       0, told.optical_flow, told.megabytes};
  return kSuccess;
}
int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void*, unsigned profile, Placement* places,
                                                  unsigned* count) {
  const Profile* const told = find(profile);
  if (told == nullptr) return kNotSupported;
  *count = static_cast<unsigned>(told->starts.size());
  if (places == nullptr) return kSuccess;
  for (const unsigned start : told->starts) *places++ = {start, told->memory};
  return kSuccess;
}
int nvmlDeviceGetGpuInstances(void* device, unsigned profile, void** found, unsigned* count) {
  *count = 0;
  for (const Made& each : instances()) {
    if (each.gpu != static_cast<Gpu*>(device)->number || each.profile != profile) continue;
    found[(*count)++] = handle(handles, each.gpu, each.id);
  }
  return kSuccess;
}
int nvmlGpuInstanceGetInfo(void* instance, InstanceInfo* info) {
  Made made;
  if (!get(instance, made)) return kNotFound;
  *info = {&gpus[made.gpu], made.id, made.profile, {made.start, find(made.profile)->memory}};
  return kSuccess;
}
int nvmlDeviceCreateGpuInstanceWithPlacement(void* device, unsigned profile, const Placement* place,
                                             void** made) {
  const Profile* const asked = find(profile);
  if (asked == nullptr || !is_cut(*static_cast<Gpu*>(device))) return kNotSupported;
  if (!may_change()) return kNoPermission;
  if (place->size != asked->memory ||
      std::count(asked->starts.begin(), asked->starts.end(), place->start) == 0) {
    return kInvalid;
  }
  std::vector<Made> all = instances();
  unsigned alike = 0;
  unsigned media = asked->optical_flow;
  unsigned id = 1;
  for (const Made& each : all) {
    if (each.gpu != static_cast<Gpu*>(device)->number) continue;
    const Profile& its = *find(each.profile);
    id = std::max(id, each.id + 1);
    alike += each.profile == profile ? 1 : 0;
    media += its.optical_flow;
    const bool apart =
        each.start + its.memory <= place->start || place->start + asked->memory <= each.start;
    if (!apart) return kInsufficientResources;
  }
  if (alike >= asked->most || media > 1) return kInsufficientResources;
  all.push_back({static_cast<Gpu*>(device)->number, id, profile, place->start, 0});
  write(all);
  *made = handle(handles, all.back().gpu, id);
  return kSuccess;
}
int nvmlGpuInstanceDestroy(void* instance) {
  Made gone;
  if (!get(instance, gone)) return kNotFound;
  if (!may_change()) return kNoPermission;
  if (gone.compute > 0 || is_used(gone)) return kInUse;
  std::vector<Made> all = instances();
  std::erase_if(all, [&](const Made& each) { return each.gpu == gone.gpu && each.id == gone.id; });
  write(all);
  return kSuccess;
}
int nvmlGpuInstanceGetComputeInstanceProfileInfo(void* instance, unsigned number, unsigned,
                                                 ComputeInfo* info) {
  Made made;
  if (!get(instance, made)) return kNotFound;
  const unsigned all = find(made.profile)->compute;
  // One compute slice, and all.
  if (number > 1 || (number == 1 && all == 1)) return kNotSupported;
  *info = {number, number == 0 ? 1 : all, number == 0 ? all : 1, 0, {}};
  return kSuccess;
}
int nvmlGpuInstanceGetComputeInstances(void* instance, unsigned profile, void** found,
                                       unsigned* count) {
  Made made;
  if (!get(instance, made)) return kNotFound;
  *count = profile == 0 ? made.compute : 0;
  for (unsigned at = 0; at < *count; ++at) found[at] = handle(compute_handles, made.gpu, made.id);
  return kSuccess;
}
static int change_compute(void* of, bool more) {
  std::vector<Made> all = instances();
  for (Made& each : all) {
    const Gpu& asked = *static_cast<Gpu*>(of);
    if (each.gpu != asked.number || each.id != asked.instance) continue;
    if (!may_change()) return kNoPermission;
    if (!more && is_used(each)) return kInUse;
    each.compute += more ? 1U : ~0U;
    write(all);
    return kSuccess;
  }
  return kNotFound;
}
int nvmlGpuInstanceCreateComputeInstance(void* instance, unsigned, void** made) {
  *made = instance;
  return change_compute(instance, true);
}
int nvmlComputeInstanceDestroy(void* compute) { return change_compute(compute, false); }
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return kSuccess;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** part) {
  for (const Made& each : instances()) {
    if (each.gpu != static_cast<Gpu*>(device)->number) continue;
    if (index >= each.compute) {
      index -= each.compute;
      continue;
    }
    *part = handle(devices, each.gpu, each.id);
    return kSuccess;
  }
  return kNotFound;
}
int nvmlDeviceGetGpuInstanceId(void* part, unsigned* id) {
  *id = static_cast<Gpu*>(part)->instance;
  return kSuccess;
}

}  // extern "C"
