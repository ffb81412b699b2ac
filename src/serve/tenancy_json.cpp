// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {
namespace {

template <typename Fields, typename Of>
void list_tenancy(Fields& fields, Of& of) {
  using Record = std::remove_const_t<Of>;
  if constexpr (std::is_same_v<Record, live::TenantView>) {
    fields.field("name", of.name);
    fields.sparse("parent", of.parent);
    fields.sparse("guarantee", of.guarantee);
    fields.field("running", of.running);
    fields.field("waiting", of.waiting);
    fields.field("gpus_held", of.gpus_held);
    fields.field("gpus_waiting", of.gpus_waiting);
    fields.field("had_gpu_s", of.had_gpu_s);
    fields.field("due_gpu_s", of.due_gpu_s);
    fields.field("lent_gpu_s", of.lent_gpu_s);
    fields.field("borrowed_gpu_s", of.borrowed_gpu_s);
    fields.sparse("finish_time_ratio", of.finish_time_ratio);
    fields.field("use_gpu_s", of.use_gpu_s);
  } else if constexpr (std::is_same_v<Record, live::TenantLoan>) {
    fields.field("from", of.from);
    fields.field("to", of.to);
    fields.field("gpu_s", of.gpu_s);
  } else {
    fields.field("by_tenant", of.by_tenant);
    fields.field("from_s", of.from);
    fields.field("to_s", of.to);
    fields.field("half_life_s", of.half_life);
    fields.sparse("use_by", of.use_by);
    fields.field("share_error", of.share_error);
    fields.sparse("jain_due", of.jain);
    fields.sparse("avg_finish_time_ratio", of.finish_time_ratio);
    fields.sparse("unfair_jobs", of.unfair_jobs);
    fields.sparse("worst", of.worst);
    fields.field("worst_due", of.worst_due);
  }
}

template <typename Record>
Json rows_of(const std::vector<Record>& records) {
  Json made = Json::array();
  for (const Record& each : records) {
    Writer fields;
    list_tenancy(fields, each);
    made.push_back(fields.take());
  }
  return made;
}

template <typename Record>
std::vector<Record> read_rows(const Json& from) {
  std::vector<Record> made;
  for (const Json& each : from) {
    Reader reader(each);
    list_tenancy(reader, made.emplace_back());
  }
  return made;
}

}  // namespace

std::string to_json(const live::Tenancy& tenancy) {
  Writer fields;
  list_tenancy(fields, tenancy);
  Json out = fields.take();
  out["tenants"] = rows_of(tenancy.tenants);
  out["loans"] = rows_of(tenancy.loans);
  return dumped(out);
}

Result<live::Tenancy> read_tenancy(std::string_view text) {
  return read_json(text, [](const Json& json) {
    live::Tenancy made;
    Reader reader(json);
    list_tenancy(reader, made);
    made.tenants = read_rows<live::TenantView>(json.value("tenants", Json::array()));
    made.loans = read_rows<live::TenantLoan>(json.value("loans", Json::array()));
    return made;
  });
}

}  // namespace almanac::serve
