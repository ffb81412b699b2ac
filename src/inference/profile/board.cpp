// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/board.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/check.h"
#include "inference/profile/named.h"
#include "table/stream.h"
#include "text/preset.h"
#include "text/toml_reader.h"

namespace almanac::inference {

namespace boards {
std::span<const text::Preset> presets();
}

namespace {

constexpr const char* kOperations[] = {
    "bf16",         "fp8",          "fp8_block",         "int8",
    "fp4",          "weights_only", "experts_bf16",      "experts_fp8",
    "experts_int8", "experts_fp4",  "experts_fp8_block", "experts_weights_only",
    "prefill",      "decode",       "all_reduce"};

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

class BoardReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  /// `of` finds the kernels of another board.
  template <typename KernelsOf>
  Board read(const toml::table& file, const KernelsOf& of) {
    allow(file, {"aliases",
                 "vendor",
                 "memory_bytes",
                 "bandwidth_gbs",
                 "bf16_tflops",
                 "fp8_tflops",
                 "int8_tops",
                 "fp4_tflops",
                 "achieved_bf16_tflops",
                 "achieved_fp8_tflops",
                 "link",
                 "link_gbs",
                 "linked_boards",
                 "host_gbs",
                 "idle_w",
                 "decode_w",
                 "prefill_w",
                 "usd_per_hour",
                 "kernels_of",
                 "kernels",
                 "checked"});
    Board made{.name = stem_of(path())};
    if (const toml::array* const aliases = file["aliases"].as_array()) {
      for (const toml::node& each : *aliases) {
        if (!each.is_string()) refuse(each, "aliases must be a list of texts");
        made.aliases.push_back(in_lower_case(each.as_string()->get()));
      }
    }
    made.vendor = word(file, "vendor");
    made.memory_bytes = number(file, "memory_bytes", 1, true);
    made.bandwidth = number(file, "bandwidth_gbs", 1e9, true);
    made.bf16_flops = number(file, "bf16_tflops", 1e12, true);
    made.fp8_flops = number(file, "fp8_tflops", 1e12);
    made.int8_flops = number(file, "int8_tops", 1e12);
    made.fp4_flops = number(file, "fp4_tflops", 1e12);
    made.peer_bandwidth = number(file, "link_gbs", 1e9);
    const double linked = number(file, "linked_boards", 1);
    constexpr double kMostLinked = 100'000;
    if (linked > kMostLinked || linked != std::floor(linked)) {
      refuse(file, "linked_boards must be a whole number up to 100000");
    }
    if (linked > 0) made.linked_boards = static_cast<int>(linked);
    made.host_bandwidth = number(file, "host_gbs", 1e9);
    if (made.host_bandwidth == 0) made.host_bandwidth = kPcie4;
    made.idle_w = number(file, "idle_w", 1);
    made.decode_w = number(file, "decode_w", 1);
    made.prefill_w = number(file, "prefill_w", 1);
    made.usd_per_hour = number(file, "usd_per_hour", 1);
    word(file, "link");
    if (const toml::table* const checked = table(file, "checked")) {
      read_checked(*checked, made);
    }
    const toml::table* const own = table(file, "kernels");
    if (own == nullptr || file.contains("kernels_of")) borrow(file, of, made);
    if (own != nullptr) read_kernels(*own, made);
    return made;
  }

 private:
  static constexpr double kPcie4 = 32e9;

  std::string word(const toml::table& from, const char* key) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return {};
    if (!node->is_string()) refuse(*node, fmt::format("{} must be a text", key));
    return node->as_string()->get();
  }

  double number(const toml::table& from, const char* key, double unit, bool needed = false) {
    const toml::node* const node = from.get(key);
    if (node == nullptr) {
      if (needed) refuse(from, fmt::format("{} is missing", key));
      return 0;
    }
    const double value = text::toml_number(*node);
    if (!(value > 0 && std::isfinite(value))) {
      refuse(*node, fmt::format("{} must be a number above 0", key));
    }
    return value * unit;
  }

  void read_checked(const toml::table& checked, Board& board) {
    allow(checked, {"runs", "end_to_end_error", "models"});
    const toml::array* const models = checked["models"].as_array();
    // A board may have runs of single models alone.
    const bool needs_own = models == nullptr || checked.contains("runs");
    board.checked_runs = static_cast<int>(number(checked, "runs", 1, needs_own));
    board.end_to_end_error = number(checked, "end_to_end_error", 1, needs_own);
    if (models == nullptr) return;
    for (const toml::node& each : *models) {
      const toml::table* const one = each.as_table();
      if (one == nullptr)
        refuse(each, "models must be tables such as {model = \"NAME\", gpus = [1]}");
      allow(*one, {"model", "gpus", "runs", "end_to_end_error", "data_attention"});
      CheckedModel& made = board.checked_models.emplace_back();
      made.model = word(*one, "model");
      made.runs = static_cast<int>(number(*one, "runs", 1));
      made.end_to_end_error = number(*one, "end_to_end_error", 1, made.runs > 0);
      made.data_attention = (*one)["data_attention"].value_or(false);
      const toml::array* const gpus = (*one)["gpus"].as_array();
      if (made.model.empty() || gpus == nullptr) refuse(each, "model and gpus are required");
      for (const toml::node& count : *gpus) {
        if (!count.is_integer()) refuse(count, "gpus must be whole numbers");
        made.gpus.push_back(static_cast<int>(count.as_integer()->get()));
      }
    }
  }

