// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <nlohmann/json.hpp>

#include "cli/advice_text.h"

namespace almanac::cli {
namespace {

using advice::Advice;
using advice::Change;
using Json = nlohmann::ordered_json;

Json as_json(const Change& change);
Json as_json(const advice::Outcome& outcome);
Json as_json(const advice::Group& group);
Json as_json(const advice::Fit& fit);

template <typename Rows>
Json list_of(const Rows& rows) {
  Json made = Json::array();
  for (const auto& row : rows) made.push_back(as_json(row));
  return made;
}

Json as_json(const advice::Figures& figures) {
  return {{"avg_wait_s", figures.avg_wait_s},
          {"p90_wait_s", figures.p90_wait_s},
          {"p99_wait_s", figures.p99_wait_s},
          {"avg_jct_s", figures.avg_jct_s},
          {"p99_jct_s", figures.p99_jct_s}};
}

Json as_json(const advice::Gain& gain) {
  return {{"times", std::isfinite(gain.times) ? Json(gain.times) : Json()},
          {"from", gain.sure ? Json(gain.sure->from) : Json()},
          {"to", gain.sure ? Json(gain.sure->to) : Json()}};
}

Json as_json(const advice::Group& group) {
  return {{"who", group.who},
          {"jobs", group.jobs},
          {"before_s", group.before_s},
          {"after_s", group.after_s}};
}

Json as_json(const advice::Fit& fit) {
  return {{"who", fit.who},
          {"jobs", fit.jobs},
          {"jobs_that_waited_10_min", fit.waited},
          {"within_10_min", fit.near},
          {"within_10_percent", fit.tenth},
          {"recorded_wait_s", fit.recorded_s},
          {"simulated_wait_s", fit.simulated_s}};
}

Json as_json(const advice::Worth& worth) {
  return {{"nodes", worth.nodes}, {"nodes_needed", worth.needed ? Json(*worth.needed) : Json()}};
}

Json as_json(const Change& change) {
  Json made{{"settings", Json::array()}};
  for (std::size_t at = 0; at < change.settings.size(); ++at) {
    made["settings"].push_back({{"name", name_of(change.settings[at])},
                                {"today", change.today[at]},
                                {"value", change.settings[at].value}});
  }
  made["lines"] = Json::array();
  for (const advice::Line& line : change.lines) {
    made["lines"].push_back({{"where", line.where}, {"text", line.text}});
  }
  made["changes_nothing"] = change.is_today;
  made["remarks"] = change.remarks;
  made["jobs_compared"] = change.jobs;
  made["jobs_that_would_never_start"] = change.never;
  made["jobs_that_would_start_newly"] = change.newly;
  made["before"] = as_json(change.before);
  made["after"] = as_json(change.after);
  made["wait_shorter"] = as_json(change.wait);
  made["jct_shorter"] = as_json(change.jct);
  made["users_wait_shorter"] = as_json(change.users);
  made["groups"] = list_of(change.groups);
  made["losers"] = list_of(change.losers);
  made["worth"] = change.worth ? as_json(*change.worth) : Json();
  return made;
}

Json as_json(const advice::KnobSearch& search) {
  return {{"settings_tried", search.knobs},
          {"values_tried", search.candidates},
          {"simulations", search.simulations},
          {"jobs_simulated", search.jobs},
          {"changes", list_of(search.changes)},
          {"together", search.together ? as_json(*search.together) : Json()}};
}

Json as_json(const advice::Reproduction& reproduction) {
  Json made = as_json(reproduction.all);
  made["partitions"] = list_of(reproduction.partitions);
  made["sizes"] = list_of(reproduction.sizes);
  made["phase"] = Json();
  if (reproduction.phase) {
    made["phase"] = {{"shift_s", reproduction.phase->shift_s},
                     {"changed", reproduction.phase->changed},
                     {"simulated_wait_s", reproduction.phase->simulated_s}};
  }
  made["causes"] = Json::object();
  for (const auto& [cause, jobs] : reproduction.causes) {
    made["causes"][std::string(to_string(cause))] = jobs;
  }
  made["missed"] = Json::array();
  for (const advice::Missed& each : reproduction.most) {
    made["missed"].push_back({{"job", each.job},
                              {"recorded_wait_s", each.recorded_s},
                              {"simulated_wait_s", each.simulated_s},
                              {"cause", to_string(each.cause)}});
  }
  return made;
}

Json as_json(const advice::Outcome& outcome) {
  Json made = as_json(outcome.figures);
  made["policy"] = outcome.policy;
  made["wait_shorter"] = as_json(outcome.wait);
  made["jct_shorter"] = as_json(outcome.jct);
  made["summary"] = outcome.summary;
  made["hardest_hit"] = outcome.hardest_hit ? as_json(*outcome.hardest_hit) : Json();
  made["sizes"] = list_of(outcome.sizes);
  made["losers"] = list_of(outcome.losers);
  return made;
}

template <typename Value>
Json if_any(const std::optional<Value>& value) {
  return value ? as_json(*value) : Json();
}

}  // namespace

std::string advice_json(const Advice& advice) {
  Json document{{"since_s", seconds(advice.since)},
                {"until_s", seconds(advice.until)},
                {"jobs", advice.jobs},
                {"users", advice.users},
                {"days", advice.days},
                {"jobs_left_out", advice.never},
                {"jobs_never_ran", advice.never_ran},
                {"waits_from", advice.knows_eligible ? "eligible" : "submission"},
                {"knows_site", advice.knows_site},
                {"reproduces", advice.reproduces},
                {"quotas_played", advice.quotas ? Json(*advice.quotas) : Json()}};
  document["real"] = if_any(advice.real);
  document["stock"] = as_json(advice.stock);
  document["reproduction"] = if_any(advice.reproduction);
  document["policies"] = list_of(advice.outcomes);
  document["best"] = advice.best ? Json(advice.outcomes[*advice.best].policy) : Json();
  document["what_if"] = if_any(advice.what_if);
  document["knobs"] = if_any(advice.knobs);
  document["recommendation"] = advice.recommendation;
  document["assumptions"] = advice.assumptions;
  document["cautions"] = advice.cautions;
  return document.dump(2);
}

}  // namespace almanac::cli
