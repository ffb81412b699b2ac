// SPDX-License-Identifier: Apache-2.0
#include "predict/grow_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "predict/quantile_cuts.h"

namespace almanac::predict {
namespace {

constexpr std::size_t kBins = 64;
constexpr std::uint8_t kNoBin = 255;  // the value is missing
constexpr float kLambda = 1;          // XGBoost's default regularization
constexpr float kLeastGain = 1e-6F;

/// Sums of the first and the second derivative of the loss.
using Sum [[gnu::vector_size(16)]] = double;
double gradient(Sum sum) { return sum[0]; }
double hessian(Sum sum) { return sum[1]; }

struct Derivative {
  float gradient = 0;
  float hessian = 0;
};

/// Columns whose slots of a row lie together in a cache line, and whose histograms fit the first
/// cache together.
constexpr std::size_t kBlock = 32;
constexpr std::size_t kBlocks = (kFeatures + kBlock - 1) / kBlock;

/// The bins of all rows, by column for dividing rows and by row for summing.
class Table {
 public:
  explicit Table(std::span<const Row> rows)
      : rows_(rows.size()), bins_(rows.size() * kFeatures), slots_(rows.size() * kBlocks) {
    std::vector<float> known;
    for (std::size_t column = 0; column < kFeatures; ++column) {
      known.clear();
      for (const Row& row : rows) {
        if (!std::isnan(row[column])) known.push_back(row[column]);
      }
      is_complete_ = is_complete_ && known.size() == rows.size();
      cuts_[column] = quantile_cuts(known, kBins);
      can_split_[column] =
          !known.empty() && (cuts_[column].upper.size() > 1 || known.size() < rows.size());
      first_[column + 1] =
          static_cast<std::uint16_t>(first_[column] + cuts_[column].upper.size() + 1);
      for (std::size_t row = 0; row < rows_; ++row) {
        const float value = rows[row][column];
        const bool is_known = !std::isnan(value);
        const std::uint8_t bin = is_known ? cuts_[column].bin_of(value) : kNoBin;
        bins_[column * rows_ + row] = bin;
        slots_[column / kBlock * rows_ + row].at[column % kBlock] =
            static_cast<std::uint16_t>(is_known ? first_[column] + bin : first_[column + 1] - 1);
      }
    }
  }

  std::size_t rows() const { return rows_; }
  bool is_complete() const { return is_complete_; }
  /// Whether not all rows are alike in it.
  bool can_split(std::size_t column) const { return can_split_[column]; }
  const QuantileCuts& cuts(std::size_t column) const { return cuts_[column]; }
  std::size_t bins(std::size_t column) const { return cuts_[column].upper.size(); }
  /// Returns the bin of each row; kNoBin if the value is missing.
  const std::uint8_t* column(std::size_t column) const { return &bins_[column * rows_]; }
  /// The places of the rows' bins in a histogram, for the columns of a block.
  struct alignas(2 * kBlock) Slots {
    std::array<std::uint16_t, kBlock> at{};
  };
  const Slots* slots(std::size_t block) const { return &slots_[block * rows_]; }
  /// A column's bins, one after another, then one more for missing values.
  std::size_t first_slot(std::size_t column) const { return first_[column]; }
  std::size_t all_slots() const { return first_[kFeatures]; }

 private:
  std::size_t rows_;
  bool is_complete_ = true;
  std::array<QuantileCuts, kFeatures> cuts_{};
  std::array<bool, kFeatures> can_split_{};
  std::array<std::uint16_t, kFeatures + 1> first_{};
  std::vector<std::uint8_t> bins_;
  std::vector<Slots> slots_;
};

/// The random choices of XGBoost with a seed: which columns and rows a tree sees.
class Draws {
 public:
  explicit Draws(const BoostOptions& options)
      : rows_(static_cast<float>(options.rows)),
        columns_(static_cast<std::size_t>(static_cast<float>(options.columns) * kFeatures)),
        seeds_(static_cast<std::mt19937::result_type>(options.seed)),
        column_order_(seeds_()) {}

