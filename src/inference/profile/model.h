// SPDX-License-Identifier: Apache-2.0

/// \file
/// The weights, KV cache and arithmetic of a transformer, layer by layer: what closed-form step
/// times and memory are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/profile/board.h"

namespace almanac::inference {

/// Layers that are alike. Counts are numbers (weights), not bytes.
struct Layers {
  int count = 0;
  double attention = 0;  ///< Weights of the projections, all of which every token passes.
  double dense = 0;      ///< Weights of the feed-forward part that every token passes, with
                         ///< experts that all tokens share.
  double router = 0;     ///< Weights that choose experts.
  double small = 0;      ///< Norms and biases.
  int experts = 0;       ///< Of which each token passes `chosen`; 0 = the layer is dense.
  int chosen = 0;
  double expert = 0;  ///< Weights of one.
  /// Operations of one new token for each token that it looks at, in a prompt and in a decode.
  double look_prefill = 0, look_decode = 0;
  std::int64_t window = 0;  ///< Tokens that one looks back at, at most; 0 = all.
  double kv = 0;            ///< Numbers of KV cache of a token.
  int kv_parts = 1;         ///< Heads that GPUs can divide among themselves; more GPUs hold copies.
  double state_bytes = 0;   ///< Of linear attention, read and written for each sequence.

  bool operator==(const Layers&) const = default;
};

/// How matrices are stored and multiplied.
struct Precision {
  double bytes = 2;  ///< Of one weight, with its scales.
  Arithmetic arithmetic = Arithmetic::bf16;
};

/// A decoder. Vision towers and modules that draft further tokens are left out.
struct Model {
  std::string name{};
  int hidden = 0;
  int heads = 0;         ///< Attention heads, which the GPUs of a replica divide; 0 = not known.
  double embedding = 0;  ///< Weights of the input table, of which a token reads one row.
  double head = 0;       ///< Weights of the output matrix; 0 = the input table is used again.
  double rest = 0;       ///< Last norm, table of positions.
  std::vector<Layers> layers{};
  /// Embedding, head, routers and norms stay at 2 bytes.
  Precision attention{}, dense{}, experts{};
  double kv_number_bytes = 2;
  double adapter_numbers = 0;  ///< Of an adapter (LoRA) of rank 1, for the matrices of attention.

  int layer_count() const;
  bool has_experts() const;
  double weights() const;
  /// Weights that a token passes: all but the experts that are not chosen for it.
  double active_weights() const;
  double bytes() const;
  /// Bytes of KV cache that one token takes on all `gpus` that compute each layer together: of
  /// heads that are fewer than GPUs, and of latent KV (MLA), each has a copy.
  double kv_bytes(int gpus = 1) const;
  /// Bytes of linear attention's state that one sequence takes, however long it is.
  double state_bytes() const;
  /// Bytes of an adapter (LoRA) of that rank, 2 for each number.
  double adapter_bytes(int rank) const { return 2 * rank * adapter_numbers; }
};

/// Returns the model with that name or alias; upper and lower case are the same. Fails with
/// not_found and the nearest names.
///
/// Source   the models' published config.json files.
Result<Model> find_model(std::string_view name);
/// Reads a Hugging Face config.json, and hf_quant_config.json beside it where there is one. Fails
/// with not_found, and with invalid naming the field that is missing, wrong or not understood.
Result<Model> read_model(const std::string& path);
/// The same of the text of one; `name` stands in errors.
Result<Model> parse_model(std::string_view config, const std::string& name);

}  // namespace almanac::inference
