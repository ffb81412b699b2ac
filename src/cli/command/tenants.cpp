// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac tenants: who had how much of its due on the service's cluster lately, who lent to whom,
/// and what each one's use counts.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/job_list.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "serve/view_json.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

struct TenantsOptions {
  ServiceOptions service;
  std::string output;
};

std::string hours(double gpu_s) {
  const double gpu_h = gpu_s / 3600;
  return gpu_h < 9.95 ? fmt::format("{:.2g}", gpu_h) : text::grouped(std::llround(gpu_h));
}

std::string ratio(double value) { return std::isnan(value) ? "" : fmt::format("{:.2f}", value); }

std::string part(double had, double due) {
  return due > 0 ? text::human_share(had / due) : std::string();
}

/// Two blanks further in for each tenant above it.
std::string indented(const live::TenantView& tenant, const live::Tenancy& all) {
  std::string name = tenant.name.empty() ? "(others)" : tenant.name;
  const auto above = [&](const std::string& child) -> std::string {
    for (const live::TenantView& each : all.tenants) {
      if (each.name == child) return each.parent;
    }
    return "";
  };
  for (std::string parent = tenant.parent; !parent.empty(); parent = above(parent)) {
    name.insert(0, "  ");
  }
  return name;
}

void print(const live::Tenancy& tenancy, bool wide) {
  std::vector<Column> columns{{tenancy.by_tenant ? "TENANT" : "USER"}};
  const auto number = [&](const char* name) { columns.push_back({name, true}); };
  if (tenancy.by_tenant) number("GUARANTEE");
  const bool has_limits =
      std::any_of(tenancy.tenants.begin(), tenancy.tenants.end(),
                  [](const live::TenantView& each) { return !std::isnan(each.limit); });
  if (has_limits) number("LIMIT");
  for (const char* const name : {"HOLDS", "WAITS", "HAD", "DUE", "OF ITS DUE"}) number(name);
  if (wide) {
    for (const char* const name : {"LENT", "BORROWED", "RUN", "WAIT", "RHO"}) number(name);
  }
  number("USE");
  std::vector<std::vector<std::string>> rows;
  for (const live::TenantView& each : tenancy.tenants) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(indented(each, tenancy));
    if (tenancy.by_tenant) {
      row.push_back(each.guarantee > 0 ? fmt::format("{:.4g}", each.guarantee) : "");
    }
    if (has_limits) row.push_back(std::isnan(each.limit) ? "" : fmt::format("{:.4g}", each.limit));
    row.push_back(fmt::format("{:g}", each.gpus_held));
    row.push_back(fmt::format("{:g}", each.gpus_waiting));
    row.push_back(hours(each.had_gpu_s));
    row.push_back(hours(each.due_gpu_s));
    row.push_back(part(each.had_gpu_s, each.due_gpu_s));
    if (wide) {
      row.push_back(hours(each.lent_gpu_s));
      row.push_back(hours(each.borrowed_gpu_s));
      row.push_back(std::to_string(each.running));
      row.push_back(std::to_string(each.waiting));
      row.push_back(ratio(each.finish_time_ratio));
    }
    row.push_back(hours(each.use_gpu_s));
  }
  print_columns(columns, rows);
  fmt::print("HAD, DUE: GPU-hours of the last {}. USE: GPU-hours, half forgotten after {}{}.\n",
             text::human_time(seconds(tenancy.to - tenancy.from)),
             text::human_time(seconds(tenancy.half_life)),
             tenancy.use_by.empty() ? "" : fmt::format(", as {} counts it", tenancy.use_by));
  if (!tenancy.worst.empty()) {
    fmt::print("share error {}; Jain {:.2f}; worst off: {}, with {} of its due\n",
               text::human_share(tenancy.share_error), tenancy.jain, tenancy.worst,
               text::human_share(tenancy.worst_due));
  }
  for (const live::TenantLoan& loan : tenancy.loans) {
    constexpr double kWorthSaying = 360;
    if (loan.gpu_s < kWorthSaying) break;
    fmt::print("{} lent {} GPU-hours to {}\n", loan.from, hours(loan.gpu_s), loan.to);
  }
}

Result<int> tenants(const TenantsOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.output == "json") return print_answer(*client, "/v1/tenants");
  const auto said = client->get("/v1/tenants");
  if (!said) return tl::unexpected(said.error());
  const auto found = serve::read_tenancy(said->body);
  if (!found) return tl::unexpected(found.error());
  if (found->tenants.empty()) {
    fmt::print("Nobody has asked for a GPU yet.\n");
    return kDone;
  }
  print(*found, options.output == "wide");
  return kDone;
}

}  // namespace

void register_tenants(Program& program) {
  CLI::App& command =
      program.command(Purpose::jobs, "tenants",
                      "Show who had how much of its due: tenants, or users where there are none");
  const auto options = std::make_shared<TenantsOptions>();
  add_output(command, options->output, {"table", "wide", "json"});
  options->service.add_to(command);
  add_example(command, "almanac tenants -o wide");
  program.on(command, [options] { return tenants(*options); });
}

}  // namespace almanac::cli
