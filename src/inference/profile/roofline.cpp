// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace almanac::inference {
namespace {

constexpr double kActivationBytes = 2;

std::size_t index(Arithmetic arithmetic) { return static_cast<std::size_t>(arithmetic); }

/// The sum over `fresh` tokens after `done` ones of the tokens that each looks at, itself included.
double looked_at(double done, double fresh, double window) {
  const double whole = std::clamp(window - done, 0.0, fresh);  // tokens that see all before them
  return whole * (done + (whole + 1) / 2) + (whole < fresh ? (fresh - whole) * window : 0);
}

}  // namespace

Roofline::Roofline(const Model& model, Board board, int gpus, double node_link, int stages,
                   Launch launch)
    : board_(std::move(board)),
      gpus_(gpus),
      stages_(stages),
      layers_(model.layer_count()),
      hidden_(model.hidden),
      launch_(launch) {
  const auto link_of = [&](int together) {
    if (together == 1) return 0.0;
    return together > kNodeGpus && node_link > 0 ? std::min(board_.peer_bandwidth, node_link)
                                                 : board_.peer_bandwidth;
  };
  sum_link_ = link_of(gpus);
  stage_link_ = stages > 1 ? link_of(gpus * stages) : 0;
  for (const Layers& each : model.layers) {
    token_flops_[index(model.attention.arithmetic)] += 2 * each.count * each.attention;
    token_flops_[index(model.dense.arithmetic)] += 2 * each.count * each.dense;
    token_flops_[index(model.experts.arithmetic)] += 2.0 * each.count * each.chosen * each.expert;
    token_flops_[index(Arithmetic::bf16)] += 2 * each.count * each.router;
    // Linear attention: its state is decayed, corrected and read.
    token_flops_[index(Arithmetic::bf16)] += each.count * 6 * each.state_bytes / 4;
    weight_bytes_ += each.count * (model.attention.bytes * each.attention +
                                   model.dense.bytes * each.dense + 2 * (each.router + each.small));
    state_bytes_ += each.count * each.state_bytes;
    if (each.experts > 0) {
      mixtures_.push_back({model.experts.bytes * each.count * each.experts * each.expert,
                           1 - static_cast<double>(each.chosen) / each.experts});
    }
    if (each.kv <= 0) continue;
    const double window = each.window > 0 ? static_cast<double>(each.window)
                                          : std::numeric_limits<double>::infinity();
    const int copies = (each.kv_parts + gpus - 1) / gpus * gpus;
    Look look{each.count * each.look_prefill, each.count * each.look_decode, window,
              model.kv_number_bytes * each.count * each.kv * copies / each.kv_parts};
    kv_bytes_ += look.kv_bytes;
    const auto alike = std::find_if(looks_.begin(), looks_.end(),
                                    [&](const Look& other) { return other.window == window; });
    if (alike == looks_.end()) {
      looks_.push_back(look);
    } else {
      alike->prefill += look.prefill;
      alike->decode += look.decode;
      alike->kv_bytes += look.kv_bytes;
    }
  }
  const double head = model.head > 0 ? model.head : model.embedding;
  head_flops_ = 2 * head;
  head_bytes_ = 2 * head;
}

/// All-reduces of the activations of so many tokens, two a layer, and their way between stages.
double Roofline::links_s(double tokens) const {
  const double activations = tokens * hidden_ * kActivationBytes;
  const double sums = 2.0 * layers_ * activations * 2 * (gpus_ - 1) / gpus_;
  return (sum_link_ > 0 ? sums / sum_link_ : 0) +
         (stage_link_ > 0 ? (stages_ - 1) * activations / stage_link_ : 0);
}

Work Roofline::work(const Batch& batch) const {
  const auto decodes = static_cast<double>(batch.decodes);
  const auto context = static_cast<double>(batch.context);
  double fresh = 0, made = decodes;
  for (const Chunk& chunk : batch.prefills) {
    fresh += chunk.fresh;
    made += chunk.done + chunk.fresh >= chunk.prompt ? 1 : 0;
  }
  const double tokens = fresh + decodes;
  Work work;
  double looking = 0;
  for (const Look& each : looks_) {
    const double decode_looks =
        decodes > 0 ? std::min(context + decodes, decodes * each.window) : 0;
    // Of these the KV is in memory but for the new tokens' own.
    double kv_tokens = std::max(0.0, decode_looks - decodes);
    looking += each.decode * decode_looks;
    for (const Chunk& chunk : batch.prefills) {
      looking += each.prefill * looked_at(chunk.done, chunk.fresh, each.window);
      kv_tokens += std::min<double>(chunk.done, each.window);
    }
    work.bytes += each.kv_bytes * kv_tokens;
  }
  for (std::size_t kind = 0; kind < work.flops.size(); ++kind) {
    work.flops[kind] = tokens * token_flops_[kind] / gpus_;
  }
  work.flops[index(Arithmetic::bf16)] += (looking + made * head_flops_) / gpus_;
  work.bytes += weight_bytes_ + kv_bytes_ * tokens + (made > 0 ? head_bytes_ : 0);
  for (const Mixture& each : mixtures_) {
    work.bytes += each.bytes * (1 - std::pow(each.idle, tokens));
  }
  const auto sequences = decodes + static_cast<double>(batch.prefills.size());
  work.bytes += 2 * state_bytes_ * sequences;
  // A layer reads and writes its activations, and a row of the input table is read for each token.
  work.bytes += (2.0 * layers_ + 1) * kActivationBytes * hidden_ * tokens;
  work.bytes /= gpus_;
  return work;
}

Micros Roofline::operator()(const Batch& batch) const {
  const Work needs = work(batch);
  double compute_s = 0;
  for (std::size_t kind = 0; kind < needs.flops.size(); ++kind) {
    compute_s += needs.flops[kind] / board_.peak(static_cast<Arithmetic>(kind));
  }
  const double busy_s =
      std::max(compute_s / board_.compute_use, needs.bytes / board_.bandwidth / board_.memory_use);
  const double tokens = static_cast<double>(batch.prefill_tokens() + batch.decodes);
  const double sequences =
      static_cast<double>(batch.decodes) + static_cast<double>(batch.prefills.size());
  const Micros fixed = launch_.layer * layers_ + launch_.iteration + launch_.sequence * sequences;
  return std::max(1.0, std::ceil(1e6 * (busy_s + links_s(tokens)) + fixed));
}

}  // namespace almanac::inference
