// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace almanac::inference {
namespace {

/// The sum over `fresh` tokens after `done` ones of the tokens that each looks at, itself included.
double looked_at(double done, double fresh, double window) {
  const double whole = std::clamp(window - done, 0.0, fresh);  // tokens that see all before them
  return whole * (done + (whole + 1) / 2) + (whole < fresh ? (fresh - whole) * window : 0);
}

/// The name of the kernels that multiply matrices stored so.
std::string operation_of(const Precision& precision, const Board& board) {
  switch (precision.arithmetic) {
    case Arithmetic::bf16:
      return "bf16";
    case Arithmetic::fp8:
      return precision.bytes > 1 ? "fp8_block" : "fp8";
    case Arithmetic::int8:
      return "int8";
    case Arithmetic::fp4:
      return board.fp4_flops > 0 ? "fp4" : "weights_only";
    case Arithmetic::weights_only:
      return "weights_only";
  }
  return "bf16";
}

/// Bytes per second of the slowest link among so many GPUs; 0 for one. Boards of a node that are
/// not linked reach each other through the host.
double link_of(const Board& board, int together, double node_link) {
  if (together == 1) return 0;
  if (together <= board.linked_boards) return board.peer_bandwidth;
  const double other = together <= kNodeGpus ? board.host_bandwidth : node_link;
  return other > 0 ? std::min(board.peer_bandwidth, other) : board.peer_bandwidth;
}

/// Nodes of so many GPUs.
int nodes_of(const Board& board, int together) {
  const int of_node = std::max(kNodeGpus, board.linked_boards);
  return (together + of_node - 1) / of_node;
}

}  // namespace

/// What a batch asks of every layer.
struct Roofline::Tokens {
  const Batch& batch;
  double fresh = 0, decodes = 0, context = 0, made = 0;
  double longest = 0;   // chunk
  double verified = 1;  // tokens of a decode

  explicit Tokens(const Batch& of, int drafts = 0)
      : batch(of),
        decodes(static_cast<double>(of.decodes)),
        context(static_cast<double>(of.context)),
        verified(1 + drafts) {
    made = decodes * verified;
    for (const Chunk& chunk : of.prefills) {
      fresh += chunk.fresh;
      longest = std::max<double>(longest, chunk.fresh);
      made += chunk.done + chunk.fresh >= chunk.prompt ? 1 : 0;
    }
  }
  double all() const { return fresh + decodes * verified; }
  double sequences() const { return decodes + static_cast<double>(batch.prefills.size()); }
  double decode_looks(double window) const {
    return decodes > 0 ? std::min(context + decodes, decodes * window) : 0;
  }
};

/// Returns `sum` if it can be divided evenly among the GPUs. With data-parallel attention, in which
/// a part of it as large as `largest` is the work of one GPU, it is at least that for each GPU.
double Roofline::even(double sum, double largest) const {
  return layout_.data_attention ? std::max(sum, layout_.gpus * largest) : sum;
}

/// Decodes, as if each GPU had as many as the one with the most.
double Roofline::even_decodes(const Tokens& tokens) const {
  return even(tokens.decodes, std::ceil(tokens.decodes / layout_.gpus));
}

double Roofline::even_tokens(const Tokens& tokens) const {
  return std::max(even(tokens.all(), tokens.longest), even_decodes(tokens) * tokens.verified);
}

double Roofline::Line::of(double tokens, double share) const {
  return fixed_s + std::max(share * bytes_s, token_s * tokens);
}

double Roofline::Matrices::of(double tokens, double share) const {
  return std::min(narrow.of(tokens, share), wide.of(tokens, share));
}

/// `weights` of which a token multiplies `uses`, in so many kernels; the GPUs divide the arithmetic
/// among all and the weights among `cut`.
Roofline::Matrices Roofline::matrices(double weights, double uses, const Precision& precision,
                                      bool experts, double kernels, double cut) const {
  if (weights <= 0) return {};
  const auto line = [&](const Kernel& kernel, double peak) {
    return Line{.fixed_s = 1e-6 * kernels * kernel.fixed_us,
                .bytes_s = weights * precision.bytes / cut / (board_.bandwidth * kernel.bandwidth),
                .token_s = 2 * uses / layout_.gpus / (peak * kernel.peak)};
  };
  const std::string prefix = experts ? "experts_" : "";
  const Kernel kernel = board_.kernel(prefix + operation_of(precision, board_));
  const Line narrow = line(kernel, board_.peak(precision.arithmetic));
  const bool is_8_bit =
      precision.arithmetic == Arithmetic::fp8 || precision.arithmetic == Arithmetic::int8;
  if (kernel.own || !is_8_bit) return {narrow, narrow};
  return {narrow, line(board_.kernel(prefix + "bf16"), board_.bf16_flops)};
}

