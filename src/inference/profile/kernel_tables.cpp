// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/kernel_tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "table/csv_reader.h"
#include "text/human.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

/// Thrown inside of this file; callers get its error.
struct BadTable {
  Error error;
};

/// Values by size, in ascending order: a map that is read far more often than it is written.
template <typename Value>
using BySize = std::vector<std::pair<double, Value>>;

/// Returns the first value whose size is not below `size`.
template <typename Values>
auto not_below(Values& values, double size) {
  return std::lower_bound(values.begin(), values.end(), size,
                          [](const auto& each, double sought) { return each.first < sought; });
}

/// Time of a kernel by one size, in milliseconds. Times between sizes are interpolated; by_root,
/// their root is.
class Curve {
 public:
  /// The first of equal sizes counts.
  void add(double size, double ms) {
    const auto at = not_below(points_, size);
    if (at == points_.end() || at->first != size) points_.insert(at, {size, ms});
  }
  const BySize<double>& points() const { return points_; }
  bool covers(double size) const {
    return !points_.empty() && points_.front().first <= size && size <= points_.back().first;
  }
  double at(double size, bool by_root = false) const {
    const auto above = not_below(points_, size);
    if (above == points_.end()) {
      const double grown = size / points_.back().first;
      return points_.back().second * (by_root ? grown * grown : grown);
    }
    if (above->first == size || above == points_.begin()) return above->second;
    const auto below = std::prev(above);
    const double part = (size - below->first) / (above->first - below->first);
    if (!by_root) return std::lerp(below->second, above->second, part);
    const double root = std::lerp(std::sqrt(below->second), std::sqrt(above->second), part);
    return root * root;
  }

 private:
  BySize<double> points_;
};

/// Curves by a further size.
class Surface {
 public:
  Curve& curve(double size) {
    const auto at = not_below(curves_, size);
    if (at != curves_.end() && at->first == size) return at->second;
    return curves_.insert(at, {size, Curve()})->second;
  }
  bool empty() const { return curves_.empty(); }
  double at(double size, double along, bool by_root = false) const {
    const auto above = not_below(curves_, size);
    if (above == curves_.end()) {
      const auto& last = curves_.back();
      return last.second.at(along, by_root) * size / last.first;
    }
    const double high = above->second.at(along, by_root);
    if (above->first == size || above == curves_.begin()) return high;
    const auto below = std::prev(above);
    return std::lerp(below->second.at(along, by_root), high,
                     (size - below->first) / (above->first - below->first));
  }

 private:
  BySize<Curve> curves_;
};

std::string file_of(const std::string& prefix, const std::string& table) {
  const std::string plain = fmt::format("{}_{}.csv", prefix, table);
  return std::filesystem::exists(plain) ? plain : plain + ".gz";
}

/// The rows of a table.
class TableRows {
 public:
  TableRows(const std::string& prefix, const char* table)
      : path_(file_of(prefix, table)), csv_(opened(path_)) {}

  bool next() {
    const auto more = csv_.next();
    if (!more) throw BadTable{more.error()};
    return *more;
  }
  std::string_view text(std::string_view column) const {
    const auto found = csv_.find(column);
    if (!found) refuse(fmt::format("has no column {}", column));
    return csv_[*found];
  }
  double number(std::string_view column) const {
    const auto value = text::parse_decimal(text(column));
    if (!value || !(*value >= 0)) {
      refuse(fmt::format("{}: expected a number, found \"{}\"", column, text(column)));
    }
    return *value;
  }
  bool is(std::string_view column, double value) const { return number(column) == value; }
  /// The time of the row, above 0.
  double ms() const {
    const double value = number("latency");
    if (value <= 0) refuse("latency must be above 0");
    return value;
  }
  [[noreturn]] void refuse(std::string message) const {
    throw BadTable{{.code = Code::invalid, .message = std::move(message), .where = csv_.where()}};
  }
  /// Throws that the table, read to its end, has no such kernels.
  [[noreturn]] void lack(const std::string& kernels) const {
    throw BadTable{{.code = Code::invalid,
                    .message = fmt::format("has no kernels of {}", kernels),
                    .where = {.file = path_},
                    .hint = "use --times measured"}};
  }

 private:
  static table::CsvReader opened(const std::string& path) {
    auto made = table::CsvReader::open(path);
    if (!made) throw BadTable{made.error()};
    return *std::move(made);
  }

