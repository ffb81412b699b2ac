// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/recurrent.h"

namespace almanac::inference {
namespace {

/// The state is stored at 4 bytes per value, the last inputs of the convolution at 2.
void set_state(double values, double convolved, double kernel, Layers& layer) {
  layer.mixer = Mixer::recurrent;
  layer.state_bytes = 4 * values + 2 * convolved * (kernel - 1);
}

}  // namespace

void add_gated_delta(Fields& fields, double hidden, Layers& layer) {
  const double key_heads = fields.count({"linear_num_key_heads"});
  const double value_heads = fields.count({"linear_num_value_heads"});
  const double key = fields.count({"linear_key_head_dim"});
  const double value = fields.count({"linear_value_head_dim"});
  const double kernel = fields.count({"linear_conv_kernel_dim"});
  const double keys = key_heads * key, values = value_heads * value;
  layer.attention = hidden * (2 * keys + 2 * values) + hidden * 2 * value_heads + values * hidden;
  layer.small += (2 * keys + values) * kernel + 2 * value_heads + value;
  set_state(value_heads * key * value, 2 * keys + values, kernel, layer);
}

void add_kimi_delta(Fields& fields, double hidden, Layers& layer) {
  Fields own = fields.inside("linear_attn_config");
  const double heads = own.count({"num_heads"}), head = own.count({"head_dim"});
  const double kernel = own.count({"short_conv_kernel_size"});
  const double wide = heads * head;
  // Queries, keys, values and output; two gates of rank `head`; a step size per head.
  layer.attention = 4 * hidden * wide + 2 * head * (hidden + wide) + hidden * heads;
  layer.small += 3 * wide * kernel + heads + wide + head;
  set_state(heads * head * head, 3 * wide, kernel, layer);
}

void add_mamba2(Fields& fields, double hidden, Layers& layer) {
  const double heads = fields.count({"mamba_num_heads", "mamba_n_heads"});
  const double head = fields.count({"mamba_head_dim", "mamba_d_head"});
  const double groups = fields.count({"n_groups", "mamba_n_groups"});
  const double state = fields.count({"ssm_state_size", "mamba_d_state"});
  const double kernel = fields.count({"conv_kernel", "mamba_d_conv"});
  const double inner = heads * head, convolved = inner + 2 * groups * state;
  layer.attention = hidden * (inner + convolved + heads) + inner * hidden;
  layer.small += convolved * (kernel + 1) + 3 * heads + inner;
  set_state(inner * state, convolved, kernel, layer);
}

void add_mamba(Fields& fields, double hidden, Layers& layer) {
  const double inner = hidden * fields.count({"mamba_expand"});
  const double state = fields.count({"mamba_d_state"});
  const double rank = fields.count({"mamba_dt_rank"});
  const double kernel = fields.count({"mamba_d_conv"});
  layer.attention = hidden * 2 * inner + inner * (rank + 2 * state) + rank * inner + inner * hidden;
  layer.small += inner * (kernel + 1) + inner + inner * state + inner + rank + 2 * state;
  set_state(inner * state, inner, kernel, layer);
}

void add_lightning(double hidden, double heads, double head, Layers& layer) {
  const double wide = heads * head;
  layer.attention = 3 * hidden * wide + hidden * wide + wide * hidden;
  layer.small += wide;
  set_state(heads * head * head, 0, 1, layer);
}

}  // namespace almanac::inference
