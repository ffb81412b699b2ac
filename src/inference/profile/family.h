// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the `model_type` of a config.json implies and none of its fields says.
#pragma once

#include <string_view>

namespace almanac::inference {

enum class Bias { none, qkv, all };
enum class QueryKeyNorm { none, per_head, over_heads };

/// Defaults of a model type; fields of the file override those that have a field.
struct Family {
  std::string_view type;
  bool gated = true;  ///< A feed-forward block has three matrices, otherwise two.
  bool tied = false;  ///< Default of tie_word_embeddings.
  Bias bias = Bias::none;
  QueryKeyNorm norm = QueryKeyNorm::none;
  int norms = 2;                 ///< Norm vectors of model width per layer,
  int last_norm = 1;             ///< and after all layers.
  bool router_bias = false;      ///< The router has one more weight per expert.
  bool gated_output = false;     ///< A gate as wide as the queries multiplies the attention output.
  bool shared_gate = false;      ///< A gate scales the shared expert.
  bool head_bias = false;        ///< The output matrix has a bias.
  bool multi_query = false;      ///< Default of multi_query: all heads share one key and value.
  std::string_view positions{};  ///< Field with the length of the learned position table, if any.
  int more_positions = 0;        ///< Rows of that table beyond the field's number.
  /// What the fields mean if the file leaves them out; 0 if they are required (the size of a head
  /// is then the model width divided by the heads).
  int heads = 0, kv_heads = 0, head = 0, vocabulary = 0, context = 0;
};

/// Returns the family of a model type, or null for an unknown type.
///
/// Source   the model code of Hugging Face transformers.
const Family* find_family(std::string_view type);

}  // namespace almanac::inference
