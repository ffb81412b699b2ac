// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/trained_physics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace almanac::inference {

TrainedPhysics::TrainedPhysics(Model model, Board board, int gpus, const Weights& weights)
    : model_(std::move(model)),
      b_(weights),
      gpus_(gpus),
      flops_(board.peak(model_.weight_bytes) / 1e6),
      bandwidth_(board.bandwidth / 1e6) {}

double TrainedPhysics::ffn(double tokens) const {
  const double d = model_.hidden;
  return static_cast<double>(model_.moe_layers) * tokens * model_.active_experts / gpus_ * 6 * d *
             model_.expert_mlp +
         static_cast<double>(model_.dense_layers()) * tokens * 6 * d * model_.mlp / gpus_;
}

Micros TrainedPhysics::operator()(const Batch& batch) const {
  const double layers = model_.layers;
  const double d = model_.hidden;
  const double head = std::floor(model_.head_size());
  const double kv = model_.kv_heads * head;
  const double heads = model_.heads / gpus_;
  double fresh = 0, attention = 0;
  for (const Chunk& chunk : batch.prefills) {
    const double n = chunk.fresh;
    fresh += n;
    attention += 4 * heads * n * (chunk.prompt + n / 2) * head;
  }
  const auto decodes = static_cast<double>(batch.decodes);
  const auto context = static_cast<double>(batch.context);
  const auto projections = [&](double tokens) {
    return layers * 2 * tokens * d * (2 * d + 2 * kv) / gpus_;
  };
  const double prefill_compute = (projections(fresh) + layers * attention + ffn(fresh)) / flops_;
  const double decode_compute =
      (projections(decodes) + layers * 4 * heads * context * head + ffn(decodes)) / flops_;
  const double prefill_kv = layers * 2 * (kv / gpus_) * fresh * 2 / bandwidth_;
  const double decode_kv = layers * 2 * (kv / gpus_) * 2 * (context + decodes) / bandwidth_;
  const double dense = model_.dense_layers();
  const double moe = model_.moe_layers;
  const double wb = model_.weight_bytes;
  const double weights = (layers * d * (2 * d + 2 * kv) * wb / gpus_ +
                          moe * (model_.experts / gpus_) * 3 * d * model_.expert_mlp * wb +
                          dense * 3 * d * model_.mlp * wb / gpus_) /
                         bandwidth_;
  const double messages = layers + dense + (gpus_ > 1 ? moe : 0);
  const double communication =
      messages * (fresh + decodes) * d * 2 * 2 * (gpus_ - 1) / gpus_ / bandwidth_;
  const double entries = static_cast<double>(batch.prefills.size()) + decodes;
  const double alternating = moe > 0 && dense > 0 ? moe : 0;
  const double step = b_[0] * prefill_compute + b_[8] * prefill_kv + b_[1] * decode_compute +
                      b_[9] * decode_kv + b_[2] * weights + b_[3] * communication + b_[4] * layers +
                      b_[5] * entries + b_[6] + b_[7] * alternating;
  return std::max(1.0, std::floor(step));
}

}  // namespace almanac::inference