  std::string path_;
  table::CsvReader csv_;
};

/// How the tables call matrices stored so.
const char* type_of(const Precision& precision) {
  switch (precision.arithmetic) {
    case Arithmetic::bf16:
      return "bfloat16";
    case Arithmetic::fp8:
      return precision.bytes > 1 ? "fp8_block" : "fp8";
    case Arithmetic::fp4:
      return "nvfp4";
    case Arithmetic::int8:
      return "int8_wo";
    case Arithmetic::weights_only:
      return "int4_wo";
  }
  return "bfloat16";
}

/// Measured matrix multiplications: times by tokens, for each pair of outputs and inputs.
class Gemms {
 public:
  Gemms(const std::string& prefix, const Board& board, const Precision& precision)
      : bytes_(precision.bytes),
        flops_(board.peak(precision.arithmetic)),
        bandwidth_(board.bandwidth) {
    TableRows rows(prefix, "gemm");
    while (rows.next()) {
      if (rows.text("gemm_dtype") != type_of(precision)) continue;
      const double tokens = rows.number("m");
      sites_[{rows.number("n"), rows.number("k")}].add(tokens, rows.ms());
      tokens_.insert(tokens);
    }
    if (sites_.empty()) rows.lack(fmt::format("{} matrices", type_of(precision)));
  }

  Curve curve(double outputs, double inputs) const {
    const auto found = sites_.find({outputs, inputs});
    if (found != sites_.end()) return found->second;
    Curve made;
    for (const double tokens : tokens_) made.add(tokens, transferred(tokens, outputs, inputs));
    return made;
  }

 private:
  using Site = std::pair<double, double>;

  double least_ms(double tokens, const Site& site) const {
    const auto [n, k] = site;
    return 1e3 * std::max(2 * tokens * n * k / flops_,
                          bytes_ * (tokens * n + tokens * k + n * k) / bandwidth_);
  }

  /// By the utilization of the nearest sites that were measured with so many tokens.
  double transferred(double tokens, double outputs, double inputs) const {
    constexpr std::size_t kNearest = 4;
    constexpr double kEven = 1e-12;  // a site at no distance counts alone
    std::vector<std::pair<double, Site>> near;
    for (const auto& [site, times] : sites_) {
      if (!times.covers(tokens)) continue;
      const double distance =
          std::hypot(std::log2(site.first / outputs), std::log2(site.second / inputs));
      near.emplace_back(distance, site);
    }
    std::sort(near.begin(), near.end());
    near.resize(std::min(near.size(), kNearest));
    double weights = 0, utilization = 0;
    for (const auto& [distance, site] : near) {
      const double weight = 1 / (distance * distance + kEven);
      weights += weight;
      utilization += weight * least_ms(tokens, site) / sites_.at(site).at(tokens);
    }
    return least_ms(tokens, {outputs, inputs}) * weights / utilization;
  }

  double bytes_, flops_, bandwidth_;
  std::map<Site, Curve> sites_;
  std::set<double> tokens_;
};

/// What differs between layers of a model.
struct LayerTimes {
  double count = 0;
  Curve tokens{};               // all kernels but attention, by tokens
  Curve decode_tokens{};        // those of a step without prompts
  Surface prefill{}, decode{};  // by sequences, then by their tokens
  double prefill_ms = 0;        // elementwise kernels of prompts
};

class KernelTables final : public StepTime {
 public:
  KernelTables(std::vector<LayerTimes> layers, Curve input, Curve head, const Launch& launch)
      : layers_(std::move(layers)),
        input_(std::move(input)),
        head_(std::move(head)),
        launch_(launch) {}

  Micros operator()(const Batch& batch) const override {
    double fresh = 0, ends = static_cast<double>(batch.decodes);
    for (const Chunk& each : batch.prefills) {
      fresh += each.fresh;
      ends += each.done + each.fresh >= each.prompt ? 1 : 0;
    }
    const auto decodes = static_cast<double>(batch.decodes);
    const auto prompts = static_cast<double>(batch.prefills.size());
    double ms = input_.at(fresh + decodes) + (ends > 0 ? head_.at(ends) : 0);
    for (const LayerTimes& layer : layers_) {
      double one = (prompts > 0 ? layer.tokens : layer.decode_tokens).at(fresh + decodes);
      if (decodes > 0) {
        const double context = static_cast<double>(batch.context) / decodes + 1;
        one += layer.decode.at(decodes, context);
      }
      for (const Chunk& each : batch.prefills) {
        const double done = each.done, whole = done + each.fresh;
        one +=
            layer.prefill.at(prompts, whole, true) / prompts * (1 - done * done / (whole * whole));
      }
      if (prompts > 0) one += layer.prefill_ms;
      ms += layer.count * one;
    }
    return std::max(1.0, 1e3 * ms + launch_.iteration + launch_.sequence * (decodes + prompts));
  }

