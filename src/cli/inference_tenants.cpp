// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_tenants.h"

#include <fmt/format.h>

#include "cli/list_options.h"

namespace almanac::cli {
namespace {

Figures figures_of(const inference::TenantSeen& of) {
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

figure::Listing tenant_rows(const std::vector<inference::TenantSeen>& tenants) {
  std::vector<NamedFigures> rows;
  for (const inference::TenantSeen& each : tenants) rows.push_back({each.tenant, figures_of(each)});
  return figure_rows("tenant", rows);
}

Figures tenant_figures(const std::vector<inference::TenantSeen>& tenants) {
  Figures made;
  for (const inference::TenantSeen& each : tenants) {
    for (const auto& [name, value] : figures_of(each)) {
      made.emplace_back(fmt::format("{} of {}", name, each.tenant), value);
    }
  }
  return made;
}

std::string tenants_table(const std::vector<inference::TenantSeen>& tenants) {
  constexpr std::size_t kMost = 20;
  if (tenants.empty()) return "";
  figure::Listing rows = tenant_rows(tenants);
  rows.cut(kMost);
  return fmt::format(
      "\n{}{}", rows.table(table_form()),
      tenants.size() <= kMost
          ? ""
          : fmt::format("{} other tenants did at least as well; -o json lists them\n",
                        tenants.size() - kMost));
}

}  // namespace almanac::cli
