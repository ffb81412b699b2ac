// SPDX-License-Identifier: Apache-2.0

/// \file
/// The KV memory of a replica in blocks of tokens, and what of it later requests find again.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace almanac::inference {

/// Blocks of which sequences hold some. A block that no sequence holds keeps its content until it
/// is taken for another, oldest release first.
///
/// Source   vLLM's block pool as inference-sim (BLIS) has it: of blocks with equal content the
///          latest is found, and taking any of them for something else forgets the content.
class KvCache {
 public:
  using Block = std::int32_t;
  /// Names the content of a block together with all before it.
  using Key = std::uint64_t;

  /// With `reuse` contents are found again; without, blocks are only counted, which is faster.
  KvCache(std::int32_t blocks, bool reuse);

  std::int32_t size() const { return size_; }
  std::int32_t free() const { return free_; }

  /// How many leading blocks of `keys` are there, held or not. O(result).
  std::int32_t find(std::span<const Key> keys) const;
  /// Of the first `found` blocks of `keys`: how many no sequence holds.
  std::int32_t idle(std::span<const Key> keys, std::int32_t found) const;
  /// Adds them to `held`.
  void share(std::span<const Key> keys, std::int32_t found, std::vector<Block>& held);
  /// Adds `count` blocks, no more than are free, to `held`.
  void take(std::int32_t count, std::vector<Block>& held);
  /// Says what a block holds now.
  void name(Block block, Key key);
  /// Gives back `count` blocks, the last first, so that the tail of a prompt is forgotten before
  /// its head; `held` names them where blocks are more than counted.
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