  /// Rows in ascending order. A linear congruential generator modulo 2^63; a row is in when its
  /// number, as a fraction, is below the share.
  void draw_rows(std::size_t rows, std::vector<std::uint32_t>& in,
                 std::vector<std::uint32_t>& out) {
    constexpr std::uint64_t kFactor = 16'807;
    constexpr std::uint64_t kMask = (std::uint64_t{1} << 63) - 1;
    in.clear();
    out.clear();
    if (rows_ >= 1) {
      in.resize(rows);
      std::iota(in.begin(), in.end(), 0U);
      return;
    }
    std::uint64_t state = std::max<std::uint64_t>(1, seeds_());
    for (std::uint32_t row = 0; row < rows; ++row) {
      state = (state * kFactor) & kMask;
      const double share = static_cast<double>(static_cast<std::int64_t>(state - 1)) * 0x1p-63;
      (share < rows_ ? in : out).push_back(row);
    }
  }

  /// In ascending order.
  void draw_columns(std::vector<std::uint16_t>& columns) {
    columns.resize(kFeatures);
    std::iota(columns.begin(), columns.end(), std::uint16_t{0});
    if (columns_ == kFeatures) return;
    std::shuffle(columns.begin(), columns.end(), column_order_);
    columns.resize(std::max<std::size_t>(1, columns_));
    std::sort(columns.begin(), columns.end());
  }

 private:
  double rows_;
  std::size_t columns_;
  std::mt19937 seeds_;
  std::mt19937 column_order_;
};

struct Split {
  float gain = 0;
  std::uint16_t column = 0;
  int last_left = -1;  // bin; -1 = of the values only missing ones go left
  bool missing_left = false;
  Sum left{};
  Sum right{};
};

/// Grows one tree after another on the same table.
class Grower {
 public:
  Grower(const Table& table, const BoostOptions& options)
      : table_(table),
        depth_(options.depth),
        rate_(static_cast<float>(options.learning_rate)),
        least_hessian_(static_cast<float>(options.min_child_weight)),
        draws_(options),
        sums_(table.rows()) {}

  /// Adds what the leaves say of each row to `margins`.
  GrownTree grow(std::span<const Derivative> derivatives, std::span<float> margins) {
    draws_.draw_rows(table_.rows(), rows_, other_rows_);
    draws_.draw_columns(columns_);
    std::erase_if(columns_, [&](std::uint16_t column) { return !table_.can_split(column); });
    for (auto& places : places_) places.clear();
    for (const std::uint16_t column : columns_) {
      places_[column / kBlock].push_back(static_cast<std::uint16_t>(column % kBlock));
    }
    Sum total{};
    for (const std::uint32_t row : rows_) {
      sums_[row] = Sum{static_cast<double>(derivatives[row].gradient),
                       static_cast<double>(derivatives[row].hessian)};
      total += sums_[row];
    }
    tree_.clear();
    nodes_.clear();
    plant(table_.is_complete() ? sum_by_bins() : total);
    std::size_t begin = 0;
    for (int depth = 0; begin < tree_.size() && depth < depth_; ++depth) {
      const std::size_t end = tree_.size();
      for (std::size_t at = begin; at < end; ++at) {
        if (nodes_[at].split.gain > kLeastGain) divide(at);
      }
      if (depth + 1 < depth_) {
        for (std::size_t at = begin; at < end; ++at) {
          if (tree_[at].left >= 0) look_into_children(at);
        }
      }
      begin = end;
    }
    add_leaves(margins);
    return tree_;
  }

 private:
  /// What a node needs while its tree grows.
  struct Node {
    Sum total{};
    float gain = 0;
    Split split{};
    std::size_t begin = 0;  // of its rows in rows_
    std::size_t end = 0;
    std::size_t histogram = 0;
  };

  static float gain_of(Sum sum) {
    if (hessian(sum) <= 0) return 0;
    return static_cast<float>(gradient(sum) * gradient(sum)) /
           static_cast<float>(hessian(sum) + static_cast<double>(kLambda));
  }
  float weight_of(Sum sum) const {
    if (hessian(sum) < static_cast<double>(least_hessian_) || hessian(sum) <= 0) return 0;
    return static_cast<float>(-gradient(sum) / (hessian(sum) + static_cast<double>(kLambda)));
  }

