// SPDX-License-Identifier: Apache-2.0
#include "serve/fields.h"
#include "serve/view_json.h"

namespace almanac::serve {

void list(auto& fields, Is<sim::GpusAt> auto& of) {
  fields.field("node", of.node);
  fields.field("gpus", of.gpus);
}

void list(auto& fields, Is<sim::AdvisedMove> auto& of) {
  fields.field("job_id", of.job);
  fields.field("lost_gpu_s", of.lost_gpu_s);
  fields.field("from", of.from);
  fields.field("to", of.to);
}

void list(auto& fields, Is<sim::AdvisedStep> auto& of) {
  fields.field("job_id", of.job);
  fields.sparse("vc", of.vc);
  fields.field("gpus", of.gpus);
  fields.field("lost_gpu_s", of.lost_gpu_s);
  fields.field("is_proven", of.is_proven);
  fields.field("place", of.place);
  fields.field("moves", of.moves);
}

void list(auto& fields, Is<sim::Compactions> auto& of) {
  fields.field("at_s", of.at);
  fields.field("free_gpus", of.free_gpus);
  fields.field("jobs_running", of.running);
  fields.field("jobs_staying", of.staying);
  fields.field("jobs_waiting", of.waiting);
  fields.deprecated("jobs_left_out", of.left_out);
  fields.deprecated("jobs_left_alone", of.left_alone);
  fields.field("jobs_not_considered", of.left_out);
  fields.sparse("jobs_excluded", of.left_alone);
  fields.field("fit", of.fit);
  fields.deprecated("given_up", of.given_up);
  fields.field("undecided", of.given_up);
  fields.field("steps", of.steps);
}

std::string to_json(const sim::Compactions& compactions) { return dumped(written(compactions)); }

Result<sim::Compactions> read_compactions(std::string_view text) {
  return read_json(text, read_record<sim::Compactions>);
}

}  // namespace almanac::serve
