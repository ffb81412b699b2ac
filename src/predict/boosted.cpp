// SPDX-License-Identifier: Apache-2.0
#include "predict/boosted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xgboost/c_api.h>

#include "base/check.h"
#include "predict/grow_trees.h"

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

/// Trees packed for walking.
class Forest {
 public:
  /// `grown` has a tree for each class in turn.
  Forest(std::span<const GrownTree> grown, std::uint32_t classes) {
    for (std::uint32_t at = 0; at < grown.size(); ++at) {
      const auto root = begin_tree(at % classes);
      for (const GrownNode& each : grown[at]) {
        const auto left = root + static_cast<std::uint32_t>(each.left);
        add(each.left >= 0 ? Node{.value = each.value,
                                  .child = {left + 1, left},
                                  .feature = each.column,
                                  .missing_left = each.missing_left}
                           : leaf(each.value));
      }
    }
  }

  /// Trees as XGBoost's JSON has them.
  /// Throws nlohmann::json::exception if `model` is not such a model.
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
    const auto root = begin_tree(of);
    const auto left = tree.at("left_children").get<std::vector<std::int32_t>>();
    const auto right = tree.at("right_children").get<std::vector<std::int32_t>>();
    const auto feature = tree.at("split_indices").get<std::vector<std::uint16_t>>();
    const auto value = tree.at("split_conditions").get<std::vector<float>>();
    const auto missing_left = tree.at("default_left").get<std::vector<int>>();
    for (std::size_t at = 0; at < left.size(); ++at) {
      add(left[at] >= 0 ? Node{.value = value.at(at),
                               .child = {root + static_cast<std::uint32_t>(right.at(at)),
                                         root + static_cast<std::uint32_t>(left[at])},
                               .feature = feature.at(at),
                               .missing_left = missing_left.at(at) != 0}
                        : leaf(value.at(at)));
    }
  }

  std::uint32_t begin_tree(std::uint32_t of) {
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    trees_.push_back({root, of});
    return root;
  }
  void add(const Node& node) { nodes_.push_back(node); }
  Node leaf(float value) const {
    const auto own = static_cast<std::uint32_t>(nodes_.size());
    return {.value = value, .child = {own, own}};
  }

  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
};

/// Floats are written so that XGBoost reads the same ones again.
using FloatJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                       std::uint64_t, float>;

/// A tree as XGBoost's JSON has it.
FloatJson json_of(const GrownTree& tree, std::size_t number) {
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();  // the root's parent
  FloatJson made{{"id", number},
                 {"tree_param",
                  {{"num_nodes", fmt::format("{}", tree.size())},
                   {"num_feature", fmt::format("{}", kFeatures)},
                   {"num_deleted", "0"},
                   {"size_leaf_vector", "0"}}},
                 {"categories", FloatJson::array()},
                 {"categories_nodes", FloatJson::array()},
                 {"categories_segments", FloatJson::array()},
                 {"categories_sizes", FloatJson::array()}};
  for (const GrownNode& node : tree) {
    made["parents"].push_back(node.parent < 0 ? kNone : node.parent);
    made["left_children"].push_back(node.left);
    made["right_children"].push_back(node.left < 0 ? -1 : node.left + 1);
    made["split_indices"].push_back(node.column);
    made["split_conditions"].push_back(node.value);
    made["split_type"].push_back(0);
    made["default_left"].push_back(node.missing_left ? 1 : 0);
    made["loss_changes"].push_back(node.gain);
    made["sum_hessian"].push_back(node.hessian);
    made["base_weights"].push_back(node.weight);
  }
  return made;
}

class Booster {
 public:
  Booster() { must(XGBoosterCreate(nullptr, 0, &handle_)); }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() { XGBoosterFree(handle_); }

  BoosterHandle handle() const { return handle_; }
  bool load(std::string_view bytes) {
    return XGBoosterLoadModelFromBuffer(handle_, bytes.data(), bytes.size()) == 0;
  }
  std::string_view bytes(const char* config) const {
    bst_ulong length = 0;
    const char* start = nullptr;
    must(XGBoosterSaveModelToBuffer(handle_, config, &length, &start));
    return {start, length};
  }
  void use_one_thread() { must(XGBoosterSetParam(handle_, "nthread", "1")); }

 private:
  BoosterHandle handle_ = nullptr;
};

