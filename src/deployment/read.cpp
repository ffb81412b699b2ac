// SPDX-License-Identifier: Apache-2.0

#include "deployment/read.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "deployment/cell_table.h"
#include "deployment/pipeline.h"
#include "text/number.h"

namespace almanac::deployment {
namespace {

constexpr double kMost = CellTable::kMost;

/// Reads what makes the last of `services` a stage, whose `after` is not empty.
Result<void> read_stage(const CellTable& row, std::vector<TaskService>& services) {
  constexpr double kMostPerAnswer = 100;
  TaskService& stage = services.back();
  const std::string_view after = row.text("after");
  const auto before = std::find_if(services.begin(), services.end() - 1,
                                   [&](const TaskService& other) { return other.task == after; });
  if (before == services.end() - 1) {
    return row.wrong(fmt::format("after: no earlier row has the task \"{}\"", after));
  }
  for (const char* column : {"rate", "slo_ms", "rates"}) {
    if (row.text(column).empty()) continue;
    return row.wrong(
        fmt::format("{}: expected an empty cell for a stage after \"{}\", from which "
                    "it follows",
                    column, after));
  }
  const auto per_answer = row.number("per_answer", 1e-6, kMostPerAnswer, 1);
  if (!per_answer) return tl::unexpected(per_answer.error());
  stage.after = static_cast<std::size_t>(before - services.begin());
  stage.per_answer = *per_answer;
  stage.slo_ms = before->slo_ms;
  return {};
}

}  // namespace

Result<std::vector<Variant>> read_variants(const std::string& path) {
  constexpr double kTiny = 1e-6;
  constexpr double kMostOperators = 1e5;
  auto rows = CellTable::open(
      path, {"variant", "task", "accuracy", "fixed_ms", "item_ms", "batch", "memory_gib"});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Variant> made;
  while (true) {
    const auto more = rows->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    Variant& each = made.emplace_back();
    each.name = rows->text("variant");
    each.task = rows->text("task");
    if (each.name.empty() || each.task.empty()) return rows->wrong("expected a variant and a task");
    if (std::any_of(made.begin(), made.end() - 1, [&](const Variant& other) {
          return other.task == each.task && other.name == each.name;
        })) {
      return rows->wrong(fmt::format("variant \"{}\" of task \"{}\" is in two rows: give it one",
                                     each.name, each.task));
    }
    const auto batch = rows->whole_number("batch", 1, 1'000'000);
    if (!batch) return tl::unexpected(batch.error());
    each.most_batch = *batch;
    const auto operators = rows->number("operators", 1, kMostOperators, 1);
    if (!operators) return tl::unexpected(operators.error());
    each.operators = static_cast<int>(*operators);
    for (const auto& [column, into, least, most, otherwise] :
         {std::tuple<const char*, double*, double, double, double>{"accuracy", &each.accuracy, 0, 1,
                                                                   std::nan("")},
          {"fixed_ms", &each.fixed_ms, 0, kMost, std::nan("")},
          {"item_ms", &each.item_ms, kTiny, kMost, std::nan("")},
          {"memory_gib", &each.memory_gib, 0, kMost, std::nan("")},
          {"knee", &each.knee, 0.01, 1, 1},
          {"load_s", &each.load_s, 0, kMost, 0},
          {"disk_s", &each.disk_s, 0, kMost, 0},
          {"busy_w", &each.busy_w, 0, kMost, 0}}) {
      const auto value = rows->number(column, least, most, otherwise);
      if (!value) return tl::unexpected(value.error());
      *into = *value;
    }
  }
  if (made.empty()) return fail(Code::invalid, "has no variant", {.file = path});
  return made;
}

Result<std::vector<TaskService>> read_services(const std::string& path,
                                               const std::vector<Variant>& variants) {
  auto rows = CellTable::open(path, {"task", "rate", "slo_ms"});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<TaskService> made;
  while (true) {
    const auto more = rows->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    TaskService& each = made.emplace_back();
    each.task = rows->text("task");
    if (std::none_of(variants.begin(), variants.end(),
                     [&](const Variant& variant) { return variant.task == each.task; })) {
      return rows->wrong(fmt::format("no variant does the task \"{}\"", each.task));
    }
    if (std::any_of(made.begin(), made.end() - 1,
                    [&](const TaskService& other) { return other.task == each.task; })) {
      return rows->wrong(fmt::format("task \"{}\" is in two rows: give each task one", each.task));
    }
    const auto accuracy = rows->number("accuracy", 0, 1, 0);
    if (!accuracy) return tl::unexpected(accuracy.error());
    each.accuracy = *accuracy;
    if (!rows->text("after").empty()) {
      if (auto read = read_stage(*rows, made); !read) return tl::unexpected(read.error());
      continue;
    }
    if (!rows->text("per_answer").empty()) {
      return rows->wrong(
          fmt::format("per_answer: expected an empty cell for \"{}\", whose requests clients send; "
                      "only a stage with the column after has it",
                      each.task));
    }
    const auto rate = rows->number("rate", 1e-6);
    const auto slo = rows->number("slo_ms", 1e-6);
    for (const auto* cell : {&rate, &slo}) {
      if (!*cell) return tl::unexpected(cell->error());
    }
    each.rate = *rate;
    each.slo_ms = *slo;
    std::string_view left = rows->text("rates");
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(' '), left.size());
      const auto value = text::parse_decimal(left.substr(0, end));
      if (!value || *value < 0 || *value > kMost) {
        return rows->wrong("rates: expected numbers of 0 or more with a space between");
      }
      each.rates.push_back(*value);
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  if (made.empty())
    return fail(Code::invalid, "has no services", {.file = path},
                "add a row of task, rate and slo_ms");
  set_stage_rates(made);
  return made;
}

}  // namespace almanac::deployment
