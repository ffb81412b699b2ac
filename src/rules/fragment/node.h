// SPDX-License-Identifier: Apache-2.0

/// \file
/// A node with parts of GPUs, as a score sees it, and a request for some of them.
#pragma once

#include <array>
#include <cstdint>

namespace almanac::fragment {

inline constexpr int kMaxGpus = 64;    ///< Of a node.
inline constexpr int kWhole = 1000;    ///< Thousandths of a GPU.
inline constexpr int kMaxPods = 1000;  ///< That run on a node at once.

/// Models of GPUs, a bit each.
using Models = std::uint64_t;
inline constexpr Models kAnyModel = ~Models{0};
/// GPUs of a node, a bit each.
using Gpus = std::uint64_t;

/// What a pod asks. Either no GPU, or a part of one GPU, or whole GPUs of one node.
struct Request {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpus = 0;
  int gpu_milli = 0;  ///< Of each GPU: 1..1000; 0 without a GPU.
  Models models = kAnyModel;

  bool shares() const { return gpus == 1 && gpu_milli < kWhole; }
  int total_milli() const { return gpus * gpu_milli; }
  bool operator==(const Request&) const = default;
};

/// What a node has left.
struct NodeImage {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpus = 0;
  Models model = 0;  ///< One bit; none without a GPU.
  std::array<std::int16_t, kMaxGpus> free_milli{};
  int pods = 0;
  /// Pods that it holds: [0] that share a GPU, [n] with n whole GPUs.
  std::array<std::int16_t, kMaxGpus + 1> held{};

  int total_free() const {
    int sum = 0;
    for (int gpu = 0; gpu < gpus; ++gpu) sum += free_milli[static_cast<std::size_t>(gpu)];
    return sum;
  }
  int wholly_free() const {
    int count = 0;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      count += free_milli[static_cast<std::size_t>(gpu)] == kWhole ? 1 : 0;
    }
    return count;
  }
};

/// Whether `request` finds what it asks on `node`. Cost: O(GPUs).
bool fits(const NodeImage& node, const Request& request);

/// The GPUs that lose the least: of those on which `request` fits the one with the least left, the
/// lowest-numbered of equals; the lowest-numbered free ones where it asks whole GPUs. `request`
/// fits.
Gpus tightest(const NodeImage& node, const Request& request);

/// Takes what `request` asks, on `gpus`, of `node`.
void take(NodeImage& node, const Request& request, Gpus gpus);

}  // namespace almanac::fragment