/// Trees as XGBoost would have grown them.
std::string json_of(std::span<const GrownTree> trees, int classes) {
  FloatJson list = FloatJson::array();
  FloatJson of = FloatJson::array();
  for (std::size_t at = 0; at < trees.size(); ++at) {
    list.push_back(json_of(trees[at], at));
    of.push_back(at % static_cast<std::size_t>(classes));
  }
  const FloatJson model{
      {"version", {1, 7, 4}},
      {"learner",
       {{"attributes", FloatJson::object()},
        {"feature_names", FloatJson::array()},
        {"feature_types", FloatJson::array()},
        {"objective",
         {{"name", "multi:softprob"},
          {"softmax_multiclass_param", {{"num_class", fmt::format("{}", classes)}}}}},
        {"learner_model_param",
         {{"base_score", "5E-1"},
          {"boost_from_average", "1"},
          {"num_class", fmt::format("{}", classes)},
          {"num_feature", fmt::format("{}", kFeatures)},
          {"num_target", "1"}}},
        {"gradient_booster",
         {{"name", "gbtree"},
          {"model",
           {{"gbtree_model_param",
             {{"num_trees", fmt::format("{}", trees.size())},
              {"num_parallel_tree", "1"},
              {"size_leaf_vector", "0"}}},
            {"trees", list},
            {"tree_info", of}}}}}}}};
  return model.dump();
}

}  // namespace

/// Trees from a file are XGBoost's; those grown here become XGBoost's when they are to be saved or
/// explained.
struct Boosted::State {
  int classes = 0;
  std::vector<GrownTree> grown{};
  std::optional<Forest> forest{};

  const Booster& booster() {
    std::call_once(begun_, [&] {
      if (booster_) return;
      booster_ = std::make_unique<Booster>();
      ALMANAC_CHECK(booster_->load(json_of(grown, classes)), "XGBoost: {}", XGBGetLastError());
      booster_->use_one_thread();
    });
    return *booster_;
  }
  void set_booster(std::unique_ptr<Booster> booster) { booster_ = std::move(booster); }

 private:
  std::once_flag begun_;
  std::unique_ptr<Booster> booster_;
};

Boosted::Boosted(std::unique_ptr<State> state) : state_(std::move(state)) {}
Boosted::Boosted(Boosted&&) noexcept = default;
Boosted& Boosted::operator=(Boosted&&) noexcept = default;
Boosted::~Boosted() = default;

Boosted Boosted::fit(std::span<const Row> rows, std::span<const int> labels,
                     const BoostOptions& options) {
  ALMANAC_CHECK(!rows.empty() && rows.size() == labels.size(), "{} rows, {} labels", rows.size(),
                labels.size());
  auto state = std::make_unique<State>();
  state->classes = options.classes;
  state->grown = grow_trees(rows, labels, options);
  state->forest.emplace(state->grown, static_cast<std::uint32_t>(options.classes));
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
  must(XGBoosterPredictFromDMatrix(state_->booster().handle(), matrix.get(), config, &shape,
                                   &dimensions, &values));
  std::size_t size = 1;
  for (bst_ulong at = 0; at < dimensions; ++at) size *= shape[at];
  return {values, values + size};
}

int Boosted::classes() const { return state_->classes; }

std::string Boosted::save() const {
  return std::string(state_->booster().bytes(R"({"format":"ubj"})"));
}

Result<Boosted> Boosted::load(std::string_view bytes, int classes) {
  auto booster = std::make_unique<Booster>();
  if (!booster->load(bytes)) return fail(Code::corrupt, "the model's trees cannot be read");
  bst_ulong columns = 0;
  if (XGBoosterGetNumFeature(booster->handle(), &columns) != 0 || columns != kFeatures) {
    return fail(Code::corrupt,
                fmt::format("the model's trees use {} features, not {}", columns, kFeatures));
  }
  booster->use_one_thread();
  auto state = std::make_unique<State>();
  state->classes = classes;
  try {
    state->forest.emplace(nlohmann::json::parse(booster->bytes(R"({"format":"json"})")));
  } catch (const nlohmann::json::exception& error) {
    return fail(Code::corrupt, fmt::format("the model's trees are inconsistent: {}", error.what()));
  }
  state->set_booster(std::move(booster));
  return Boosted(std::move(state));
}

}  // namespace almanac::predict
