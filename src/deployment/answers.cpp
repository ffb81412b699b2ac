// SPDX-License-Identifier: Apache-2.0

#include "deployment/answers.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "deployment/cell_table.h"

namespace almanac::deployment {
namespace {

class AnswerTable {
 public:
  AnswerTable(const std::vector<TaskService>& services, const std::vector<Variant>& variants)
      : services_(services), variants_(variants), made_(services.size()), items_(services.size()) {
    for (TriedTask& each : made_) each.said.resize(variants.size());
  }

  Result<void> add(const CellTable& row) {
    const auto service =
        std::find_if(services_.begin(), services_.end(),
                     [&](const TaskService& each) { return each.task == row.text("task"); });
    if (service == services_.end()) {
      return row.wrong(fmt::format("no service has the task \"{}\"", row.text("task")));
    }
    const auto variant = std::find_if(variants_.begin(), variants_.end(), [&](const Variant& each) {
      return each.task == row.text("task") && each.name == row.text("variant");
    });
    if (variant == variants_.end()) {
      return row.wrong(
          fmt::format("no variant of {} is named \"{}\"", row.text("task"), row.text("variant")));
    }
    const auto confidence = row.number("confidence", 0, 1, 1);
    if (!confidence) return tl::unexpected(confidence.error());
    const auto at = static_cast<std::size_t>(service - services_.begin());
    TriedTask& task = made_[at];
    const auto [item, is_new] =
        items_[at].try_emplace(std::string(row.text("item")), task.right.size());
    const int right = label_of(row.text("right"));
    if (is_new) task.right.push_back(right);
    if (task.right[item->second] != right) {
      return row.wrong(
          fmt::format("item {} has another right label in an earlier row", item->first));
    }
    auto& said = task.said[static_cast<std::size_t>(variant - variants_.begin())];
    if (said.size() <= item->second) said.resize(item->second + 1);
    said[item->second] = {label_of(row.text("label")), *confidence};
    return {};
  }

  Result<std::vector<TriedTask>> done(const std::string& path) {
    for (std::size_t at = 0; at < services_.size(); ++at) {
      TriedTask& task = made_[at];
      for (const auto& [name, item] : items_[at]) {
        for (std::size_t each = 0; each < variants_.size(); ++each) {
          if (variants_[each].task != services_[at].task) continue;
          const auto& said = task.said[each];
          if (item < said.size() && said[item].label != Exp4::kLate) continue;
          return fail(Code::invalid,
                      fmt::format("item {} of {} has no answer of variant {}", name,
                                  services_[at].task, variants_[each].name),
                      {.file = path}, "a row for each variant and item");
        }
      }
      if (task.right.empty()) {
        return fail(Code::invalid, fmt::format("has no item of task {}", services_[at].task),
                    {.file = path});
      }
    }
    return std::move(made_);
  }

 private:
  int label_of(std::string_view text) {
    return labels_.try_emplace(std::string(text), static_cast<int>(labels_.size())).first->second;
  }

  const std::vector<TaskService>& services_;
  const std::vector<Variant>& variants_;
  std::vector<TriedTask> made_;
  std::vector<std::map<std::string, std::size_t>> items_;  // by service
  std::map<std::string, int> labels_;
};

}  // namespace

Result<std::vector<TriedTask>> read_answers(const std::string& path,
                                            const std::vector<TaskService>& services,
                                            const std::vector<Variant>& variants) {
  auto rows = CellTable::open(path, {"task", "item", "variant", "label", "right"});
  if (!rows) return tl::unexpected(rows.error());
  AnswerTable made(services, variants);
  while (true) {
    const auto more = rows->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if (auto added = made.add(*rows); !added) return tl::unexpected(added.error());
  }
  return made.done(path);
}

}  // namespace almanac::deployment
