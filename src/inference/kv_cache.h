// SPDX-License-Identifier: Apache-2.0

/// \file
/// The KV cache of a replica in blocks of tokens, and what later requests can reuse.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace almanac::inference {

/// Blocks that sequences hold or that are free. A free block keeps its content until it is taken
/// for another, oldest release first.
///
/// Source   vLLM's block pool, as in inference-sim (BLIS): of blocks with equal content, the newest
///          is found; taking any of them for something else forgets the content.
class KvCache {
 public:
  using Block = std::int32_t;
  /// Identifies the content of a block together with all blocks before it.
  using Key = std::uint64_t;

  /// With `reuse`, later requests find contents again. Without, blocks are only counted, which is
  /// faster.
  KvCache(std::int32_t blocks, bool reuse);

  std::int32_t size() const { return size_; }
  std::int32_t free() const { return free_; }

  /// Returns how many leading blocks of `keys` are cached, held or not. O(result).
  std::int32_t find(std::span<const Key> keys) const;
  /// Returns how many of the first `found` blocks of `keys` no sequence holds.
  std::int32_t idle(std::span<const Key> keys, std::int32_t found) const;
  /// Adds the first `found` blocks of `keys` to `held`.
  void share(std::span<const Key> keys, std::int32_t found, std::vector<Block>& held);
  /// Adds `count` free blocks to `held`; there must be enough.
  void take(std::int32_t count, std::vector<Block>& held);
  /// Sets the content of a block.
  void name(Block block, Key key);
  /// Releases `count` blocks, the last first, so that the end of a prompt is evicted before its
  /// start. `held` has their ids unless blocks are only counted.
  void release(std::int32_t count, std::vector<Block>& held);

 private:
  static constexpr Block kNone = -1;
  struct State {
    Key key = 0;
    Block before = kNone;  // in the list of free blocks
    Block after = kNone;
    std::int32_t holders = 0;
    bool named = false;
  };
  void append(Block block);
  void unlink(Block block);

  std::vector<State> states_;
  std::unordered_map<Key, Block> found_;
  Block first_ = kNone;
  Block last_ = kNone;
  std::int32_t size_;
  std::int32_t free_;
  bool reuse_;
};

}  // namespace almanac::inference