  /// A share of a limit: no kernel exceeds it.
  double share(const toml::table& from, const char* key) {
    const double value = number(from, key, 1, true);
    if (value > 1)
      refuse(*from.get(key), fmt::format("{} must be at most 1, found {}", key, value));
    return value;
  }

  void read_kernels(const toml::table& kernels, Board& board) {
    allow(kernels, {std::begin(kOperations), std::end(kOperations)});
    for (const auto& [operation, node] : kernels) {
      const toml::table* const one = node.as_table();
      if (one == nullptr) {
        refuse(node, fmt::format("{} must be a table such as {{fixed_us = 5, bandwidth = 0.8, "
                                 "peak = 0.7}}",
                                 operation.str()));
      }
      allow(*one, {"fixed_us", "bandwidth", "peak"});
      Kernel kernel{.fixed_us = number(*one, "fixed_us", 1),
                    .bandwidth = share(*one, "bandwidth"),
                    .own = true};
      if (operation.str() != "all_reduce") kernel.peak = share(*one, "peak");
      board.kernels[std::string(operation.str())] = kernel;
    }
    if (board.kernels_of.empty()) board.kernels_of = board.name;
  }

  template <typename KernelsOf>
  void borrow(const toml::table& file, const KernelsOf& of, Board& board) {
    board.kernels_of = word(file, "kernels_of");
    if (board.kernels_of.empty()) board.kernels_of = "h100";
    const Board* const other = of(board.kernels_of);
    if (other == nullptr) {
      refuse(file, fmt::format("kernels_of: no board is named \"{}\"", board.kernels_of));
    }
    board.kernels = other->kernels;
    for (auto& [operation, kernel] : board.kernels) kernel.own = false;
    take_peak(number(file, "achieved_bf16_tflops", 1e12) / board.bf16_flops, {"bf16"}, board);
    const double fp8 = number(file, "achieved_fp8_tflops", 1e12);
    if (board.fp8_flops > 0) take_peak(fp8 / board.fp8_flops, {"fp8", "fp8_block"}, board);
  }

  /// No kernel exceeds the largest matrix multiplication measured on the board itself. That of 16
  /// bits reaches it; those of 8 bits, which also scale, are not taken to be better than borrowed.
  static void take_peak(double reached, std::initializer_list<const char*> operations,
                        Board& board) {
    if (reached <= 0) return;
    for (const char* const operation : operations) {
      Kernel kernel = board.kernel(operation);
      const bool is_wide = std::string_view(operation) == "bf16";
      kernel.peak = std::min(is_wide ? 1.0 : kernel.peak, reached);
      board.kernels[operation] = kernel;
    }
  }
};

const Board* with_name(const std::vector<Board>& all, std::string_view name) {
  const auto found = find_named(all, name);
  return found ? *found : nullptr;
}

Board parse_preset(const text::Preset& preset, const std::vector<Board>& known) {
  const auto made = text::read_toml_text(
      preset.text, std::string(preset.name) + ".toml", [&](const toml::table& file) {
        return BoardReader(std::string(preset.name) + ".toml")
            .read(file, [&](const std::string& name) { return with_name(known, name); });
      });
  ALMANAC_CHECK(made, "{}", to_string(made.error()));
  return *made;
}

std::vector<Board> read_built_in() {
  std::vector<Board> made;
  // Boards that borrow no kernels first, because others borrow theirs.
  for (const bool borrows : {false, true}) {
    for (const text::Preset& each : boards::presets()) {
      if ((each.text.find("kernels_of") != std::string_view::npos) == borrows) {
        made.push_back(parse_preset(each, made));
      }
    }
  }
  std::sort(made.begin(), made.end(),
            [](const Board& one, const Board& other) { return one.name < other.name; });
  return made;
}

}  // namespace

double Board::peak(Arithmetic arithmetic) const {
  const double narrow = arithmetic == Arithmetic::fp8    ? fp8_flops
                        : arithmetic == Arithmetic::int8 ? int8_flops
                        : arithmetic == Arithmetic::fp4  ? fp4_flops
                                                         : 0;
  return narrow > 0 ? narrow : bf16_flops;
}

Kernel Board::kernel(std::string_view operation) const {
  const bool experts = operation.starts_with("experts_");
  for (const std::string_view each :
       {operation, std::string_view(experts ? "experts_bf16" : "bf16")}) {
    const auto found = kernels.find(each);
    if (found != kernels.end()) return found->second;
  }
  return {};
}

bool Board::has_own_kernels() const {
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const auto& each) { return each.second.own; });
}

Board Board::at_its_limits() const {
  Board made = *this;
  made.kernels.clear();
  return made;
}

const std::vector<Board>& built_in_boards() {
  static const std::vector<Board> made = read_built_in();
  return made;
}

Result<Board> find_board(std::string_view name) {
  const Board* const found = with_name(built_in_boards(), name);
  if (found != nullptr) return *found;
  return no_such("board", name, built_in_boards(),
                 "any other board: the path of a board file (TOML)");
}

Result<Board> parse_board(std::string_view text, const std::string& path) {
  return text::read_toml_text(text, path, [&](const toml::table& file) {
    return BoardReader(path).read(
        file, [](const std::string& name) { return with_name(built_in_boards(), name); });
  });
}

Result<Board> read_board(const std::string& path) {
  const Result<std::string> content = table::read_text_file(path);
  if (!content) return tl::unexpected(content.error());
  return parse_board(*content, path);
}

Result<Board> load_board(const std::string& name_or_path) {
  return name_or_path.ends_with(".toml") ? read_board(name_or_path) : find_board(name_or_path);
}

std::string board_names() {
  std::vector<std::string> names;
  for (const Board& each : built_in_boards()) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace almanac::inference
