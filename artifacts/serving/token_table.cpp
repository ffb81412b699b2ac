// SPDX-License-Identifier: Apache-2.0

#include "serving/token_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "inference/profile/sheet.h"

namespace almanac::inference {

Result<TokenTable> TokenTable::read(const std::string& path, const std::string& model,
                                    const std::string& hardware, int gpus) {
  const auto sheet = Sheet::read(
      path, {"model", "hardware", "tensor_parallel", "batch_tokens", "prompt_ms", "token_ms"});
  if (!sheet) return tl::unexpected(sheet.error());
  std::vector<Knot> knots;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    if (sheet->text("model", row) != model || sheet->text("hardware", row) != hardware) continue;
    const auto boards = sheet->number("tensor_parallel", row);
    if (!boards) return tl::unexpected(boards.error());
    if (*boards != gpus) continue;
    const auto tokens = sheet->number("batch_tokens", row);
    const auto prompt = sheet->number("prompt_ms", row);
    const auto decode = sheet->number("token_ms", row);
    for (const auto* cell : {&tokens, &prompt, &decode}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    knots.push_back({*tokens, *prompt * 1e3, *decode * 1e3});
  }
  if (knots.size() < 2) {
    return fail(Code::not_found,
                fmt::format("tells too little of {} on {} x {}", model, gpus, hardware),
                {.file = path});
  }
  std::sort(knots.begin(), knots.end(),
            [](const Knot& a, const Knot& b) { return a.tokens < b.tokens; });
  return TokenTable(std::move(knots));
}

double TokenTable::at(double tokens, Micros Knot::*value) const {
  auto right = std::lower_bound(knots_.begin() + 1, knots_.end() - 1, tokens,
                                [](const Knot& knot, double asked) { return knot.tokens < asked; });
  const Knot& low = right[-1];
  const Knot& high = *right;
  const double slope = (high.*value - low.*value) / (high.tokens - low.tokens);
  return slope * (tokens - low.tokens) + low.*value;
}

Micros TokenTable::operator()(const Batch& batch) const {
  const auto tokens = static_cast<double>(batch.prefill_tokens() + batch.decodes);
  if (batch.prefills.empty()) return decode(tokens);
  return batch.decodes > 0 ? 1.1 * prompt(tokens) : prompt(tokens);
}

}  // namespace almanac::inference
