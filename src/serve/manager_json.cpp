// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {

void list(auto& fields, Is<service::LeverView> auto& of) {
  fields.field("name", of.name);
  const std::string mode(to_string(of.how));
  fields.field("mode", mode);
  fields.sparse("paused_reason", of.rests);
  fields.field("changes_due", of.wanted);
  fields.field("next_changes", of.next);
  fields.field("changes_made", of.done);
  fields.field("changes_failed", of.failed);
  fields.field("changes_refused", of.refused);
  fields.deprecated("how", mode);
  fields.deprecated("rests", of.rests);
  fields.deprecated("wanted", of.wanted);
  fields.deprecated("next", of.next);
  fields.deprecated("done", of.done);
  fields.deprecated("failed", of.failed);
  fields.deprecated("refused", of.refused);
}

void list(auto& fields, Is<service::CanaryView> auto& of) {
  fields.field("partitions", of.partitions);
  fields.sparse("waiting_reason", of.rests);
  fields.sparse("rollback_reason", of.retreat);
  fields.field("jobs_waited", of.waits);
  fields.field("jobs_ended", of.ended);
  fields.field("window_s", of.window);
  fields.field("avg_wait_s", of.wait_s);
  fields.field("failed_fraction", of.failed);
  fields.sparse("max_avg_wait_s", of.most_wait_s);
  fields.sparse("max_failed_fraction", of.most_failed);
  fields.deprecated("rests", of.rests);
  fields.deprecated("retreat", of.retreat);
  fields.deprecated("waits", of.waits);
  fields.deprecated("ended", of.ended);
  fields.deprecated("wait_s", of.wait_s);
  fields.deprecated("failed", of.failed);
  fields.deprecated("most_wait_s", of.most_wait_s);
  fields.deprecated("most_failed", of.most_failed);
}

void list(auto& fields, Is<service::AgentView> auto& of) {
  fields.field("node", of.node);
  fields.field("load", of.load);
  fields.sparse("cpu_pressure", of.cpu_pressure);
  fields.sparse("memory_pressure", of.memory_pressure);
  fields.sparse("io_pressure", of.io_pressure);
  fields.sparse("bandwidth_gbs", of.bandwidth_gbs);
  fields.field("jobs", of.jobs);
  fields.field("jobs_confined", of.held);
  fields.deprecated("held", of.held);
}

void list(auto& fields, Is<service::Manager> auto& of) {
  fields.field("name", of.name);
  fields.field("cluster", of.cluster);
  fields.field("version", of.version);
  fields.field("connection", of.way);
  fields.sparse("error", of.trouble);
  fields.field("jobs_excluded", of.excluded);
  fields.field("decision_s", of.round_s);
  fields.field("response_s", of.news_s);
  fields.deprecated("way", of.way);
  fields.deprecated("trouble", of.trouble);
  fields.deprecated("excluded", of.excluded);
  fields.deprecated("round_s", of.round_s);
  fields.deprecated("news_s", of.news_s);
  fields.field("changes_per_s", of.changes_per_s);
  fields.field("levers", of.levers);
  fields.sparse("canary", of.canary);
  fields.field("agents", of.agents);
}

std::string to_json(const service::Manager& manager) { return dumped(written(manager)); }

}  // namespace almanac::serve
