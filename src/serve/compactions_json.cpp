// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {
namespace {

template <typename Fields, typename Of>
void list_compactions(Fields& fields, Of& of) {
  using Record = std::remove_const_t<Of>;
  if constexpr (std::is_same_v<Record, sim::GpusAt>) {
    fields.field("node", of.node);
    fields.field("gpus", of.gpus);
  } else if constexpr (std::is_same_v<Record, sim::AdvisedMove>) {
    fields.field("job_id", of.job);
    fields.field("lost_gpu_s", of.lost_gpu_s);
  } else if constexpr (std::is_same_v<Record, sim::AdvisedStep>) {
    fields.field("job_id", of.job);
    fields.sparse("vc", of.vc);
    fields.field("gpus", of.gpus);
    fields.field("lost_gpu_s", of.lost_gpu_s);
    fields.field("is_proven", of.is_proven);
  } else {
    fields.field("at_s", of.at);
    fields.field("free_gpus", of.free_gpus);
    fields.field("jobs_running", of.running);
    fields.field("jobs_staying", of.staying);
    fields.field("jobs_waiting", of.waiting);
    fields.field("jobs_left_out", of.left_out);
    fields.sparse("jobs_left_alone", of.left_alone);
    fields.field("fit", of.fit);
    fields.field("given_up", of.given_up);
  }
}

template <typename Record>
Json object_of(const Record& record) {
  Writer fields;
  list_compactions(fields, record);
  return fields.take();
}

Json rows_of(const std::vector<sim::GpusAt>& places) {
  Json made = Json::array();
  for (const sim::GpusAt& each : places) made.push_back(object_of(each));
  return made;
}

Json object_of(const sim::AdvisedStep& step) {
  Writer fields;
  list_compactions(fields, step);
  Json made = fields.take();
  made["place"] = rows_of(step.place);
  made["moves"] = Json::array();
  for (const sim::AdvisedMove& each : step.moves) {
    Json move = object_of(each);
    move["from"] = rows_of(each.from);
    move["to"] = rows_of(each.to);
    made["moves"].push_back(std::move(move));
  }
  return made;
}

template <typename Record>
void read(const Json& from, Record& record) {
  Reader reader(from);
  list_compactions(reader, record);
}

std::vector<sim::GpusAt> read_places(const Json& from) {
  std::vector<sim::GpusAt> made;
  for (const Json& each : from) read(each, made.emplace_back());
  return made;
}

sim::AdvisedStep read_step(const Json& from) {
  sim::AdvisedStep made;
  read(from, made);
  made.place = read_places(from.value("place", Json::array()));
  for (const Json& each : from.value("moves", Json::array())) {
    sim::AdvisedMove& move = made.moves.emplace_back();
    read(each, move);
    move.from = read_places(each.value("from", Json::array()));
    move.to = read_places(each.value("to", Json::array()));
  }
  return made;
}

}  // namespace

std::string to_json(const sim::Compactions& compactions) {
  Json made = object_of(compactions);
  made["steps"] = Json::array();
  for (const sim::AdvisedStep& each : compactions.steps) made["steps"].push_back(object_of(each));
  return dumped(made);
}

Result<sim::Compactions> read_compactions(std::string_view text) {
  return read_json(text, [](const Json& json) {
    sim::Compactions made;
    read(json, made);
    for (const Json& each : json.value("steps", Json::array())) {
      made.steps.push_back(read_step(each));
    }
    return made;
  });
}

}  // namespace almanac::serve
