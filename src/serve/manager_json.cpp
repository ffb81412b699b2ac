// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {
namespace {

Json json_of(const live::LeverView& lever) {
  Writer out;
  out.field("name", lever.name);
  out.field("how", lever.how);
  out.sparse("rests", lever.rests);
  out.field("wanted", lever.wanted);
  out.field("next", lever.next);
  out.field("done", lever.done);
  out.field("failed", lever.failed);
  out.field("refused", lever.refused);
  return out.take();
}

Json json_of(const live::CanaryView& canary) {
  Writer out;
  out.field("partitions", canary.partitions);
  out.sparse("rests", canary.rests);
  out.sparse("retreat", canary.retreat);
  out.field("waits", canary.waits);
  out.field("ended", canary.ended);
  out.field("window_s", canary.window);
  out.field("wait_s", canary.wait_s);
  out.field("failed", canary.failed);
  out.sparse("most_wait_s", canary.most_wait_s);
  out.sparse("most_failed", canary.most_failed);
  return out.take();
}

Json json_of(const live::AgentView& agent) {
  Writer out;
  out.field("node", agent.node);
  out.field("load", agent.load);
  out.sparse("cpu_pressure", agent.cpu_pressure);
  out.sparse("memory_pressure", agent.memory_pressure);
  out.sparse("io_pressure", agent.io_pressure);
  out.sparse("bandwidth_gbs", agent.bandwidth_gbs);
  out.field("jobs", agent.jobs);
  out.field("held", agent.held);
  return out.take();
}

template <typename Of>
Json list_of(const std::vector<Of>& all) {
  Json out = Json::array();
  for (const Of& each : all) out.push_back(json_of(each));
  return out;
}

}  // namespace

std::string to_json(const live::Manager& manager) {
  Writer fields;
  fields.field("name", manager.name);
  fields.field("cluster", manager.cluster);
  fields.field("version", manager.version);
  fields.field("way", manager.way);
  fields.sparse("trouble", manager.trouble);
  fields.field("aside", manager.aside);
  fields.field("round_s", manager.round_s);
  fields.field("news_s", manager.news_s);
  fields.field("changes_per_s", manager.changes_per_s);
  Json out = fields.take();
  out["levers"] = list_of(manager.levers);
  if (manager.canary) out["canary"] = json_of(*manager.canary);
  out["agents"] = list_of(manager.agents);
  return dumped(out);
}

}  // namespace almanac::serve