Roofline::Roofline(const Model& model, Board board, Layout layout, Launch launch)
    : board_(std::move(board)),
      layout_(layout),
      launch_(launch),
      prefill_(board_.kernel("prefill")),
      decode_(board_.kernel("decode")),
      all_reduce_(board_.kernel("all_reduce")),
      hidden_(model.hidden) {
  const double gpus = layout.gpus, cut = layout.data_attention ? 1 : gpus;
  sum_link_ = link_of(board_, layout.gpus, layout.node_link);
  if (layout.stages > 1) {
    stage_link_ = link_of(board_, layout.gpus * layout.stages, layout.node_link);
  }
  for (const Layers& each : model.layers) {
    const double experts = each.experts * each.expert;
    const bool mixes = each.mixer != Mixer::none, feeds = each.dense > 0 || experts > 0;
    const double copies =
        layout.data_attention
            ? 1
            : static_cast<double>((each.kv_parts + layout.gpus - 1) / layout.gpus * layout.gpus) /
                  each.kv_parts;
    Group made{
        .count = static_cast<double>(each.count),
        .least_experts = each.experts > 0 && (layout.whole_experts || layout.data_attention)
                             ? gpus * std::ceil(each.chosen / gpus) / each.experts
                             : 0,
        .attention = matrices(each.attention, each.attention, model.attention, false,
                              each.mixer == Mixer::latent ? 4 : 2, cut),
        .dense = matrices(each.dense, each.dense, model.dense, false, 2, cut),
        .experts = matrices(experts, each.chosen * each.expert, model.experts, true, 1, gpus),
        .has_experts = experts > 0,
        .looks = each.kv > 0,
        .idle = each.experts > 0 ? 1 - static_cast<double>(each.chosen) / each.experts : 0,
        .window = each.window > 0 ? static_cast<double>(each.window)
                                  : std::numeric_limits<double>::infinity(),
        .prefill_flops = each.look_prefill / gpus,
        .decode_flops = each.look_decode / gpus,
        .kv_bytes = model.kv_number_bytes * each.kv * copies / gpus,
        .state_bytes = each.state_bytes / gpus};
    if (each.router > 0) {
      made.router = matrices(each.router, each.router, Precision{}, false, 1, 1);
    }
    if (layout.gpus > 1) {
      made.exchanges = layout.data_attention ? (feeds ? 2 : 0) : (mixes ? 1 : 0) + (feeds ? 1 : 0);
      const double sums = layout.data_attention ? (feeds ? 1 : 0) : made.exchanges;
      made.gathered = sums * 2 * (gpus - 1) / gpus;
      made.messages = 2 * sums * std::ceil(std::log2(nodes_of(board_, layout.gpus)));
    }
    groups_.push_back(made);
  }
  const double head = model.head > 0 ? model.head : model.embedding;
  head_ = matrices(head, head, Precision{}, false, 1, cut);
}