  Sum* histogram(std::size_t number) {
    if (number == histograms_.size()) histograms_.emplace_back(table_.all_slots());
    return histograms_[number].data();
  }

  void plant(Sum total) {
    used_ = 1;
    Sum* const sums = histogram(0);
    sum_rows(rows_, sums);
    nodes_.push_back({.total = total, .gain = gain_of(total), .end = rows_.size()});
    const float weight = weight_of(total);
    tree_.push_back(
        {.value = rate_ * weight, .hessian = static_cast<float>(hessian(total)), .weight = weight});
    find_split(nodes_[0]);
  }

  /// Sums all rows by the bins of the first column, as XGBoost does where nothing is missing.
  Sum sum_by_bins() const {
    std::array<Sum, kBins> bins{};
    for (const std::uint32_t row : rows_) bins[table_.column(0)[row]] += sums_[row];
    Sum total{};
    for (const Sum bin : bins) total += bin;
    return total;
  }

  void sum_rows(std::span<const std::uint32_t> rows, Sum* sums) const {
    for (const std::uint16_t column : columns_) {
      std::fill_n(sums + table_.first_slot(column), table_.bins(column) + 1, Sum{});
    }
    for (std::size_t block = 0; block < kBlocks; ++block) {
      sum_block(rows, table_.slots(block), places_[block], sums);
    }
  }

  void sum_block(std::span<const std::uint32_t> rows, const Table::Slots* slots,
                 std::span<const std::uint16_t> places, Sum* sums) const {
    constexpr std::size_t kAhead = 16;
    const std::uint16_t* const first = places.data();
    const std::uint16_t* const last = first + places.size();
    const Sum* const of = sums_.data();
    for (std::size_t at = 0; at < rows.size(); ++at) {
      __builtin_prefetch(slots + rows[std::min(at + kAhead, rows.size() - 1)]);
      const Sum sum = of[rows[at]];
      const std::uint16_t* const own = slots[rows[at]].at.data();
      const std::uint16_t* place = first;
      // Four at a time: columns have no slot in common.
      for (; last - place >= 4; place += 4) {
        Sum* const a = sums + own[place[0]];
        Sum* const b = sums + own[place[1]];
        Sum* const c = sums + own[place[2]];
        Sum* const d = sums + own[place[3]];
        const std::array<Sum, 4> made = {*a + sum, *b + sum, *c + sum, *d + sum};
        *a = made[0];
        *b = made[1];
        *c = made[2];
        *d = made[3];
      }
      for (; place != last; ++place) sums[own[*place]] += sum;
    }
  }

  void divide(std::size_t at) {
    const Split split = nodes_[at].split;
    const auto left = static_cast<std::int32_t>(tree_.size());
    GrownNode& node = tree_[at];
    node.left = left;
    node.column = split.column;
    node.missing_left = split.missing_left;
    const QuantileCuts& cuts = table_.cuts(split.column);
    node.value =
        split.last_left < 0 ? cuts.below : cuts.upper[static_cast<std::size_t>(split.last_left)];
    node.gain = split.gain;
    const Sum both = split.left + split.right;
    node.hessian = static_cast<float>(hessian(both));
    node.weight = weight_of(both);

    const std::size_t middle = divide_rows(nodes_[at]);
    const std::size_t begin = nodes_[at].begin;
    const std::size_t end = nodes_[at].end;
    nodes_.push_back(
        {.total = split.left, .gain = gain_of(split.left), .begin = begin, .end = middle});
    nodes_.push_back(
        {.total = split.right, .gain = gain_of(split.right), .begin = middle, .end = end});
    for (const Sum sum : {split.left, split.right}) {
      const float value = weight_of(sum) * rate_;
      tree_.push_back({.parent = static_cast<std::int32_t>(at),
                       .value = value,
                       .hessian = static_cast<float>(hessian(sum)),
                       .weight = value});
    }
  }

  /// Which rows of a node go left, by their bins.
  struct LeftBins {
    explicit LeftBins(const Split& split)
        : last(split.last_left), missing(split.missing_left ? kNoBin : -1) {}
    /// Without a branch: where a row goes cannot be guessed.
    bool has(std::uint8_t bin) const { return (bin <= last) | (bin == missing); }

