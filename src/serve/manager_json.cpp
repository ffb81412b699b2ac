// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {

void list(auto& fields, Is<service::LeverView> auto& of) {
  fields.field("name", of.name);
  fields.field("how", std::string(to_string(of.how)));
  fields.sparse("rests", of.rests);
  fields.field("wanted", of.wanted);
  fields.field("next", of.next);
  fields.field("done", of.done);
  fields.field("failed", of.failed);
  fields.field("refused", of.refused);
}

void list(auto& fields, Is<service::CanaryView> auto& of) {
  fields.field("partitions", of.partitions);
  fields.sparse("rests", of.rests);
  fields.sparse("retreat", of.retreat);
  fields.field("waits", of.waits);
  fields.field("ended", of.ended);
  fields.field("window_s", of.window);
  fields.field("wait_s", of.wait_s);
  fields.field("failed", of.failed);
  fields.sparse("most_wait_s", of.most_wait_s);
  fields.sparse("most_failed", of.most_failed);
}

void list(auto& fields, Is<service::AgentView> auto& of) {
  fields.field("node", of.node);
  fields.field("load", of.load);
  fields.sparse("cpu_pressure", of.cpu_pressure);
  fields.sparse("memory_pressure", of.memory_pressure);
  fields.sparse("io_pressure", of.io_pressure);
  fields.sparse("bandwidth_gbs", of.bandwidth_gbs);
  fields.field("jobs", of.jobs);
  fields.field("held", of.held);
}

void list(auto& fields, Is<service::Manager> auto& of) {
  fields.field("name", of.name);
  fields.field("cluster", of.cluster);
  fields.field("version", of.version);
  fields.field("way", of.way);
  fields.sparse("trouble", of.trouble);
  fields.field("excluded", of.excluded);
  fields.formerly("aside", of.excluded);
  fields.field("round_s", of.round_s);
  fields.field("news_s", of.news_s);
  fields.field("changes_per_s", of.changes_per_s);
  fields.field("levers", of.levers);
  fields.sparse("canary", of.canary);
  fields.field("agents", of.agents);
}

std::string to_json(const service::Manager& manager) { return dumped(written(manager)); }

}  // namespace almanac::serve
