// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/fitted.h"

#include <algorithm>

#include <fmt/format.h>

#include "inference/profile/sheet.h"
#include "text/human.h"

namespace almanac::inference {

Result<Fitted> Fitted::read(const std::string& path, const std::string& engine,
                            const std::string& model, int gpus, int stages) {
  const auto sheet = Sheet::read(
      path, {"engine", "model", "tp", "phase", "intercept_ms", "per_token_ms", "third"});
  if (!sheet) return tl::unexpected(sheet.error());
  Line prefill, few, many;
  int found = 0;
  Micros hop = kHop;
  bool one_step = false;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto tp = sheet->number("tp", row);
    if (!tp) return tl::unexpected(tp.error());
    if (sheet->text("engine", row) != engine || sheet->text("model", row) != model || *tp != gpus) {
      continue;
    }
    const auto iteration = sheet->number("intercept_ms", row);
    const auto token = sheet->number("per_token_ms", row);
    const auto third = sheet->number("third", row);
    for (const auto* cell : {&iteration, &token, &third}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    const Line line{*iteration * 1e3, *token * 1e3, *third * 1e3};
    const std::string& phase = sheet->text("phase", row);
    (phase == "prefill" ? prefill : phase == "decode_lt95" ? few : many) = line;
    if (sheet->has("stage_ms")) {
      const auto told = sheet->number("stage_ms", row);
      if (!told) return tl::unexpected(told.error());
      hop = *told * 1e3;
    }
    if (sheet->has("one_step")) one_step = sheet->text("one_step", row) == "1";
    ++found;
  }
  if (found == 3) return Fitted(prefill, few, many, stages, hop, one_step);
  return fail(Code::not_found,
              fmt::format("has no three phases of {} {} on {}", engine, model,
                          text::counted(static_cast<std::uint64_t>(gpus), "GPU")),
              {.file = path});
}

Micros Fitted::operator()(const Batch& batch) const {
  Micros time = 0;
  if (!batch.prefills.empty()) {
    double tokens = 0, squares = 0;
    for (const Chunk& chunk : batch.prefills) {
      const double end = chunk.done + chunk.fresh;
      tokens += chunk.fresh;
      squares += end * end - static_cast<double>(chunk.done) * chunk.done;
    }
    time += (prefill_.iteration + prefill_.token * tokens + prefill_.third * squares) / stages_ +
            hop_ * stages_;
  }
  if (batch.decodes > 0) {
    const Line& line = batch.decodes >= kManyDecodes ? many_ : few_;
    time += (line.iteration + line.token * static_cast<double>(batch.context + batch.decodes) +
             line.third * static_cast<double>(batch.decodes)) /
            stages_;
    if (one_step_ && !batch.prefills.empty()) {
      time -= std::min(prefill_.iteration, line.iteration) / stages_;
    }
  }
  return time;
}

}  // namespace almanac::inference