 private:
  std::vector<LayerTimes> layers_;
  Curve input_, head_;
  Launch launch_;
};

/// Composes the kernels of a model.
class Composer {
 public:
  Composer(std::string prefix, const Model& model, const Board& board, int gpus, bool whole_experts)
      : prefix_(std::move(prefix)),
        model_(model),
        board_(board),
        gpus_(gpus),
        whole_experts_(whole_experts),
        wide_(prefix_, board, Precision{}),
        attention_(prefix_, board, model.attention),
        dense_(prefix_, board, model.dense) {
    if (gpus_ > 1) sums_ = sums();
  }

  KernelTables made(const Launch& launch) const {
    std::vector<LayerTimes> layers;
    for (const Layers& each : model_.layers) layers.push_back(times_of(each));
    const double vocabulary = model_.embedding / model_.hidden;
    return {std::move(layers), added({elementwise(kActivationBytes * model_.hidden), sums_}),
            wide_.curve(std::ceil(vocabulary / gpus_), model_.hidden), launch};
  }

 private:
  /// Sums over GPUs, by tokens; with one GPU there are none.
  Curve sums() const {
    Curve made;
    TableRows rows(prefix_, "custom_allreduce");
    while (rows.next()) {
      if (!rows.is("num_gpus", gpus_) || !rows.text("backend").ends_with("graph")) continue;
      made.add(rows.number("message_size") / model_.hidden, rows.ms());
    }
    if (made.points().empty()) rows.lack(fmt::format("sums over {} GPUs", gpus_));
    return made;
  }

  /// A kernel that reads and writes so many bytes per token.
  Curve elementwise(double bytes) const {
    Curve made;
    for (const double tokens : {1.0, 1e6}) made.add(tokens, elementwise_ms(bytes * tokens));
    return made;
  }
  double elementwise_ms(double bytes) const {
    constexpr double kStart_ms = 3e-3, kShare = 0.8;
    return kStart_ms + 1e3 * bytes / (board_.bandwidth * kShare);
  }

  /// The higher of two curves at each size of either.
  static Curve higher(const Curve& one, const Curve& other) {
    if (one.points().empty() || other.points().empty()) return added({one, other});
    Curve made;
    for (const Curve* const each : {&one, &other}) {
      for (const auto& [size, ms] : each->points()) {
        made.add(size, std::max(one.at(size), other.at(size)));
      }
    }
    return made;
  }

  /// The sum of curves, of which some may be empty.
  static Curve added(const std::vector<Curve>& curves) {
    std::set<double> sizes;
    for (const Curve& each : curves) {
      for (const auto& [size, ms] : each.points()) sizes.insert(size);
    }
    Curve made;
    for (const double size : sizes) {
      double ms = 0;
      for (const Curve& each : curves) ms += each.points().empty() ? 0 : each.at(size);
      made.add(size, ms);
    }
    return made;
  }

