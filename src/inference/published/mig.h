// SPDX-License-Identifier: Apache-2.0

/// \file
/// A GPU in instances (NVIDIA's Multi-Instance GPU): which may stand beside which.
///
/// Source   NVIDIA's tables of profiles. Instances do not overlap in memory slices, a profile has a
///          largest count, and one instance at most owns the media engines; nothing else binds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

struct MigProfile {
  std::string name{};
  int most = 0;     ///< Instances of it on one GPU.
  int compute = 0;  ///< Slices.
  int memory = 0;
  std::vector<int> starts{};  ///< Memory slices at which it may begin.
  int sm = 0;
  bool media = false;
};

struct MigCard {
  std::string name{};
  std::vector<MigProfile> profiles{};
  /// The position of a profile; below 0 = it has none of that name.
  int find(std::string_view profile) const;
};

/// Cards of a table with the columns gpu, profile, max_instances, profile_compute_slices,
/// profile_memory_slices, starts, sm, media. Fails with not_found, invalid.
Result<std::vector<MigCard>> read_mig_cards(const std::string& path);

enum class MigRefusal : std::uint8_t {
  none,
  start_not_allowed,
  overlap,
  instance_limit,
  media_taken,
};
std::string_view to_string(MigRefusal refusal);

/// The instances on one GPU.
class MigGpu {
 public:
  struct Instance {
    int profile = 0;
    int start = 0;
    friend auto operator<=>(const Instance&, const Instance&) = default;
  };
  explicit MigGpu(const MigCard& card) : card_(&card) {}

  /// Why the instance cannot be; the first reason in the order of MigRefusal.
  MigRefusal refusal(int profile, int start) const;
  /// Refused, or none and it is there.
  MigRefusal create(int profile, int start);
  void destroy(const Instance& instance);
  const std::vector<Instance>& instances() const { return instances_; }
  /// How many more instances of a profile could be created, were no other.
  int room(int profile) const;

 private:
  std::uint32_t mask(int profile, int start) const;
  const MigCard* card_;
  std::vector<Instance> instances_;
  std::uint32_t taken_ = 0;  // memory slices
};

}  // namespace almanac::inference
