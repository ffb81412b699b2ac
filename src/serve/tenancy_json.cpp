// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {

void list(auto& fields, Is<service::TenantView> auto& of) {
  fields.field("name", of.name);
  fields.sparse("parent", of.parent);
  fields.sparse("guarantee", of.guarantee);
  fields.sparse("limit", of.limit);
  fields.field("running", of.running);
  fields.field("waiting", of.waiting);
  fields.deprecated("gpus_held", of.gpus_held);
  fields.field("gpus_allocated", of.gpus_held);
  fields.field("gpus_waiting", of.gpus_waiting);
  fields.field("used_gpu_s", of.used_gpu_s);
  fields.field("fair_share_gpu_s", of.fair_share_gpu_s);
  fields.formerly("had_gpu_s", of.used_gpu_s);
  fields.formerly("due_gpu_s", of.fair_share_gpu_s);
  fields.field("lent_gpu_s", of.lent_gpu_s);
  fields.field("borrowed_gpu_s", of.borrowed_gpu_s);
  fields.sparse("finish_time_ratio", of.finish_time_ratio);
  fields.field("use_gpu_s", of.use_gpu_s);
}

void list(auto& fields, Is<service::TenantLoan> auto& of) {
  fields.field("from", of.from);
  fields.field("to", of.to);
  fields.field("gpu_s", of.gpu_s);
}

void list(auto& fields, Is<service::Tenancy> auto& of) {
  fields.field("by_tenant", of.by_tenant);
  fields.field("from_s", of.from);
  fields.field("to_s", of.to);
  fields.field("half_life_s", of.half_life);
  fields.deprecated("use_by", of.use_by);
  fields.sparse("usage_source", of.use_by);
  fields.field("share_error", of.share_error);
  fields.formerly("jain_due", of.jain);
  fields.sparse("jain_fair_share", of.jain);
  fields.sparse("avg_finish_time_ratio", of.finish_time_ratio);
  fields.sparse("unfair_jobs", of.unfair_jobs);
  fields.sparse("worst", of.worst);
  fields.formerly("worst_due", of.worst_fair_share);
  fields.field("worst_fair_share", of.worst_fair_share);
  fields.field("tenants", of.tenants);
  fields.field("loans", of.loans);
}

std::string to_json(const service::Tenancy& tenancy) { return dumped(written(tenancy)); }

Result<service::Tenancy> read_tenancy(std::string_view text) {
  return read_json(text, read_record<service::Tenancy>);
}

}  // namespace almanac::serve