    int last;
    int missing;  // the bin of missing values if they go left; -1 otherwise
  };

  /// Puts the rows that go left before the others, and returns where those begin.
  std::size_t divide_rows(const Node& node) {
    const std::uint8_t* const bins = table_.column(node.split.column);
    const LeftBins left_bins(node.split);
    aside_.resize(rows_.size());
    std::size_t left = node.begin;
    std::size_t right = 0;
    for (std::size_t at = node.begin; at < node.end; ++at) {
      const std::uint32_t row = rows_[at];
      const bool is_left = left_bins.has(bins[row]);
      rows_[left] = row;
      aside_[right] = row;
      left += is_left ? 1 : 0;
      right += is_left ? 0 : 1;
    }
    std::copy_n(aside_.begin(), right, rows_.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  }

  void look_into_children(std::size_t at) {
    const auto left = static_cast<std::size_t>(tree_[at].left);
    const bool fewer_right = hessian(nodes_[left + 1].total) < hessian(nodes_[left].total);
    Node& smaller = nodes_[fewer_right ? left + 1 : left];
    Node& larger = nodes_[fewer_right ? left : left + 1];
    if (!can_split(larger)) return;
    smaller.histogram = used_++;
    Sum* const sums = histogram(smaller.histogram);
    sum_rows({&rows_[smaller.begin], smaller.end - smaller.begin}, sums);
    larger.histogram = nodes_[at].histogram;
    Sum* const rest = histogram(larger.histogram);
    for (const std::uint16_t column : columns_) {
      const std::size_t first = table_.first_slot(column);
      for (std::size_t slot = first; slot < first + table_.bins(column); ++slot) {
        rest[slot] -= sums[slot];
      }
    }
    if (can_split(smaller)) find_split(smaller);
    find_split(larger);
  }

  /// Whether there is enough in a node for two.
  bool can_split(const Node& node) const {
    constexpr double kRounding = 1e-9;
    return hessian(node.total) >= 2 * static_cast<double>(least_hessian_) * (1 - kRounding);
  }

  void find_split(Node& node) {
    const Sum* const sums = histogram(node.histogram);
    const auto least = static_cast<double>(least_hessian_);
    // What the gains of both sides must exceed, less what floats round: most splits are refused by
    // it, without the divisions.
    const auto bar_of = [&] {
      constexpr double kRounding = 1e-6;
      return (static_cast<double>(node.split.gain) + static_cast<double>(node.gain)) *
             (1 - kRounding);
    };
    double bar = bar_of();
    for (const std::uint16_t column : columns_) {
      const Sum* const bins = sums + table_.first_slot(column);
      const auto count = static_cast<int>(table_.bins(column));
      const auto try_split = [&](Sum left, Sum right, int last_left, bool missing_left) {
        const double weight_left = hessian(left) + static_cast<double>(kLambda);
        const double weight_right = hessian(right) + static_cast<double>(kLambda);
        if (gradient(left) * gradient(left) * weight_right +
                gradient(right) * gradient(right) * weight_left <
            bar * weight_left * weight_right) {
          return;
        }
        const float gain = gain_of(left) + gain_of(right) - node.gain;
        if (gain > node.split.gain && !std::isinf(gain)) {
          node.split = {gain, column, last_left, missing_left, left, right};
          bar = bar_of();
        }
      };
      // A split after an empty bin is that before it, and gains no more. To ask which bins are
      // empty costs more: the answer cannot be guessed.
      Sum sum{};
      for (int bin = 0; bin < count; ++bin) {
        sum += bins[bin];
        const Sum rest = node.total - sum;
        if (hessian(sum) < least || hessian(rest) < least) continue;
        try_split(sum, rest, bin, false);
      }
      if (sum[0] == node.total[0] && sum[1] == node.total[1]) continue;
      sum = Sum{};
      for (int bin = count - 1; bin >= 0; --bin) {
        sum += bins[bin];
        const Sum rest = node.total - sum;
        if (hessian(sum) < least || hessian(rest) < least) continue;
        try_split(rest, sum, bin - 1, true);
      }
    }
  }

  void add_leaves(std::span<float> margins) const {
    for (std::size_t at = 0; at < tree_.size(); ++at) {
      if (tree_[at].left >= 0) continue;
      for (std::size_t row = nodes_[at].begin; row < nodes_[at].end; ++row) {
        margins[rows_[row]] += tree_[at].value;
      }
    }
    for (const std::uint32_t row : other_rows_) {
      std::size_t at = 0;
      while (tree_[at].left >= 0) {
        const Split& split = nodes_[at].split;
        const bool is_left = LeftBins(split).has(table_.column(split.column)[row]);
        at = static_cast<std::size_t>(tree_[at].left) + (is_left ? 0 : 1);
      }
      margins[row] += tree_[at].value;
    }
  }

  const Table& table_;
  int depth_;
  float rate_;
  float least_hessian_;
  Draws draws_;
  std::vector<Sum> sums_;                  // of each row
  std::vector<std::uint32_t> rows_;        // of the tree, those of a node one after another
  std::vector<std::uint32_t> other_rows_;  // that the tree does not learn from
  std::vector<std::uint32_t> aside_;
  std::vector<std::uint16_t> columns_;                        // that the tree may split
  std::array<std::vector<std::uint16_t>, kBlocks> places_{};  // the same in their blocks
  std::vector<std::vector<Sum>> histograms_;
  std::size_t used_ = 0;
  GrownTree tree_;
  std::vector<Node> nodes_;
};

/// The loss (softmax and cross entropy) of all rows, whose margins are kept by class.
class Loss {
 public:
  explicit Loss(std::span<const int> labels)
      : labels_(labels), most_(labels.size()), sums_(labels.size()) {}

