// SPDX-License-Identifier: Apache-2.0
#include "gpu/mig.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "gpu/nvml_library.h"

namespace almanac::gpu {
namespace {

/// Kinds of profiles are asked by number; a driver refuses numbers that it does not know.
constexpr unsigned kMostProfiles = 32;
constexpr unsigned kMostComputeProfiles = 16;
constexpr unsigned kMostInstances = 64;
constexpr unsigned kIsCut = 1;  // NVML_DEVICE_MIG_ENABLE

MigInstance told(const MigInstanceInfo& info) {
  return {.id = info.id,
          .profile = info.profile,
          .start = static_cast<int>(info.placement.start),
          .size = static_cast<int>(info.placement.size)};
}

/// With their handles, in order of where they begin.
std::vector<std::pair<MigInstance, Instance>> list(const MigFunctions& mig, Device device) {
  std::vector<std::pair<MigInstance, Instance>> made;
  for (unsigned number = 0; number < kMostProfiles; ++number) {
    MigProfileInfo profile;
    if (mig.profile(device, number, &profile) != kFine) continue;
    std::array<Instance, kMostInstances> found{};
    unsigned count = 0;
    if (mig.list(device, profile.id, found.data(), &count) != kFine) continue;
    for (unsigned at = 0; at < std::min(count, kMostInstances); ++at) {
      MigInstanceInfo info;
      if (mig.tell(found[at], &info) == kFine) made.emplace_back(told(info), found[at]);
    }
  }
  std::sort(made.begin(), made.end(),
            [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  return made;
}

/// The profile of a compute instance that has all of a GPU instance; nothing = the driver has none.
std::optional<unsigned> whole(const MigFunctions& mig, Instance instance) {
  std::optional<unsigned> made;
  unsigned most = 0;
  for (unsigned number = 0; number < kMostComputeProfiles; ++number) {
    ComputeProfileInfo info;
    if (mig.compute_profile(instance, number, 0, &info) != kFine) continue;
    if (info.compute_slices <= most) continue;
    most = info.compute_slices;
    made = info.id;
  }
  return made;
}

/// Its compute instances, of whatever size.
std::vector<Instance> compute_instances(const MigFunctions& mig, Instance instance) {
  std::vector<Instance> made;
  for (unsigned number = 0; number < kMostComputeProfiles; ++number) {
    ComputeProfileInfo info;
    if (mig.compute_profile(instance, number, 0, &info) != kFine) continue;
    std::array<Instance, kMostInstances> found{};
    unsigned count = 0;
    if (mig.list_compute(instance, info.id, found.data(), &count) != kFine) continue;
    made.insert(made.end(), found.begin(), found.begin() + std::min(count, kMostInstances));
  }
  return made;
}

/// "NVIDIA A100-SXM4-80GB MIG 1g.10gb" is an instance of "1g.10gb".
std::string profile_in(const std::string& name) {
  constexpr std::string_view kMark = " MIG ";
  const std::size_t at = name.rfind(kMark);
  return at == std::string::npos ? "" : name.substr(at + kMark.size());
}

}  // namespace

std::optional<bool> Nvml::is_cut(int gpu) const {
  const Device device = library_->at(gpu);
  unsigned now = 0;
  unsigned next = 0;
  const bool is_told = device != nullptr && library_->mig.is_there &&
                       library_->mig.mode(device, &now, &next) == kFine;
  return is_told ? std::optional(now == kIsCut) : std::nullopt;
}

std::vector<MigProfile> Nvml::mig_profiles(int gpu) const {
  std::vector<MigProfile> made;
  if (!is_cut(gpu).value_or(false)) return made;
  for (unsigned number = 0; number < kMostProfiles; ++number) {
    MigProfileInfo info;
    if (library_->mig.profile(library_->at(gpu), number, &info) != kFine) continue;
    made.push_back({.id = info.id,
                    .compute_slices = static_cast<int>(info.compute_slices),
                    .memory_gb = static_cast<double>(info.memory_mb) / 1024,
                    .multiprocessors = static_cast<int>(info.multiprocessors),
                    .most = static_cast<int>(info.most),
                    .has_media = info.optical_flow > 0});
  }
  return made;
}

Result<std::vector<MigInstance>> Nvml::mig_instances(int gpu) const {
  std::vector<MigInstance> made;
  if (!is_cut(gpu).value_or(false)) return made;
  const MigFunctions& mig = library_->mig;
  const Device device = library_->at(gpu);
  for (const auto& [instance, handle] : list(mig, device)) made.push_back(instance);
  unsigned most = 0;
  if (const int status = mig.most_devices(device, &most); status != kFine) {
    return fail(Code::unavailable, library_->error_string(status));
  }
  std::vector<unsigned> devices_of(made.size());
  for (unsigned at = 0; at < most; ++at) {
    Device part = nullptr;
    unsigned of = 0;
    if (mig.device(device, at, &part) != kFine || mig.instance_of(part, &of) != kFine) continue;
    const auto owner = std::find_if(made.begin(), made.end(),
                                    [&](const MigInstance& each) { return each.id == of; });
    if (owner == made.end()) continue;
    const bool is_only = ++devices_of[static_cast<std::size_t>(owner - made.begin())] == 1;
    owner->uuid = is_only ? library_->text(part, library_->device_uuid) : "";
    owner->name = is_only ? profile_in(library_->text(part, library_->device_name)) : "";
  }
  return made;
}

Result<MigInstance> Nvml::create_mig_instance(int gpu, const MigProfile& profile, int start) {
  if (!is_cut(gpu).value_or(false)) return fail(Code::unavailable, "MIG is not enabled on the GPU");
  const MigFunctions& mig = library_->mig;
  const auto refused = [&](int status) {
    return fail(Code::unavailable, library_->error_string(status));
  };
  Instance made = nullptr;
  // Only the start of the place is a choice; the driver knows the size of the profile.
  MigPlacement place{.start = static_cast<unsigned>(start)};
  std::array<MigPlacement, kMostInstances> legal{};
  unsigned count = 0;
  if (const int status = mig.places(library_->at(gpu), profile.id, nullptr, &count);
      status != kFine || count > kMostInstances) {
    return refused(status);
  }
  if (const int status = mig.places(library_->at(gpu), profile.id, legal.data(), &count);
      status != kFine) {
    return refused(status);
  }
  const auto* const end = legal.cbegin() + std::min(count, kMostInstances);
  const auto* const found = std::find_if(
      legal.cbegin(), end, [&](const MigPlacement& each) { return each.start == place.start; });
  if (found == end) return fail(Code::unavailable, "no such instance can be created there");
  place = *found;
  if (const int status = mig.create(library_->at(gpu), profile.id, &place, &made);
      status != kFine) {
    return refused(status);
  }
  MigInstanceInfo info;
  Instance compute = nullptr;
  const std::optional<unsigned> all = whole(mig, made);
  int status = mig.tell(made, &info);
  if (status == kFine) status = all ? mig.create_compute(made, *all, &compute) : kNotSupported;
  if (status != kFine) {
    static_cast<void>(mig.destroy(made));
    return refused(status);
  }
  const auto all_now = mig_instances(gpu);
  if (!all_now) return tl::unexpected(all_now.error());
  const auto own = std::find_if(all_now->begin(), all_now->end(),
                                [&](const MigInstance& each) { return each.id == info.id; });
  if (own == all_now->end()) return fail(Code::unavailable, "the driver does not report it");
  return *own;
}

Result<void> Nvml::destroy_mig_instance(int gpu, unsigned instance) {
  if (!is_cut(gpu).value_or(false)) return fail(Code::unavailable, "MIG is not enabled on the GPU");
  const MigFunctions& mig = library_->mig;
  for (const auto& [each, handle] : list(mig, library_->at(gpu))) {
    if (each.id != instance) continue;
    for (Instance const compute : compute_instances(mig, handle)) {
      if (const int status = mig.destroy_compute(compute); status != kFine) {
        return fail(Code::unavailable, library_->error_string(status));
      }
    }
    if (const int status = mig.destroy(handle); status != kFine) {
      return fail(Code::unavailable, library_->error_string(status));
    }
    return {};
  }
  return fail(Code::unavailable, "there is no such instance");
}

}  // namespace almanac::gpu
