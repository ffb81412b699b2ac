// SPDX-License-Identifier: Apache-2.0

/// \file
/// Layers that keep a state of fixed size per sequence in place of a KV cache: their weights and
/// state, from a config.json.
#pragma once

#include "inference/profile/fields.h"
#include "inference/profile/model.h"

namespace almanac::inference {

/// Each function sets the mixing weights of `layer`, the small weights beyond the layer's norms,
/// and the state, for a model `hidden` wide. Throws BadField.

/// Gated delta rule (Qwen3-Next, Qwen3.5): a matrix per value head.
void add_gated_delta(Fields& fields, double hidden, Layers& layer);
/// Kimi delta attention: a matrix per head, gated per channel.
void add_kimi_delta(Fields& fields, double hidden, Layers& layer);
/// Mamba-2 with the fields of Nemotron-H or Granite 4.
void add_mamba2(Fields& fields, double hidden, Layers& layer);
/// Mamba with the fields of Jamba.
void add_mamba(Fields& fields, double hidden, Layers& layer);
/// Lightning attention (MiniMax-01): a matrix per head, with a gated output.
void add_lightning(double hidden, double heads, double head, Layers& layer);

}  // namespace almanac::inference
