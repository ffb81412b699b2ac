// SPDX-License-Identifier: Apache-2.0
#include "predict/boosted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include "base/check.h"

namespace almanac::predict {
namespace {

constexpr int kThreads = 1;

void must(int status) { ALMANAC_CHECK(status == 0, "XGBoost: {}", XGBGetLastError()); }

struct MatrixDeleter {
  void operator()(void* matrix) const { XGDMatrixFree(matrix); }
};
using Matrix = std::unique_ptr<void, MatrixDeleter>;

Matrix matrix_of(std::span<const Row> rows) {
  DMatrixHandle made = nullptr;
  must(XGDMatrixCreateFromMat_omp(rows.front().data(), rows.size(), kFeatures, kMissing, &made,
                                  kThreads));
  return Matrix(made);
}

/// The trees as XGBoost's JSON has them, packed for walking.
class Forest {
 public:
  /// Throws nlohmann::json::exception when `model` is none of ours.
  explicit Forest(const nlohmann::json& model) {
    const nlohmann::json& trees = model.at("learner").at("gradient_booster").at("model");
    const nlohmann::json& classes = trees.at("tree_info");
    for (std::size_t at = 0; at < trees.at("trees").size(); ++at) {
      add(trees.at("trees").at(at), classes.at(at).get<std::uint32_t>());
    }
  }

  void add_to(const Row& row, std::span<float> sums) const {
    std::size_t first = 0;
    for (; first + kAbreast <= trees_.size(); first += kAbreast) {
      walk<kAbreast>(row, std::span(trees_).subspan(first), sums);
    }
    for (; first < trees_.size(); ++first) walk<1>(row, std::span(trees_).subspan(first), sums);
  }

 private:
  /// A step waits for the node that it reads; steps in several trees wait together.
  static constexpr std::size_t kAbreast = 8;
  struct Node {
    float value = 0;                       // where to split, or what a leaf adds
    std::array<std::uint32_t, 2> child{};  // right, left; a leaf has itself on either side
    std::uint16_t feature = 0;
    bool missing_left = false;
  };
  struct Tree {
    std::uint32_t root = 0;
    std::uint32_t of = 0;  // class
  };

  template <std::size_t kTrees>
  void walk(const Row& row, std::span<const Tree> trees, std::span<float> sums) const {
    std::array<std::uint32_t, kTrees> at;
    for (std::size_t tree = 0; tree < kTrees; ++tree) at[tree] = trees[tree].root;
    for (std::uint32_t moved = 1; moved != 0;) {
      moved = 0;
      for (std::uint32_t& here : at) {
        const Node& node = nodes_[here];
        const float value = row[node.feature];
        const bool left = (value < node.value) | (std::isnan(value) & node.missing_left);
        const std::uint32_t next = node.child[left ? 1 : 0];
        moved |= next ^ here;
        here = next;
      }
    }
    for (std::size_t tree = 0; tree < kTrees; ++tree) {
      sums[trees[tree].of] += nodes_[at[tree]].value;
    }
  }

  void add(const nlohmann::json& tree, std::uint32_t of) {
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    trees_.push_back({root, of});
    const auto left = tree.at("left_children").get<std::vector<std::int32_t>>();
    const auto right = tree.at("right_children").get<std::vector<std::int32_t>>();
    const auto feature = tree.at("split_indices").get<std::vector<std::uint16_t>>();
    const auto value = tree.at("split_conditions").get<std::vector<float>>();
    const auto missing_left = tree.at("default_left").get<std::vector<int>>();
    for (std::size_t at = 0; at < left.size(); ++at) {
      const auto own = root + static_cast<std::uint32_t>(at);
      Node node{.value = value.at(at), .child = {own, own}};
      if (left[at] >= 0) {
        node.child = {root + static_cast<std::uint32_t>(right.at(at)),
                      root + static_cast<std::uint32_t>(left[at])};
        node.feature = feature.at(at);
        node.missing_left = missing_left.at(at) != 0;
      }
      nodes_.push_back(node);
    }
  }

  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
};

}  // namespace

struct Boosted::State {
  BoosterHandle handle = nullptr;
  int classes = 0;
  std::optional<Forest> forest{};

