// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac tenants: recent usage and fair share on the service's cluster, who lent GPU time to
/// whom, and the decayed use of each tenant.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "serve/view_json.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using figure::Cell;
using figure::Tier;

struct TenantsOptions {
  ServiceOptions service;
  ListOptions list;
};

std::string hours(double gpu_s) {
  const double gpu_h = gpu_s / 3600;
  return gpu_h < 9.95 ? fmt::format("{:.2g}", gpu_h) : text::grouped(std::llround(gpu_h));
}

/// Two blanks further in for each tenant above it.
std::string indented(const service::TenantView& tenant, const service::Tenancy& all) {
  std::string name = tenant.name.empty() ? "(others)" : tenant.name;
  const auto above = [&](const std::string& child) -> std::string {
    for (const service::TenantView& each : all.tenants) {
      if (each.name == child) return each.parent;
    }
    return "";
  };
  for (std::string parent = tenant.parent; !parent.empty(); parent = above(parent)) {
    name.insert(0, "  ");
  }
  return name;
}

figure::Listing rows_of(const service::Tenancy& tenancy) {
  using service::TenantView;
  const bool has_limits =
      std::any_of(tenancy.tenants.begin(), tenancy.tenants.end(),
                  [](const TenantView& each) { return !std::isnan(each.limit); });
  figure::Rows rows(tenancy.tenants);
  rows.add("name", tenancy.by_tenant ? "TENANT" : "USER",
           [&](const TenantView& each) { return Cell(each.name, indented(each, tenancy)); });
  rows.add(Tier::data, "parent", "PARENT", &TenantView::parent);
  const auto add_gpus = [&](const char* name, const char* label, double TenantView::*of) -> auto& {
    return rows.add(name, label, [of](const TenantView& each) {
      return Cell(each.*of, each.*of >= 0 ? fmt::format("{:.4g}", each.*of) : "");
    });
  };
  const auto add_hours = [&](const char* name, const char* label, double TenantView::*of) -> auto& {
    return rows.add(name, label, of, hours);
  };
  rows.add(tenancy.by_tenant ? Tier::usual : Tier::data, "guarantee", "GUARANTEE",
           [](const TenantView& each) {
             return Cell(each.guarantee,
                         each.guarantee > 0 ? fmt::format("{:.4g}", each.guarantee) : "");
           });
  add_gpus("limit", "LIMIT", &TenantView::limit).in(has_limits ? Tier::detail : Tier::data);
  add_gpus("gpus_allocated", "GPUS", &TenantView::gpus_held);
  add_gpus("gpus_waiting", "PENDING", &TenantView::gpus_waiting);
  add_hours("used_gpu_s", "USED", &TenantView::used_gpu_s);
  add_hours("fair_share_gpu_s", "FAIR SHARE", &TenantView::fair_share_gpu_s);
  rows.add("used_fraction", "OF SHARE", [](const TenantView& each) {
    const double part = each.used_gpu_s / each.fair_share_gpu_s;
    return each.fair_share_gpu_s > 0 ? Cell(part, text::human_share(part)) : Cell::nothing("");
  });
  add_hours("lent_gpu_s", "LENT", &TenantView::lent_gpu_s).wide();
  add_hours("borrowed_gpu_s", "BORROWED", &TenantView::borrowed_gpu_s).wide();
  rows.add(Tier::wide, "running", "RUN", &TenantView::running);
  rows.add(Tier::wide, "waiting", "WAIT", &TenantView::waiting);
  rows.add(Tier::wide, "finish_time_ratio", "RHO", [](const TenantView& each) {
    const double ratio = each.finish_time_ratio;
    return Cell(ratio, std::isnan(ratio) ? "" : fmt::format("{:.2f}", ratio));
  });
  add_hours("use_gpu_s", "DECAYED", &TenantView::use_gpu_s).detail();
  return rows;
}

std::string explanation(const service::Tenancy& tenancy) {
  std::string made = fmt::format(
      "USED, FAIR SHARE: GPU-hours of the last {}. DECAYED: GPU-hours with a "
      "half-life of {}{}.\n",
      text::human_time(seconds(tenancy.to - tenancy.from)),
      text::human_time(seconds(tenancy.half_life)),
      tenancy.use_by.empty() ? "" : fmt::format(", as {} counts them", tenancy.use_by));
  if (!tenancy.worst.empty()) {
    made += fmt::format(
        "share error {}; Jain's fairness index {:.2f}; worst off: {}, with {} of its fair share\n"
        "The share error is the part of the used GPU time that belonged to others: 0 % if all have "
        "the same part of their fair shares, however small.\n",
        text::human_share(tenancy.share_error), tenancy.jain, tenancy.worst,
        text::human_share(tenancy.worst_fair_share));
  }
  for (const service::TenantLoan& loan : tenancy.loans) {
    constexpr double kWorthSaying = 360;
    if (loan.gpu_s < kWorthSaying) break;
    made += fmt::format("{} lent {} GPU-hours to {}\n", loan.from, hours(loan.gpu_s), loan.to);
  }
  return made;
}

Result<int> tenants(const TenantsOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.list.wants_document()) return relay_answer(*client, "/v1/tenants");
  const auto said = client->get("/v1/tenants");
  if (!said) return tl::unexpected(said.error());
  const auto found = serve::read_tenancy(said->body);
  if (!found) return tl::unexpected(found.error());
  if (found->tenants.empty() && options.list.explains()) {
    fmt::print("No one has requested a GPU yet.\n");
    return kDone;
  }
  return options.list.print(rows_of(*found), explanation(*found));
}

}  // namespace

void register_tenants(Program& program) {
  CLI::App& command =
      program.command(Purpose::jobs, "tenants", "Show usage against fair share, by tenant or user");
  const auto options = std::make_shared<TenantsOptions>();
  options->list.add_to(command);
  options->service.add_to(command);
  add_example(command, "almanac tenants -o wide");
  options->list.on(program, command, [options] { return tenants(*options); });
}

}  // namespace almanac::cli
