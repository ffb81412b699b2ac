// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_tenants.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/columns.h"

namespace almanac::cli {
namespace {

/// By the names that JSON, CSV and the table have.
std::vector<std::pair<const char*, double>> figures_of(const inference::TenantSeen& of) {
  const inference::Seen& seen = of.seen;
  return {{"requests", static_cast<double>(seen.requests)},
          {"finished", static_cast<double>(seen.finished)},
          {"attainment", seen.attainment()},
          {"prompt_tokens", static_cast<double>(seen.prompt_tokens)},
          {"output_tokens", static_cast<double>(seen.output_tokens)},
          {"gpu_share", of.gpu_share},
          {"ttft_p50_ms", seen.first_token.p50 / 1e3},
          {"ttft_p99_ms", seen.first_token.p99 / 1e3},
          {"tpot_p50_ms", seen.per_token.p50 / 1e3},
          {"tpot_p99_ms", seen.per_token.p99 / 1e3}};
}

}  // namespace

nlohmann::ordered_json tenants_json(const std::vector<inference::TenantSeen>& tenants) {
  auto made = nlohmann::ordered_json::array();
  for (const inference::TenantSeen& each : tenants) {
    nlohmann::ordered_json row{{"tenant", each.tenant}};
    for (const auto& [name, value] : figures_of(each)) row[name] = value;
    made.push_back(std::move(row));
  }
  return made;
}

void add_tenant_rows(const std::vector<inference::TenantSeen>& tenants,
                     std::vector<std::vector<std::string>>& rows) {
  for (const inference::TenantSeen& each : tenants) {
    for (const auto& [name, value] : figures_of(each)) {
      rows.push_back({fmt::format("{} of {}", name, each.tenant), number_cell(value, 9, "")});
    }
  }
}

void print_tenants(const std::vector<inference::TenantSeen>& tenants) {
  constexpr std::size_t kMost = 20;
  if (tenants.empty()) return;
  std::vector<Column> columns{{"tenant"}};
  for (const auto& [name, value] : figures_of(tenants.front())) columns.push_back({name, true});
  std::vector<std::vector<std::string>> cells;
  for (std::size_t each = 0; each < std::min(kMost, tenants.size()); ++each) {
    cells.push_back({tenants[each].tenant});
    for (const auto& [name, value] : figures_of(tenants[each])) {
      const bool is_count = value >= 1e5;
      cells.back().push_back(is_count ? fmt::format("{:.0f}", value) : number_cell(value, 5));
    }
  }
  fmt::print("\n");
  print_columns(columns, cells);
  if (tenants.size() <= kMost) return;
  fmt::print("{} tenants more were served no worse; -o json has them all\n",
             tenants.size() - kMost);
}

}  // namespace almanac::cli
