// SPDX-License-Identifier: Apache-2.0

/// \file
/// The shape of a transformer and the limits of a board: what closed-form step times are made of.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace almanac::inference {

/// A decoder, as its config.json tells it.
struct Model {
  std::string name{};
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int mlp = 0;  ///< Width of the feed-forward part of a dense layer.
  int moe_layers = 0;
  int experts = 0;
  int active_experts = 0;  ///< Of a token.
  int expert_mlp = 0;
  int weight_bytes = 2;  ///< Of one weight.

  int dense_layers() const { return layers - moe_layers; }
  double head_size() const { return static_cast<double>(hidden) / heads; }
  double kv_size() const { return kv_heads * head_size(); }
  /// Bytes of KV cache that one token takes, at two bytes a number.
  double kv_bytes() const { return 2.0 * layers * kv_size() * 2; }
  /// Bytes of all weights of attention and feed-forward parts (three matrices in each).
  double bytes() const;
  /// Bytes of an adapter (LoRA) of that rank for the four matrices of attention, 2 for each number.
  double adapter_bytes(int rank) const;
};

/// A GPU.
struct Board {
  std::string name{};
  double flops = 0;        ///< A second, at 2-byte numbers.
  double fp8_flops = 0;    ///< 0 = it has none.
  double bandwidth = 0;    ///< Of its memory, bytes a second.
  double prefill_use = 0;  ///< Share of the peak that prefills reach.
  double decode_use = 0;
  double memory_gib = 0;
  double host_bandwidth = 0;  ///< To the memory of its node, bytes a second, one way.
  /// Watts of one GPU that waits, that computes prompts, that computes tokens.
  double idle_w = 0, prefill_w = 0, decode_w = 0;
  double peer_bandwidth = 0;  ///< To other GPUs of its node, bytes a second, one way.

  /// The peak that weights of this width are computed at.
  double peak(int weight_bytes) const {
    return weight_bytes == 1 && fp8_flops > 0 ? fp8_flops : flops;
  }
};

/// The model that `name` means: upper and lower case, an owner before '/' and a suffix such as
/// "-Instruct" do not matter. Fails with not_found and the names that are known.
///
/// Source   the models' published config.json files; reference figures of inference-sim.
Result<Model> find_model(std::string_view name);
/// A model of a Hugging Face config.json. Fails with not_found, invalid.
Result<Model> read_model(const std::string& path);
/// The board that `name` means: "H100", "A100-SXM", "L40S". Fails with not_found.
Result<Board> find_board(std::string_view name);

}  // namespace almanac::inference
