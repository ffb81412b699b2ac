// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "inference/profile/sheet.h"
#include "stats/least_squares.h"

namespace almanac::inference {
namespace {

struct Point {
  double token = 0, third = 0;  // what the second and third coefficient are multiplied with
  double ms = 0;
};

double at(const Point& point, std::span<const double> line) {
  return line[0] + line[1] * point.token + line[2] * point.third;
}

/// Milliseconds of the three coefficients; each is fitted in units of the largest that it could be.
std::array<double, 3> fit_line(const std::vector<Point>& points, double& error) {
  constexpr double kSmall = 1e-12;
  Point most;
  for (const Point& each : points) {
    most.token = std::max(most.token, each.token);
    most.third = std::max(most.third, each.third);
    most.ms = std::max(most.ms, each.ms);
  }
  const std::array<double, 3> units{most.ms, most.ms / std::max(most.token, kSmall),
                                    most.ms / std::max(most.third, kSmall)};
  const std::array<stats::Parameter, 3> parameters{{{0.3, 0, 2}, {0.3, 0, 2}, {0.1, 0, 2}}};
  const auto made = stats::least_squares(
      parameters, points.size(), [&](std::span<const double> told, std::span<double> errors) {
        const std::array<double, 3> line{told[0] * units[0], told[1] * units[1],
                                         told[2] * units[2]};
        for (std::size_t each = 0; each < points.size(); ++each) {
          errors[each] = at(points[each], line) / points[each].ms - 1;
        }
      });
  std::array<double, 3> line{};
  for (std::size_t each = 0; each < line.size(); ++each) {
    line[each] = made.parameters[each] * units[each];
  }
  error = 0;
  for (const Point& each : points) {
    error += std::abs(at(each, line) / each.ms - 1) / static_cast<double>(points.size());
  }
  return line;
}

Fitted::Line in_micros(const std::array<double, 3>& ms) {
  return {ms[0] * 1e3, ms[1] * 1e3, ms[2] * 1e3};
}

/// Returns FittedLines::slots. If all requests met at some length of prompts, there is no bound:
/// fewer met at other lengths because some of them came late.
int slots_of(std::span<const Probe> probes) {
  int asked = 0, met = 0;
  for (const Probe& each : probes) {
    asked = std::max(asked, each.together);
    met = std::max(met, each.decoding);
  }
  return met < asked ? met : 0;
}

}  // namespace

Result<FittedLines> fit(std::span<const Probe> probes) {
  FittedLines made{.slots = slots_of(probes)};
  std::vector<Point> prefills, decodes;
  for (const Probe& each : probes) {
    const double prompt = each.prompt;
    if (each.together == 1 && each.first_token_ms > 0) {
      prefills.push_back({prompt, prompt * prompt, each.first_token_ms});
    }
    if (each.output > 1 && each.per_token_ms > 0) {
      const double context = prompt + each.output / 2.0;
      const double sequences = made.slots > 0 ? std::min(each.together, made.slots) : each.together;
      decodes.push_back({context * sequences, sequences, each.per_token_ms});
    }
  }
  constexpr std::size_t kCoefficients = 3;
  if (prefills.size() < kCoefficients || decodes.size() < kCoefficients) {
    return fail(
        Code::invalid,
        fmt::format("{} prefills and {} decodes were measured, but at least 3 of each are needed",
                    prefills.size(), decodes.size()),
        {}, "measure more prompt lengths");
  }
  made.prefill = in_micros(fit_line(prefills, made.prefill_error));
  made.decode = in_micros(fit_line(decodes, made.decode_error));
  return made;
}

std::string to_csv(const FittedLines& lines, const std::string& model, int gpus,
                   const std::string& warning) {
  std::string made =
      "engine,model,tp,phase,intercept_ms,per_token_ms,third,stage_ms,one_step,slots,warning\n";
  for (const auto& [phase, line] : {std::pair("prefill", &lines.prefill),
                                    {"decode_lt95", &lines.decode},
                                    {"decode_ge95", &lines.decode}}) {
    made += fmt::format("measured,\"{}\",{},{},{:.9g},{:.9g},{:.9g},0,{},{},\"{}\"\n", model, gpus,
                        phase, line->iteration / 1e3, line->token / 1e3, line->third / 1e3,
                        lines.one_step ? 1 : 0, lines.slots, warning);
  }
  return made;
}

Result<Measured> read_measured(const std::string& path) {
  const auto sheet = Sheet::read(path, {"engine", "model", "tp"});
  if (!sheet) return tl::unexpected(sheet.error());
  if (sheet->rows() == 0) return fail(Code::invalid, "has no rows", {.file = path});
  for (std::size_t row = 1; row < sheet->rows(); ++row) {
    for (const char* column : {"engine", "model", "tp"}) {
      if (sheet->text(column, row) == sheet->text(column, 0)) continue;
      return fail(Code::invalid, fmt::format("has more than one {}", column), {.file = path},
                  "keep the rows of one profile");
    }
  }
  const auto gpus = sheet->number("tp", 0);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto step = Fitted::read(path, sheet->text("engine", 0), sheet->text("model", 0),
                                 static_cast<int>(*gpus), 1);
  if (!step) return tl::unexpected(step.error());
  Measured made{.step = *step};
  if (!sheet->has("warning") || !sheet->has("slots")) {
    made.warning = "was never validated against its server: measure it again";
    return made;
  }
  const auto slots = sheet->number("slots", 0);
  if (!slots) return tl::unexpected(slots.error());
  made.slots = static_cast<int>(*slots);
  made.warning = sheet->text("warning", 0);
  return made;
}

}  // namespace almanac::inference