  explicit State(int of) : classes(of) { must(XGBoosterCreate(nullptr, 0, &handle)); }
  State(int of, DMatrixHandle matrix) : classes(of) { must(XGBoosterCreate(&matrix, 1, &handle)); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XGBoosterFree(handle); }

  void set(const char* name, const std::string& value) {
    must(XGBoosterSetParam(handle, name, value.c_str()));
  }
  std::string_view bytes(const char* config) const {
    bst_ulong length = 0;
    const char* start = nullptr;
    must(XGBoosterSaveModelToBuffer(handle, config, &length, &start));
    return {start, length};
  }
  void pack() { forest.emplace(nlohmann::json::parse(bytes(R"({"format":"json"})"))); }
};

Boosted::Boosted(std::unique_ptr<State> state) : state_(std::move(state)) {}
Boosted::Boosted(Boosted&&) noexcept = default;
Boosted& Boosted::operator=(Boosted&&) noexcept = default;
Boosted::~Boosted() = default;

Boosted Boosted::fit(std::span<const Row> rows, std::span<const int> labels,
                     const BoostOptions& options) {
  ALMANAC_CHECK(!rows.empty() && rows.size() == labels.size(), "{} rows, {} labels", rows.size(),
                labels.size());
  const Matrix matrix = matrix_of(rows);
  std::vector<float> wanted(labels.begin(), labels.end());
  must(XGDMatrixSetFloatInfo(matrix.get(), "label", wanted.data(), wanted.size()));

  auto state = std::make_unique<State>(options.classes, matrix.get());
  state->set("objective", "multi:softprob");
  state->set("num_class", fmt::format("{}", options.classes));
  state->set("tree_method", "hist");
  state->set("max_bin", "64");
  state->set("max_depth", fmt::format("{}", options.depth));
  state->set("eta", fmt::format("{}", options.learning_rate));
  state->set("min_child_weight", fmt::format("{}", options.min_child_weight));
  state->set("subsample", fmt::format("{}", options.rows));
  state->set("colsample_bytree", fmt::format("{}", options.columns));
  state->set("nthread", fmt::format("{}", kThreads));
  state->set("seed", fmt::format("{}", options.seed));
  state->set("verbosity", "0");
  for (int round = 0; round < options.rounds; ++round) {
    must(XGBoosterUpdateOneIter(state->handle, round, matrix.get()));
    if (options.progress) options.progress((round + 1.0) / options.rounds);
  }
  state->pack();
  return Boosted(std::move(state));
}

void Boosted::predict(const Row& row, std::span<float> probabilities) const {
  std::fill(probabilities.begin(), probabilities.end(), 0.0F);
  state_->forest->add_to(row, probabilities);
  const float most = *std::max_element(probabilities.begin(), probabilities.end());
  float sum = 0;
  for (float& each : probabilities) sum += each = std::exp(each - most);
  for (float& each : probabilities) each /= sum;
}

std::vector<float> Boosted::contributions(const Row& row) const {
  const Matrix matrix = matrix_of({&row, 1});
  const char* const config =
      R"({"type":2,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":true})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  must(XGBoosterPredictFromDMatrix(state_->handle, matrix.get(), config, &shape, &dimensions,
                                   &values));
  std::size_t size = 1;
  for (bst_ulong at = 0; at < dimensions; ++at) size *= shape[at];
  return {values, values + size};
}

int Boosted::classes() const { return state_->classes; }

std::string Boosted::save() const { return std::string(state_->bytes(R"({"format":"ubj"})")); }

Result<Boosted> Boosted::load(std::string_view bytes, int classes) {
  auto state = std::make_unique<State>(classes);
  if (XGBoosterLoadModelFromBuffer(state->handle, bytes.data(), bytes.size()) != 0) {
    return fail(Code::corrupt, "the model's trees cannot be read");
  }
  bst_ulong columns = 0;
  if (XGBoosterGetNumFeature(state->handle, &columns) != 0 || columns != kFeatures) {
    return fail(Code::corrupt,
                fmt::format("the model's trees use {} features, not {}", columns, kFeatures));
  }
  state->set("nthread", "1");
  try {
    state->pack();
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::corrupt, fmt::format("the model's trees are inconsistent: {}", error.what()));
  }
  return Boosted(std::move(state));
}

}  // namespace almanac::predict