double Roofline::group_s(const Group& group, const Tokens& tokens) const {
  const double all = tokens.all(), own = even_tokens(tokens);
  const double bf16 = board_.bf16_flops, bandwidth = board_.bandwidth;
  const auto attend = [&](const Kernel& kernel, double flops, double bytes) {
    return 1e-6 * kernel.fixed_us +
           std::max(flops / (bf16 * kernel.peak), bytes / (bandwidth * kernel.bandwidth));
  };
  double busy = group.attention.of(own) + group.dense.of(own) + group.router.of(own);
  if (group.has_experts) {
    busy += group.experts.of(all, std::max(1 - std::pow(group.idle, all), group.least_experts));
  }
  if (group.looks && tokens.decodes > 0) {
    // Attention reads all tokens except the new ones, and writes the new ones.
    const double looks =
        tokens.decode_looks(group.window) * (even_decodes(tokens) / tokens.decodes);
    busy += attend(decode_, group.decode_flops * looks * tokens.verified, group.kv_bytes * looks);
  }
  if (group.looks && tokens.fresh > 0) {
    double looks = 0, most_looks = 0, kv = 0, most_kv = 0;
    for (const Chunk& chunk : tokens.batch.prefills) {
      const double looked = looked_at(chunk.done, chunk.fresh, group.window);
      const double touched = std::min<double>(chunk.done, group.window) + chunk.fresh;
      looks += looked;
      most_looks = std::max(most_looks, looked);
      kv += touched;
      most_kv = std::max(most_kv, touched);
    }
    busy += attend(prefill_, group.prefill_flops * even(looks, most_looks),
                   group.kv_bytes * even(kv, most_kv));
  }
  if (group.state_bytes > 0) {
    const double sequences = tokens.sequences();
    busy += attend(decode_, 6 * group.state_bytes / 4 * own,
                   2 * group.state_bytes * even(sequences, std::ceil(sequences / layout_.gpus)));
  }
  const double activations = all * hidden_ * kActivationBytes;
  busy += 1e-6 * launch_.layer + launch_.passes *
                                     (layout_.data_attention ? own / layout_.gpus : own) * hidden_ *
                                     kActivationBytes / (bandwidth * launch_.bandwidth);
  if (group.exchanges > 0) {
    busy += 1e-6 * (group.exchanges * all_reduce_.fixed_us + group.messages * launch_.message);
    if (sum_link_ > 0) busy += group.gathered * activations / (sum_link_ * all_reduce_.bandwidth);
  }
  return group.count * busy;
}

/// All drafts of an iteration, each a pass of one layer and the head for all sequences.
double Roofline::drafts_s(const Tokens& tokens) const {
  const int drafts = layout_.speculation.drafts;
  if (drafts == 0 || tokens.decodes == 0 || groups_.empty()) return 0;
  const Batch batch{.decodes = tokens.batch.decodes, .context = tokens.batch.context};
  const Group& layer = groups_.front();
  return drafts * (group_s(layer, Tokens(batch)) / layer.count + head_.of(even_decodes(tokens)));
}

double Roofline::batch_s(const Tokens& tokens) const {
  double busy_s = 0;
  if (tokens.made > 0) {
    busy_s = head_.of(std::max(even(tokens.made, std::ceil(tokens.made / layout_.gpus)),
                               even_decodes(tokens) * tokens.verified));
  }
  for (const Group& each : groups_) busy_s += group_s(each, tokens);
  if (stage_link_ > 0) {
    const int nodes = nodes_of(board_, layout_.gpus * layout_.stages);
    busy_s += (layout_.stages - 1) * (1e-6 * all_reduce_.fixed_us +
                                      tokens.all() * hidden_ * kActivationBytes / stage_link_) +
              1e-6 * (nodes - 1) * launch_.message;
  }
  return busy_s + drafts_s(tokens) +
         1e-6 * (launch_.iteration + launch_.sequence * tokens.sequences());
}

Micros Roofline::operator()(const Batch& batch) const {
  const Tokens tokens(batch, layout_.speculation.drafts);
  double busy_s = batch_s(tokens);
  if (layout_.speculation.drafts > 0 && batch.decodes > 0) {
    // What prompts take besides is not shared by more tokens.
    const Batch prompts{.prefills = batch.prefills};
    const double prompts_s = batch.prefills.empty() ? 0 : batch_s(Tokens(prompts));
    busy_s = prompts_s + (busy_s - prompts_s) / layout_.speculation.tokens();
  }
  return std::max(1.0, std::ceil(1e6 * busy_s));
}

double Speculation::tokens() const {
  if (acceptance >= 1) return 1 + drafts;
  return (1 - std::pow(acceptance, drafts + 1)) / (1 - acceptance);
}

bool is_slower_than_16_bits(const Model& model, const Board& board, const Layout& layout) {
  Model wide = model;
  wide.attention = wide.dense = wide.experts = Precision{};
  constexpr double kFitted = 1.05;  // the error of fitted kernels
  const Batch batch{.decodes = 1};
  return Roofline(model, board, layout)(batch) > kFitted * Roofline(wide, board, layout)(batch);
}

}  // namespace almanac::inference
