// SPDX-License-Identifier: Apache-2.0

#include "inference/loss.h"

namespace almanac::inference {

Loss loss_of(const Request& request, const Outcome& outcome, const Objective& objective) {
  if (outcome.finish == kNever) return outcome.replica < 0 ? Loss::turned_away : Loss::unfinished;
  const Micros first = outcome.first_token - request.arrival;
  const Micros rest =
      request.output > 1 ? (outcome.finish - outcome.first_token) / (request.output - 1) : 0;
  const bool first_is_late = first > objective.first_token;
  const bool tokens_are_late = rest > objective.per_token;
  const bool end_is_late = outcome.finish - request.arrival > objective.end_to_end;
  if (!first_is_late && !tokens_are_late && !end_is_late) return Loss::none;
  if (outcome.preemptions > 0) return Loss::sent_back;
  // If only the end is late, the longer part counts.
  const bool decode_is_longer = outcome.finish - outcome.first_token > first;
  if (!first_is_late && (tokens_are_late || decode_is_longer)) return Loss::slow_tokens;
  const Micros waited = outcome.start - request.arrival;
  return waited > outcome.first_token - outcome.start ? Loss::waited : Loss::long_prefill;
}

std::string_view to_string(Loss loss) {
  switch (loss) {
    case Loss::none:
      return "met the SLO";
    case Loss::turned_away:
      return "turned away";
    case Loss::unfinished:
      return "not finished when the run ended";
    case Loss::waited:
      return "waited for a replica";
    case Loss::long_prefill:
      return "slow prefill";
    case Loss::sent_back:
      return "preempted because memory ran out";
    case Loss::slow_tokens:
      return "slow decode";
  }
  return "";
}

}  // namespace almanac::inference
