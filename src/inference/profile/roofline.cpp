// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/roofline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace almanac::inference {

Roofline::Roofline(Model model, Board board, int gpus, double node_link, int stages)
    : model_(std::move(model)), board_(std::move(board)), gpus_(gpus), stages_(stages) {
  if (gpus * stages > 1) link_ = board_.peer_bandwidth;
  if (gpus * stages > kNodeGpus && node_link > 0) link_ = std::min(link_, node_link);
  const double d = model_.hidden;
  const double layers = model_.layers;
  head_size_ = model_.head_size();
  kv_ = model_.kv_size();
  projections_ = d * d + 2 * d * kv_;
  mlp_ = static_cast<double>(model_.dense_layers()) * model_.mlp +
         static_cast<double>(model_.moe_layers) * model_.expert_mlp * model_.active_experts;
  dense_weights_ = layers * (d * (d + 2 * kv_) + d * d) +
                   static_cast<double>(model_.dense_layers()) * 2 * d * model_.mlp;
  const double peak = board_.peak(model_.weight_bytes);
  prefill_peak_ = peak * board_.prefill_use;
  decode_peak_ = peak * board_.decode_use;
}

/// All-reduces of the activations of so many tokens, two a layer, and their way between stages.
double Roofline::links_s(double tokens) const {
  if (link_ <= 0) return 0;
  constexpr double kBytes = 2;
  const double activations = tokens * model_.hidden * kBytes;
  const double sums = 2 * model_.layers * activations * 2 * (gpus_ - 1) / gpus_;
  return (sums + (stages_ - 1) * activations) / link_;
}

/// Of `tokens` new tokens; `token_contexts` is the sum over them of the tokens that each looks at.
double Roofline::flops(double tokens, double token_contexts) const {
  const double d = model_.hidden;
  const double heads = model_.heads;
  const double attention = 2 * tokens * projections_ + 2 * tokens * d * d +
                           4 * heads * token_contexts * head_size_ + 5 * heads * token_contexts +
                           2 * tokens * d;
  return model_.layers * attention + 4 * tokens * d * mlp_;
}

Micros Roofline::operator()(const Batch& batch) const {
  const double layers = model_.layers;
  const double d = model_.hidden;
  double fresh = 0, seen = 0, token_contexts = 0;
  for (const Chunk& chunk : batch.prefills) {
    const double n = chunk.fresh;
    fresh += n;
    seen += chunk.done;
    token_contexts += n * (chunk.done + (n > 1 ? (n - 1) / 2 : 0));
  }
  const auto decodes = static_cast<double>(batch.decodes);
  const auto context = static_cast<double>(batch.context);
  double compute = 0;
  if (fresh > 0) compute += flops(fresh, token_contexts) / gpus_ / prefill_peak_;
  if (decodes > 0) compute += flops(decodes, context) / gpus_ / decode_peak_;

  const double tokens = fresh + decodes;
  double weights = dense_weights_;
  if (model_.moe_layers > 0) {
    const double experts = model_.experts;
    const double idle = (experts - model_.active_experts) / experts;
    weights +=
        model_.moe_layers * 2 * d * model_.expert_mlp * experts * (1 - std::pow(idle, tokens));
  }
  const double bytes = weights * model_.weight_bytes +
                       4 * layers * kv_ * (tokens + seen + context) + 2 * layers * d * tokens;
  const double alone = std::max(compute, bytes / gpus_ / board_.bandwidth);
  return std::max(1.0, std::floor(1e6 * (alone + links_s(tokens))));
}

}  // namespace almanac::inference
