// SPDX-License-Identifier: Apache-2.0

#include "serving/blis.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace almanac::serving {

using namespace inference;
namespace {

const std::array kModels{
    BlisModel{"llama-2-7b", 32, 4096, 32, 32, 11008},
    BlisModel{"llama-2-70b", 80, 8192, 64, 8, 28672},
    BlisModel{"llama-3.1-8b", 32, 4096, 32, 8, 14336},
    BlisModel{"llama-3.1-70b", 80, 8192, 64, 8, 28672},
    BlisModel{"qwen2.5-7b", 28, 3584, 28, 4, 18944},
    BlisModel{"yi-34b", 60, 7168, 56, 8, 20480},
    BlisModel{"mistral-nemo", 40, 5120, 32, 8, 14336},
    BlisModel{"llama-4-scout", 48, 5120, 40, 8, 16384, 24, 16, 1, 8192, 1},
    BlisModel{"mixtral-8x7b", 32, 4096, 32, 8, 14336, 32, 8, 2, 14336},
};
const std::array kBoards{
    BlisBoard{"h100", 989.5e12, 1979e12, 3.35e12, 0.45, 0.30},
    BlisBoard{"a100-sxm", 312e12, 0, 2.039e12, 0.38, 0.18},
    BlisBoard{"l40s", 362.05e12, 1466e12, 0.864e12, 0.32, 0.08},
};

template <typename Known>
Result<Known> find(const char* what, std::string_view name, std::span<const Known> all) {
  std::string asked(name.substr(name.rfind('/') + 1));
  for (char& each : asked) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  for (const Known& each : all) {
    if (asked.starts_with(each.name)) return each;
  }
  return fail(Code::not_found, fmt::format("inference-sim has no {} \"{}\"", what, name));
}

}  // namespace

Result<BlisModel> find_blis_model(std::string_view name) {
  return find<BlisModel>("model", name, kModels);
}

Result<BlisBoard> find_blis_board(std::string_view name) {
  return find<BlisBoard>("board", name == "a100" ? "a100-sxm" : name, kBoards);
}

BlisRoofline::BlisRoofline(BlisModel model, BlisBoard board, int gpus)
    : model_(std::move(model)), gpus_(gpus), bandwidth_(board.bandwidth) {
  const double d = model_.hidden;
  const double layers = model_.layers;
  head_size_ = model_.head_size();
  kv_ = model_.kv_size();
  projections_ = d * d + 2 * d * kv_;
  mlp_ = static_cast<double>(model_.dense_layers()) * model_.mlp +
         static_cast<double>(model_.moe_layers) * model_.expert_mlp * model_.active_experts;
  dense_weights_ = layers * (d * (d + 2 * kv_) + d * d) +
                   static_cast<double>(model_.dense_layers()) * 2 * d * model_.mlp;
  const double peak = board.peak(model_.weight_bytes);
  prefill_peak_ = peak * board.prefill_use;
  decode_peak_ = peak * board.decode_use;
}

/// Of `tokens` new tokens; `token_contexts` is the sum over them of the tokens that each looks at.
double BlisRoofline::flops(double tokens, double token_contexts) const {
  const double d = model_.hidden;
  const double heads = model_.heads;
  const double attention = 2 * tokens * projections_ + 2 * tokens * d * d +
                           4 * heads * token_contexts * head_size_ + 5 * heads * token_contexts +
                           2 * tokens * d;
  return model_.layers * attention + 4 * tokens * d * mlp_;
}

Micros BlisRoofline::operator()(const Batch& batch) const {
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
  const double alone = std::max(compute, bytes / gpus_ / bandwidth_);
  return std::max(1.0, std::floor(1e6 * alone));
}

BlisTrained::BlisTrained(BlisModel model, BlisBoard board, int gpus, const Weights& weights)
    : model_(std::move(model)),
      b_(weights),
      gpus_(gpus),
      flops_(board.peak(model_.weight_bytes) / 1e6),
      bandwidth_(board.bandwidth / 1e6) {}

double BlisTrained::ffn(double tokens) const {
  const double d = model_.hidden;
  return static_cast<double>(model_.moe_layers) * tokens * model_.active_experts / gpus_ * 6 * d *
             model_.expert_mlp +
         static_cast<double>(model_.dense_layers()) * tokens * 6 * d * model_.mlp / gpus_;
}

Micros BlisTrained::operator()(const Batch& batch) const {
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

}  // namespace almanac::serving
