// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "slurm/json.h"
#include "slurm/read_json.h"

namespace almanac::slurm {
namespace {

/// Slurm's SLURMDB_FS_USE_PARENT.
constexpr double kUsesParent = 0x7fffffff;

/// GPU seconds; nothing where the site does not count GPUs.
std::optional<double> gpu_seconds(Value record) {
  const auto list = find(record, "tres/usage");
  simdjson::dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS) return std::nullopt;
  for (const Value item : items) {
    if (text(item, "name") == "gres/gpu") return number(item, "value");
  }
  return std::nullopt;
}

Association read_association(Value record) {
  const std::string name = text(record, "name");
  if (name.empty()) throw BadShape{"an association without name"};
  const std::string parent = text(record, "parent");
  Association made{.account = name};
  if (has(words(record, "type"), "USER")) {
    made.account = parent;
    made.user = name;
  } else {
    made.parent = parent;
  }
  made.partition = text(record, "partition");
  const double shares = number(record, "shares").value_or(0);
  made.shares = shares == kUsesParent ? Association::kParent : static_cast<std::int64_t>(shares);
  const auto gpus = gpu_seconds(record);
  made.use = gpus ? *gpus : number(record, "usage").value_or(0);
  return made;
}

}  // namespace

Result<std::vector<Association>> read_shares(std::string_view json) {
  return read_document(json, "shares", [](Value document) {
    std::vector<Association> made;
    const auto told = find(document, "shares");
    if (!told) throw BadShape{"no shares"};
    for (const Value record : records(*told, "shares")) made.push_back(read_association(record));
    return made;
  });
}

}  // namespace almanac::slurm
