// SPDX-License-Identifier: Apache-2.0
#include "gpu/holders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>

namespace almanac::gpu {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr int kInsufficientSize = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
/// NVML_VALUE_NOT_AVAILABLE.
constexpr std::uint64_t kNotTold = ~std::uint64_t{0};

/// nvmlProcessInfo_v1_t, _v2_t and _v3_t. All begin with the process, and its memory at 8.
constexpr std::array<std::size_t, 3> kEntrySizes{16, 24, 32};
constexpr std::size_t kMemoryAt = 8;
constexpr std::size_t kLargestEntry = 32;
/// No last byte of an entry: it ends with a high byte of a size or an instance, 0 or 255.
constexpr std::uint8_t kUntouched = 0xA5;

using Bytes = std::vector<std::uint8_t>;

/// How long the driver's entries are; 0 = as none that we know.
std::size_t entry_size(const Bytes& bytes, std::size_t count) {
  const auto last = std::find_if(bytes.rbegin(), bytes.rend(),
                                 [](std::uint8_t byte) { return byte != kUntouched; });
  const auto written = static_cast<std::size_t>(std::distance(last, bytes.rend()));
  for (const std::size_t size : kEntrySizes) {
    if (size * count == written) return size;
  }
  return 0;
}

template <typename Number>
Number number_at(const Bytes& bytes, std::size_t place) {
  Number number{};
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

}  // namespace

Holders list_holders(ListProcesses ask, void* device) {
  Holders made;
  Bytes bytes;
  unsigned count = 0;
  constexpr unsigned kFirstRoom = 64;
  constexpr unsigned kMostRoom = 1U << 16;
  for (unsigned room = kFirstRoom; room <= kMostRoom; room *= 2) {
    bytes.assign(room * kLargestEntry, kUntouched);
    count = room;
    made.status = ask(device, &count, bytes.data());
    if (made.status != kInsufficientSize) break;
  }
  if (made.status != kFine) return made;
  const std::size_t size = entry_size(bytes, count);
  made.is_understood = size > 0 || count == 0;
  if (size == 0) return made;
  std::map<pid_t, std::optional<double>> all;
  for (std::size_t at = 0; at < count * size; at += size) {
    const auto process = static_cast<pid_t>(number_at<std::uint32_t>(bytes, at));
    const auto memory = number_at<std::uint64_t>(bytes, at + kMemoryAt);
    // A process may be there once for each part of a GPU that is cut up.
    auto& held = all.try_emplace(process, 0.0).first->second;
    held = held && memory != kNotTold
               ? std::optional(*held + static_cast<double>(memory) / kGibibyte)
               : std::nullopt;
  }
  for (const auto& [process, held] : all) made.all.push_back({process, held});
  return made;
}

std::vector<Holder> joined(const std::vector<Holder>& some, const std::vector<Holder>& others) {
  std::map<pid_t, std::optional<double>> all;
  for (const std::vector<Holder>* const list : {&some, &others}) {
    for (const Holder& each : *list) {
      auto& held = all[each.process];
      held = std::max(held, each.memory_gb);
    }
  }
  std::vector<Holder> made;
  for (const auto& [process, held] : all) made.push_back({process, held});
  return made;
}

}  // namespace almanac::gpu
