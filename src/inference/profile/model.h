// SPDX-License-Identifier: Apache-2.0

/// \file
/// The weights, KV cache and arithmetic of a transformer, layer by layer, from which step times and
/// memory needs follow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/profile/board.h"

namespace almanac::inference {

/// How the tokens of a sequence see each other in a layer. `latent`: all heads share one compressed
/// vector per token (MLA). `recurrent`: a state of fixed size in place of KV. `none`: not at all.
enum class Mixer { heads, latent, recurrent, none };

/// Layers of the same shape. Counts are numbers of weights, not bytes.
struct Layers {
  int count = 0;
  Mixer mixer = Mixer::heads;
  double attention = 0;  ///< Weights of the projections, used by every token.
  /// Feed-forward weights used by every token, including shared experts.
  double dense = 0;
  double router = 0;  ///< Weights that select experts.
  double small = 0;   ///< Norms and biases.
  int experts = 0;    ///< Each token uses `chosen` of them; 0 for a dense layer.
  int chosen = 0;
  double expert = 0;  ///< Weights of one expert.
  /// Operations per new token and token attended to, in prefill and in decode.
  double look_prefill = 0, look_decode = 0;
  std::int64_t window = 0;  ///< Most tokens that one attends to; 0 for all.
  double kv = 0;            ///< Values in the KV cache per token.
  /// Heads that GPUs can divide; additional GPUs hold copies.
  int kv_parts = 1;
  double state_bytes = 0;  ///< If recurrent; read and written for each sequence.
  /// Sizes that tables of measured kernels are keyed by; 0 if the layer has no such part.
  int head_size = 0, kv_heads = 0;
  int width = 0;            ///< Of a dense or shared feed-forward block,
  int expert_width = 0;     ///< and of an expert.
  bool head_norms = false;  ///< Queries and keys are normalized.

  bool operator==(const Layers&) const = default;
};

/// Storage and multiplication format of matrices.
struct Precision {
  double bytes = 2;  ///< Per weight, including scales.
  Arithmetic arithmetic = Arithmetic::bf16;
};

/// A decoder, without vision towers and modules that draft further tokens.
struct Model {
  std::string name{};
  std::string repository{};  ///< "meta-llama/llama-3.1-8b"; "" if not known.
  std::string type{};        ///< `model_type` of its config.json.
  int hidden = 0;
  int heads = 0;         ///< Attention heads, which the GPUs of a replica divide; 0 = not known.
  double embedding = 0;  ///< Weights of the input table, of which each token reads one row.
  double head = 0;       ///< Weights of the output matrix; 0 if it is tied to the input table.
  double rest = 0;       ///< Last norm and table of positions.
  std::vector<Layers> layers{};
  /// Embedding, head, routers and norms stay at 2 bytes.
  Precision attention{}, dense{}, experts{};
  double kv_number_bytes = 2;
  /// Most tokens of a request, prompt and answer (max_position_embeddings); 0 = not known.
  int positions = 0;
  double adapter_numbers = 0;  ///< Of a LoRA adapter of rank 1, for the attention matrices.

  int layer_count() const;
  bool has_experts() const;
  double weights() const;
  /// Returns the weights used per token: all but the experts that are not selected.
  double active_weights() const;
  /// Returns the bytes of the weights, with `copies` of all but routed experts.
  double bytes(int copies = 1) const;
  /// Returns the bytes of KV cache per token, over all `gpus` that compute each layer together. If
  /// there are fewer heads than GPUs, and for latent KV (MLA), every GPU has a copy.
  double kv_bytes(int gpus = 1) const;
  /// Returns the bytes of linear-attention state per sequence, whatever its length.
  double state_bytes() const;
  /// Returns the bytes of a LoRA adapter of that rank, 2 per value.
  double adapter_bytes(int rank) const { return 2 * rank * adapter_numbers; }
};

/// Returns the built-in model (presets/models) with that name or alias, ignoring case. Fails with
/// `not_found` and the nearest names.
Result<Model> find_model(std::string_view name);
/// Reads a Hugging Face config.json, and the hf_quant_config.json next to it, if any. Fails with
/// `not_found`, or with `invalid` naming the field that is missing, wrong or unsupported.
Result<Model> read_model(const std::string& path);
/// Parses the text of such a file; errors use `name`.
Result<Model> parse_model(std::string_view config, const std::string& name);
/// Parses a model file: TOML with `aliases` and, in a table [config], the fields of a config.json.
Result<Model> parse_model_file(std::string_view text, const std::string& path);
/// Reads the model at a path that ends in ".json" (config.json) or ".toml" (model file), or finds
/// one by name.
Result<Model> load_model(const std::string& name_or_path);
/// Returns the names of the built-in models, sorted.
std::vector<std::string> model_names();

}  // namespace almanac::inference