  /// Writes the derivatives of each row, by class.
  void differentiate(std::span<const std::vector<float>> margins,
                     std::span<std::vector<Derivative>> derivatives) {
    const std::size_t rows = labels_.size();
    std::fill(most_.begin(), most_.end(), std::numeric_limits<float>::min());
    for (const std::vector<float>& margin : margins) {
      for (std::size_t row = 0; row < rows; ++row) most_[row] = std::max(most_[row], margin[row]);
    }
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (std::size_t of = 0; of < margins.size(); ++of) {
      for (std::size_t row = 0; row < rows; ++row) {
        const float power = std::exp(margins[of][row] - most_[row]);
        derivatives[of][row].gradient = power;
        sums_[row] += static_cast<double>(power);
      }
    }
    for (std::size_t of = 0; of < margins.size(); ++of) {
      for (std::size_t row = 0; row < rows; ++row) {
        constexpr float kLeast = 1e-16F;
        const float likely = derivatives[of][row].gradient / static_cast<float>(sums_[row]);
        const bool is_it = labels_[row] == static_cast<int>(of);
        derivatives[of][row] = {is_it ? likely - 1 : likely,
                                std::max(2 * likely * (1 - likely), kLeast)};
      }
    }
  }

 private:
  std::span<const int> labels_;
  std::vector<float> most_;   // margin of each row, over the classes
  std::vector<double> sums_;  // of the powers of each row
};

}  // namespace

std::vector<GrownTree> grow_trees(std::span<const Row> rows, std::span<const int> labels,
                                  const BoostOptions& options) {
  const auto classes = static_cast<std::size_t>(options.classes);
  const Table table(rows);
  Grower grower(table, options);
  std::vector<std::vector<float>> margins(classes, std::vector<float>(rows.size(), 0.5F));
  std::vector<std::vector<Derivative>> derivatives(classes, std::vector<Derivative>(rows.size()));
  Loss loss(labels);
  std::vector<GrownTree> trees;
  for (int round = 0; round < options.rounds; ++round) {
    loss.differentiate(margins, derivatives);
    for (std::size_t of = 0; of < classes; ++of) {
      trees.push_back(grower.grow(derivatives[of], margins[of]));
    }
    if (options.progress) options.progress((round + 1.0) / options.rounds);
  }
  return trees;
}

}  // namespace almanac::predict