  LayerTimes times_of(const Layers& layer) const {
    const bool is_latent = layer.mixer == Mixer::latent;
    if (!(is_latent ? is_measured_latent(layer) : is_plain(layer))) {
      throw BadTable{{.code = Code::unsupported,
                      .message = fmt::format("{} has layers with attention that tables of kernels "
                                             "do not describe",
                                             model_.name),
                      .hint = "use --times measured"}};
    }
    const double hidden = model_.hidden;
    const int heads = model_.heads / gpus_, kv = std::max(1, layer.kv_heads / gpus_);
    const double query = 1.0 * heads * layer.head_size, keys = 1.0 * kv * layer.head_size;
    // A norm reads and writes activations and their sum so far.
    const Curve norm = elementwise(4 * kActivationBytes * hidden);
    std::vector<Curve> kernels{norm, norm, sums_, sums_};
    if (!is_latent) {
      kernels.push_back(attention_.curve(query + 2 * keys, hidden));
      kernels.push_back(attention_.curve(hidden, query));
    }
    const Curve dense = dense_block(layer);
    Curve routed;
    if (layer.experts > 0) {
      routed = added({wide_.curve(layer.experts, hidden), experts(layer)});
      if (is_latent) routed = added({routed, sums_, sums_});
    }
    const Curve others = added(kernels);
    LayerTimes made{.count = static_cast<double>(layer.count),
                    .tokens = added({others, dense, routed})};
    made.decode_tokens = is_latent ? added({others, higher(dense, routed)}) : made.tokens;
    if (is_latent) {
      made.prefill = latent_attention("mla_context_module", heads);
      made.decode = latent_attention("mla_generation_module", heads);
    } else {
      made.prefill = attention(layer, "context_attention", heads, kv);
      made.decode = attention(layer, "generation_attention", heads, kv);
      made.prefill_ms = prompts_ms(layer, query, keys);
    }
    return made;
  }

  bool is_plain(const Layers& layer) const {
    const double plain = model_.hidden * layer.head_size * 2.0 * (model_.heads + layer.kv_heads);
    return layer.mixer == Mixer::heads && layer.attention == plain && layer.window == 0;
  }

  /// Whether a layer has the sizes of DeepSeek-V3 in all but the number of heads: those that
  /// AIConfigurator measured, with the projections.
  bool is_measured_latent(const Layers& layer) const {
    constexpr double kHidden = 7168, kQuery = 1536, kLatent = 512, kRoped = 64;
    constexpr double kPlain = 128, kValue = 128;
    const double heads = model_.heads;
    return model_.hidden == kHidden && layer.window == 0 &&
           layer.attention == kHidden * (kQuery + kLatent + kRoped) +
                                  heads * (kQuery * (kPlain + kRoped) +
                                           kLatent * (kPlain + kValue) + kValue * kHidden);
  }

  /// A dense or shared feed-forward block; empty if the layer has none.
  Curve dense_block(const Layers& layer) const {
    if (layer.width == 0) return {};
    const double hidden = model_.hidden;
    const bool gated = layer.dense > 2.5 * hidden * layer.width;
    const double width = std::ceil(1.0 * layer.width / gpus_);
    return added({dense_.curve((gated ? 2 : 1) * width, hidden), dense_.curve(hidden, width),
                  elementwise((gated ? 3 : 2) * kActivationBytes * width)});
  }

  /// Experts of a layer on one GPU, by tokens.
  Curve experts(const Layers& layer) const {
    Curve made;
    TableRows rows(prefix_, "moe");
    const std::string type = type_of(model_.experts);
    const auto* const law = layer.mixer == Mixer::latent ? "power_law_1.01" : "power_law_1.2";
    while (rows.next()) {
      if (rows.text("moe_dtype") != type || rows.text("distribution") != law ||
          !rows.is("hidden_size", model_.hidden) || !rows.is("inter_size", layer.expert_width) ||
          !rows.is("topk", layer.chosen) || !rows.is("num_experts", layer.experts) ||
          !rows.is("moe_tp_size", whole_experts_ ? 1 : gpus_) ||
          !rows.is("moe_ep_size", whole_experts_ ? gpus_ : 1)) {
        continue;
      }
      made.add(rows.number("num_tokens"), rows.ms());
    }
    if (made.points().empty()) {
      rows.lack(fmt::format("{} of {} {} experts of {} x {} on {}", layer.chosen, layer.experts,
                            type, model_.hidden, layer.expert_width,
                            text::counted(static_cast<std::uint64_t>(gpus_), "GPU")));
    }
    return made;
  }

