// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads generic resources as Slurm writes them: what a node has, "gpu:v100:8(S:0-1),shard:16";
/// what a job asks, "gres:gpu:2", "gres/gpu:v100:2"; what it holds of a node,
/// "gpu:v100:2(IDX:0-1)".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace almanac::text {

/// GPUs of one type, or instances of one size that GPUs are cut in (MIG): Slurm counts both as
/// gres/gpu.
struct TypedGpus {
  std::string type{};
  int count = 0;

  bool operator==(const TypedGpus&) const = default;
};

struct Gres {
  int gpus = 0;
  std::string gpu_type{};   ///< Several as "a100|h100".
  std::uint64_t index = 0;  ///< A bit for each GPU named by IDX, whole or for
                            ///< its shards; those from 64 on have none.
  int shards = 0;
  int mps = 0;
  std::vector<TypedGpus> types{};  ///< Those of which a type is told, in order.

  bool operator==(const Gres&) const = default;
};

/// "", "(null)" and "N/A" are none of anything; other resources are passed over. Nothing for what
/// is no such list.
std::optional<Gres> parse_gres(std::string_view text);

/// A `count` asked so many times over; no more than any list may say (a million).
int times(int count, int over);

}  // namespace almanac::text
