// SPDX-License-Identifier: Apache-2.0

/// \file
/// A node with partly used GPUs as a score sees it, and a request for some of them.
#pragma once

#include <array>
#include <cstdint>

namespace almanac::fragment {

inline constexpr int kMaxGpus = 64;    ///< Per node.
inline constexpr int kWhole = 1000;    ///< Thousandths of a GPU.
inline constexpr int kMaxPods = 1000;  ///< Pods on a node at the same time.

/// GPU models, one bit each.
using Models = std::uint64_t;
inline constexpr Models kAnyModel = ~Models{0};
/// GPUs of a node, one bit each.
using Gpus = std::uint64_t;

/// A pod's request: no GPU, a part of one GPU, or whole GPUs of one node.
struct Request {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpus = 0;
  int gpu_milli = 0;  ///< Thousandths of each GPU, 1 to 1000; 0 without a GPU.
  Models models = kAnyModel;

  bool shares() const { return gpus == 1 && gpu_milli < kWhole; }
  int total_milli() const { return gpus * gpu_milli; }
  bool operator==(const Request&) const = default;
};

/// Free capacity of a node.
struct NodeImage {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpus = 0;
  Models model = 0;  ///< One bit; 0 without GPUs.
  std::array<std::int16_t, kMaxGpus> free_milli{};
  int pods = 0;
  /// Number of pods on the node: [0] pods that share a GPU, [n] pods with n whole GPUs.
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

/// Whether `request` fits on `node`. O(GPUs).
bool fits(const NodeImage& node, const Request& request);

/// Returns the GPUs with the least capacity left among those on which `request` fits, the
/// lowest-numbered of equals. Whole-GPU requests thus get the lowest-numbered free GPUs. Requires
/// that `request` fits.
Gpus tightest(const NodeImage& node, const Request& request);

/// Takes what `request` needs from `gpus` of `node`.
void take(NodeImage& node, const Request& request, Gpus gpus);

}  // namespace almanac::fragment
