// SPDX-License-Identifier: Apache-2.0

/// \file
/// The fields of all messages between the service and the gateway, in the order in which they are
/// written, and the words of the enumerations.
#pragma once

#include <array>
#include <string_view>

#include "slurm/wire.h"

namespace almanac::slurm {

template <class Visit>
void fields(const Held*, Visit visit) {
  visit("node", &Held::node);
  visit("gpus", &Held::gpus);
  visit("gpu_count", &Held::gpu_count);
  visit("shards", &Held::shards);
  visit("mps", &Held::mps);
  visit("cpus", &Held::cpus);
  visit("memory_gb", &Held::memory_gb);
}

template <class Visit>
void fields(const Job*, Visit visit) {
  visit("number", &Job::number);
  visit("array", &Job::array);
  visit("tasks", &Job::tasks);
  visit("task", &Job::task);
  visit("het", &Job::het);
  visit("name", &Job::name);
  visit("user", &Job::user);
  visit("uid", &Job::uid);
  visit("gid", &Job::gid);
  visit("account", &Job::account);
  visit("partition", &Job::partition);
  visit("qos", &Job::qos);
  visit("reservation", &Job::reservation);
  visit("licences", &Job::licences);
  visit("dependency", &Job::dependency);
  visit("comment", &Job::comment);
  visit("out", &Job::out);
  visit("err", &Job::err);
  visit("state", &Job::state);
  visit("outcome", &Job::outcome);
  visit("reason", &Job::reason);
  visit("held", &Job::held);
  visit("requeueable", &Job::requeueable);
  visit("restarts", &Job::restarts);
  visit("priority", &Job::priority);
  visit("own_priority", &Job::own_priority);
  visit("site_factor", &Job::site_factor);
  visit("submit", &Job::submit);
  visit("eligible", &Job::eligible);
  visit("start", &Job::start);
  visit("end", &Job::end);
  visit("ran", &Job::ran);
  visit("limit", &Job::limit);
  visit("nodes", &Job::nodes);
  visit("gpus", &Job::gpus);
  visit("gpus_per_node", &Job::gpus_per_node);
  visit("gpu_type", &Job::gpu_type);
  visit("shards", &Job::shards);
  visit("mps", &Job::mps);
  visit("cpus", &Job::cpus);
  visit("memory_gb", &Job::memory_gb);
  visit("features", &Job::features);
  visit("required_nodes", &Job::required_nodes);
  visit("excluded_nodes", &Job::excluded_nodes);
  visit("exclusive", &Job::exclusive);
  visit("holds", &Job::holds);
}

template <class Visit>
void fields(const text::TypedGpus*, Visit visit) {
  visit("type", &text::TypedGpus::type);
  visit("count", &text::TypedGpus::count);
}

template <class Visit>
void fields(const Node*, Visit visit) {
  visit("name", &Node::name);
  visit("gpu_type", &Node::gpu_type);
  visit("gpus", &Node::gpus);
  visit("types", &Node::types);
  visit("shards", &Node::shards);
  visit("mps", &Node::mps);
  visit("cpus", &Node::cpus);
  visit("memory_gb", &Node::memory_gb);
  visit("partitions", &Node::partitions);
  visit("switches", &Node::switches);
  visit("features", &Node::features);
  visit("weight", &Node::weight);
  visit("power", &Node::power);
  visit("drained", &Node::drained);
  visit("busy", &Node::busy);
  visit("reserved", &Node::reserved);
  visit("reason", &Node::reason);
}

template <class Visit>
void fields(const Partition*, Visit visit) {
  visit("name", &Partition::name);
  visit("nodes", &Partition::nodes);
  visit("up", &Partition::up);
  visit("is_default", &Partition::is_default);
  visit("priority_tier", &Partition::priority_tier);
  visit("max_time", &Partition::max_time);
  visit("oversubscribe", &Partition::oversubscribe);
}

template <class Visit>
void fields(const Reservation*, Visit visit) {
  visit("name", &Reservation::name);
  visit("nodes", &Reservation::nodes);
  visit("start", &Reservation::start);
  visit("end", &Reservation::end);
  visit("users", &Reservation::users);
  visit("accounts", &Reservation::accounts);
}

template <class Visit>
void fields(const Licence*, Visit visit) {
  visit("name", &Licence::name);
  visit("total", &Licence::total);
  visit("used", &Licence::used);
}

template <class Visit>
void fields(const Quota*, Visit visit) {
  visit("qos", &Quota::qos);
  visit("account", &Quota::account);
  visit("user", &Quota::user);
  visit("partition", &Quota::partition);
  visit("gpus", &Quota::gpus);
}

template <class Visit>
void fields(const Association*, Visit visit) {
  visit("account", &Association::account);
  visit("user", &Association::user);
  visit("partition", &Association::partition);
  visit("parent", &Association::parent);
  visit("shares", &Association::shares);
  visit("use", &Association::use);
}

template <class Visit>
void fields(const QosPriority*, Visit visit) {
  visit("qos", &QosPriority::qos);
  visit("priority", &QosPriority::priority);
}

template <class Visit>
void fields(const Limits*, Visit visit) {
  visit("quotas", &Limits::quotas);
  visit("parents", &Limits::parents);
  visit("accounts", &Limits::accounts);
  visit("qos_priorities", &Limits::qos_priorities);
}

template <class Visit>
void fields(const Site*, Visit visit) {
  visit("version", &Site::version);
  visit("cluster", &Site::cluster);
  visit("controller", &Site::controller);
  visit("parameters", &Site::parameters);
  visit("federated", &Site::federated);
  visit("skew", &Site::skew);
  visit("uid", &Site::uid);
  visit("is_operator", &Site::is_operator);
}

template <class Visit>
void fields(const News*, Visit visit) {
  visit("at", &News::at);
  visit("whole", &News::whole);
  visit("jobs", &News::jobs);
  visit("gone", &News::gone);
  visit("nodes", &News::nodes);
  visit("lost_nodes", &News::lost_nodes);
  visit("partitions", &News::partitions);
  visit("reservations", &News::reservations);
  visit("licences", &News::licences);
  visit("limits", &News::limits);
  visit("associations", &News::associations);
}

template <class Visit>
void fields(const JobChange*, Visit visit) {
  visit("job", &JobChange::job);
  visit("site_factor", &JobChange::site_factor);
  visit("priority", &JobChange::priority);
  visit("held", &JobChange::held);
  visit("of_user", &JobChange::of_user);
  visit("begins", &JobChange::begins);
  visit("required_nodes", &JobChange::required_nodes);
  visit("comment", &JobChange::comment);
  visit("shards", &JobChange::shards);
}

template <class Visit>
void fields(const Request*, Visit visit) {
  visit("v", &Request::v);
  visit("id", &Request::id);
  visit("ask", &Request::ask);
  visit("whole", &Request::whole);
  visit("changes", &Request::changes);
  visit("job", &Request::job);
  visit("fate", &Request::fate);
  visit("nodes", &Request::nodes);
  visit("on", &Request::on);
  visit("weight", &Request::weight);
  visit("from", &Request::from);
  visit("until", &Request::until);
}

template <class Visit>
void fields(const Fault*, Visit visit) {
  visit("code", &Fault::code);
  visit("message", &Fault::message);
  visit("hint", &Fault::hint);
}

template <class Visit>
void fields(const Hello*, Visit visit) {
  visit("version", &Hello::version);
  visit("library", &Hello::library);
}

template <class Visit>
void fields(const Answer*, Visit visit) {
  visit("v", &Answer::v);
  visit("id", &Answer::id);
  visit("more", &Answer::more);
  visit("error", &Answer::error);
  visit("hello", &Answer::hello);
  visit("site", &Answer::site);
  visit("news", &Answer::news);
  visit("done", &Answer::done);
  visit("ended", &Answer::ended);
}

inline constexpr auto words(State) {
  return std::to_array<std::string_view>(
      {"pending", "configuring", "running", "suspended", "completing", "ended"});
}
inline constexpr auto words(trace::JobState) {
  return std::to_array<std::string_view>({"unknown", "pending", "running", "completed", "failed",
                                          "cancelled", "timeout", "node_fail", "preempted"});
}
inline constexpr auto words(Power) {
  return std::to_array<std::string_view>(
      {"on", "to_power_down", "powering_down", "off", "powering_up"});
}
inline constexpr auto words(Fate) { return kFateWords; }
inline constexpr auto words(Ask) {
  return std::to_array<std::string_view>(
      {"hello", "site", "news", "change", "end", "power", "weigh", "watch", "ended"});
}
inline constexpr auto words(Code) {
  return std::to_array<std::string_view>(
      {"usage", "invalid", "corrupt", "not_found", "conflict", "unavailable", "unsupported"});
}

/// A visitor that does nothing.
struct Blind {
  void operator()(std::string_view, auto) const {}
};
template <class T>
concept Record = requires(const T* record) {
  fields(record, Blind{});
};
template <class T>
concept Worded = requires(T value) {
  words(value);
};

}  // namespace almanac::slurm
