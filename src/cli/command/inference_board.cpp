// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference board: the GPUs that Almanac knows, and how close kernels come to their
/// limits.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
#include "figure/rows_json.h"
#include "inference/service.h"

namespace almanac::cli {

void register_inference_board(Program& program);

namespace {

using inference::Board;

struct BoardOptions {
  std::string board;
  ListOptions list;
};

figure::Cell known(double value) { return value > 0 ? figure::Cell(value) : figure::Cell(); }

figure::Listing board_rows(const std::vector<Board>& boards) {
  constexpr double kGiga = 1e9, kTera = 1e12;
  constexpr int kDigits = 4;
  figure::Rows rows(boards);
  rows.add("board", &Board::name);
  const auto add = [&](const char* name, double Board::*of, double unit) {
    rows.add(name, [=](const Board& each) { return known(each.*of / unit); }).significant(kDigits);
  };
  add("memory_gb", &Board::memory_bytes, kGiga);
  add("bandwidth_gbs", &Board::bandwidth, kGiga);
  add("bf16_tflops", &Board::bf16_flops, kTera);
  add("fp8_tflops", &Board::fp8_flops, kTera);
  add("fp4_tflops", &Board::fp4_flops, kTera);
  add("link_gbs", &Board::peer_bandwidth, kGiga);
  add("idle_w", &Board::idle_w, 1);
  add("prefill_w", &Board::prefill_w, 1);
  add("usd_per_hour", &Board::usd_per_hour, 1);
  rows.add("kernels_of", &Board::kernels_of);
  return rows;
}

Answer answer_of(const Board& board) {
  return {{"board", board.name},
          {"vendor", board.vendor},
          {"memory_bytes", known(board.memory_bytes)},
          {"bandwidth_gbs", known(board.bandwidth / 1e9)},
          {"bf16_tflops", known(board.bf16_flops / 1e12)},
          {"fp8_tflops", known(board.fp8_flops / 1e12)},
          {"int8_tops", known(board.int8_flops / 1e12)},
          {"fp4_tflops", known(board.fp4_flops / 1e12)},
          {"link_gbs", known(board.peer_bandwidth / 1e9)},
          {"linked_boards", board.linked_boards},
          {"host_gbs", known(board.host_bandwidth / 1e9)},
          {"idle_w", known(board.idle_w)},
          {"decode_w", known(board.decode_w)},
          {"prefill_w", known(board.prefill_w)},
          {"usd_per_hour", known(board.usd_per_hour)},
          {"kernels_of", board.kernels_of},
          {"step_times", inference::basis_of_times({.board = board})}};
}

Result<int> show_boards(const BoardOptions& options) {
  if (options.board.empty()) return options.list.print(board_rows(inference::built_in_boards()));
  const auto board = inference::load_board(options.board);
  if (!board) return tl::unexpected(board.error());
  return show_answer(options.list, answer_of(*board));
}

}  // namespace

void register_inference_board(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("board", "Show the limits, power and price of GPUs");
  const auto options = std::make_shared<BoardOptions>();
  command.add_option("BOARD", options->board,
                     "A name such as h100, or a board file (TOML); without it, all boards");
  options->list.add_to(command);
  add_example(command, "almanac inference board");
  add_example(command, "almanac inference board b200 -o json");
  program.on(command, [options] { return show_boards(*options); });
}

}  // namespace almanac::cli