  /// Attention of so many heads by sequences, then by tokens. Between measured numbers of heads it
  /// is interpolated.
  Surface attention(const Layers& layer, const char* table, int heads, int kv) const {
    const bool is_prefill = std::string_view(table) == "context_attention";
    const char* const type = model_.kv_number_bytes < kActivationBytes ? "fp8" : "bfloat16";
    std::map<double, std::map<std::pair<double, double>, double>> by_heads;
    TableRows rows(prefix_, table);
    while (rows.next()) {
      if (rows.text("attn_dtype") != "bfloat16" || rows.text("kv_cache_dtype") != type ||
          !rows.is("head_dim", layer.head_size) || !rows.is("window_size", 0) ||
          !rows.is("num_key_value_heads", kv) || (is_prefill && !rows.is("step", 0))) {
        continue;
      }
      by_heads[rows.number("num_heads")].emplace(
          std::pair(rows.number("batch_size"), rows.number("isl") + rows.number("step")),
          rows.ms());
    }
    const auto above = by_heads.lower_bound(heads);
    if (above == by_heads.end() || (above->first != heads && above == by_heads.begin())) {
      rows.lack(
          fmt::format("attention of {} heads of {} and {} for keys", heads, layer.head_size, kv));
    }
    Surface made;
    const auto below = above->first == heads ? above : std::prev(above);
    const double part = above == below ? 0 : (heads - below->first) / (above->first - below->first);
    for (const auto& [sizes, ms] : above->second) {
      const auto other = below->second.find(sizes);
      if (other == below->second.end()) continue;
      made.curve(sizes.first).add(sizes.second, std::lerp(other->second, ms, part));
    }
    if (made.empty()) {
      rows.lack(fmt::format(
          "attention of {} heads of {}, and those of {} and {} heads have no sizes in common",
          heads, layer.head_size, below->first, above->first));
    }
    return made;
  }

  /// Latent attention of so many heads with its projections, by sequences, then by tokens.
  Surface latent_attention(const char* table, int heads) const {
    const bool is_prefill = std::string_view(table) == "mla_context_module";
    const char* const kv = model_.kv_number_bytes < kActivationBytes ? "fp8" : "bfloat16";
    const char* const type = type_of(model_.attention);
    Surface made;
    TableRows rows(prefix_, table);
    while (rows.next()) {
      if (rows.text("mla_dtype") != "bfloat16" || rows.text("kv_cache_dtype") != kv ||
          rows.text("gemm_type") != type || !rows.is("num_heads", heads) ||
          (is_prefill && !rows.is("step", 0))) {
        continue;
      }
      made.curve(rows.number("batch_size"))
          .add(rows.number("isl") + rows.number("step"), rows.ms());
    }
    if (made.empty()) {
      rows.lack(fmt::format("latent attention of {} heads, with {} matrices and KV of {}", heads,
                            type, kv));
    }
    return made;
  }

  /// Norms of queries and keys, positions, and the writing of KV, whose bytes do not count.
  double prompts_ms(const Layers& layer, double query, double keys) const {
    constexpr double kMore = 1.1;
    const double queries = kActivationBytes * query, written = kActivationBytes * keys;
    const double norms =
        layer.head_norms ? 4 * (elementwise_ms(queries) + elementwise_ms(written)) : 0;
    return kMore * (norms + 2 * elementwise_ms(queries + written) + 2 * elementwise_ms(written));
  }

  std::string prefix_;
  const Model& model_;
  const Board& board_;
  int gpus_;
  bool whole_experts_;
  Gemms wide_, attention_, dense_;
  Curve sums_{};
};

}  // namespace

std::string find_kernel_tables(const std::string& path) {
  const std::size_t named = path.rfind("_gemm.csv");
  const std::string prefix = named == std::string::npos ? path : path.substr(0, named);
  return std::filesystem::exists(file_of(prefix, "gemm")) ? prefix : "";
}

Result<std::shared_ptr<const StepTime>> read_kernel_tables(const std::string& prefix,
                                                           const Model& model, const Board& board,
                                                           const Layout& layout,
                                                           const Launch& launch) try {
  if (layout.stages > 1 || layout.data_attention) {
    return fail(Code::unsupported,
                "tables of kernels describe GPUs that divide every layer, without stages and "
                "data-parallel attention",
                {}, "use --times measured");
  }
  if (model.heads == 0 || model.heads % layout.gpus != 0) {
    return fail(Code::invalid,
                fmt::format("{} cannot divide the {} attention heads of {}",
                            text::counted(static_cast<std::uint64_t>(layout.gpus), "GPU"),
                            model.heads, model.name));
  }
  const Composer composer(prefix, model, board, layout.gpus, layout.whole_experts);
  return std::make_shared<const KernelTables>(composer.made(launch));
} catch (const BadTable& bad) {
  return tl::unexpected(bad.error);
}

}  // namespace almanac::inference
