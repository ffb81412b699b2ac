// SPDX-License-Identifier: Apache-2.0
#include "shepherd/record.h"

#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "shepherd/folder.h"

namespace almanac::shepherd {

NLOHMANN_JSON_SERIALIZE_ENUM(Cause, {{Cause::by_itself, "by_itself"},
                                     {Cause::told, "told"},
                                     {Cause::time_limit, "time_limit"},
                                     {Cause::memory, "memory"},
                                     {Cause::cannot_start, "cannot_start"}})

namespace {

using nlohmann::json;

Time time_of(std::int64_t milliseconds) { return Time{Duration{milliseconds}}; }
std::int64_t milliseconds(Time time) { return time.time_since_epoch().count(); }

json milliseconds(Duration length) { return length == kNoDuration ? json() : json(length.count()); }
Duration length_of(const json& milliseconds) {
  return milliseconds.is_null() ? kNoDuration : Duration{milliseconds.get<std::int64_t>()};
}

template <typename T>
json optional(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

template <typename T>
void take(const json& from, const char* key, std::optional<T>& to) {
  const json& value = from.at(key);
  to = value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

json of(const Identity& identity) {
  return {{"process", identity.process}, {"birth_ticks", identity.birth}};
}

void read(const json& from, Identity& to) {
  from.at("process").get_to(to.process);
  from.at("birth_ticks").get_to(to.birth);
}

void read(const json& from, Spec& to) {
  from.at("id").get_to(to.id);
  from.at("argv").get_to(to.argv);
  from.at("script").get_to(to.script);
  from.at("environment").get_to(to.environment);
  from.at("directory").get_to(to.directory);
  from.at("out").get_to(to.out);
  from.at("err").get_to(to.err);
  from.at("append").get_to(to.append);
  from.at("log_limit_gb").get_to(to.log_limit_gb);
  from.at("cores").get_to(to.cores);
  take(from, "cpus", to.cpus);
  take(from, "memory_gb", to.memory_gb);
  // A service of an earlier release, which starts this one, does not say.
  if (from.contains("io_mbs")) take(from, "io_mbs", to.io_mbs);
  to.time_limit = length_of(from.at("time_limit_ms"));
  to.grace = Duration{from.at("grace_ms").get<std::int64_t>()};
  if (from.contains("signal")) {
    from.at("signal").get_to(to.signal);
    to.signal_before = Duration{from.at("signal_before_ms").get<std::int64_t>()};
    from.at("signal_shell").get_to(to.signal_shell);
  }
  if (from.contains("open_files")) take(from, "open_files", to.open_files);
  if (from.contains("umask")) from.at("umask").get_to(to.umask);
  if (from.contains("resource_limits")) from.at("resource_limits").get_to(to.resource_limits);
  if (from.contains("user_has_name")) from.at("user_has_name").get_to(to.user_has_name);
  take(from, "uid", to.uid);
  take(from, "gid", to.gid);
}

void read(const json& from, Exit& to) {
  from.at("status").get_to(to.ending.status);
  from.at("signal").get_to(to.ending.signal);
  from.at("cause").get_to(to.cause);
  from.at("message").get_to(to.message);
  to.start = time_of(from.at("start_ms"));
  to.end = time_of(from.at("end_ms"));
  to.ran = Duration{from.at("ran_ms").get<std::int64_t>()};
  from.at("cpu_s").get_to(to.usage.cpu_s);
  from.at("read_gb").get_to(to.usage.read_gb);
  from.at("written_gb").get_to(to.usage.written_gb);
  from.at("memory_gb").get_to(to.usage.memory_gb);
  from.at("log_dropped").get_to(to.log_dropped);
}

void read(const json& from, Started& to) {
  read(from.at("command"), to.command);
  read(from.at("shepherd"), to.shepherd);
  from.at("boot").get_to(to.boot);
  to.start = time_of(from.at("start_ms"));
  to.since_boot = Duration{from.at("since_boot_ms").get<std::int64_t>()};
  from.at("cgroup").get_to(to.cgroup);
  // An earlier release, whose runs go on, did not say.
  if (const auto means = from.find("limits_by"); means != from.end()) {
    means->at("cpus").get_to(to.means.cpus);
    means->at("memory").get_to(to.means.memory);
    means->at("io").get_to(to.means.io);
  }
}

void read(const json& from, Limits& to) {
  from.at("cores").get_to(to.cores);
  take(from, "cpus", to.limits.cpus);
  take(from, "memory_gb", to.limits.memory_gb);
  to.time_limit = length_of(from.at("time_limit_ms"));
}

}  // namespace

Result<std::string> to_json(const Spec& spec) try {
  return json{{"id", spec.id},
              {"user_has_name", spec.user_has_name},
              {"argv", spec.argv},
              {"script", spec.script},
              {"environment", spec.environment},
              {"directory", spec.directory},
              {"out", spec.out},
              {"err", spec.err},
              {"append", spec.append},
              {"log_limit_gb", spec.log_limit_gb},
              {"cores", spec.cores},
              {"cpus", optional(spec.cpus)},
              {"memory_gb", optional(spec.memory_gb)},
              {"io_mbs", optional(spec.io_mbs)},
              {"time_limit_ms", milliseconds(spec.time_limit)},
              {"grace_ms", spec.grace.count()},
              {"signal", spec.signal},
              {"signal_before_ms", spec.signal_before.count()},
              {"signal_shell", spec.signal_shell},
              {"open_files", optional(spec.open_files)},
              {"umask", spec.umask},
              {"resource_limits", spec.resource_limits},
              {"uid", optional(spec.uid)},
              {"gid", optional(spec.gid)}}
      .dump(1);
} catch (const json::exception& error) {
  return fail(Code::invalid, fmt::format("a run takes text in UTF-8 only: {}", error.what()));
}

std::string to_json(const Exit& exit) {
  return json{{"status", exit.ending.status},
              {"signal", exit.ending.signal},
              {"cause", exit.cause},
              {"message", exit.message},
              {"start_ms", milliseconds(exit.start)},
              {"end_ms", milliseconds(exit.end)},
              {"ran_ms", exit.ran.count()},
              {"cpu_s", exit.usage.cpu_s},
              {"read_gb", exit.usage.read_gb},
              {"written_gb", exit.usage.written_gb},
              {"memory_gb", exit.usage.memory_gb},
              {"log_dropped", exit.log_dropped}}
      // A message may quote a name of a file that is not UTF-8.
      .dump(1, ' ', false, json::error_handler_t::replace);
}

std::string to_json(const Identity& identity) { return of(identity).dump(); }

std::string to_json(const Started& started) {
  return json{
      {"command", of(started.command)},
      {"shepherd", of(started.shepherd)},
      {"boot", started.boot},
      {"start_ms", milliseconds(started.start)},
      {"since_boot_ms", started.since_boot.count()},
      {"cgroup", started.cgroup},
      {"limits_by",
       {{"cpus", started.means.cpus}, {"memory", started.means.memory}, {"io", started.means.io}}}}
      .dump(1);
}

std::string to_json(const Limits& limits) {
  return json{{"cores", limits.cores},
              {"cpus", optional(limits.limits.cpus)},
              {"memory_gb", optional(limits.limits.memory_gb)},
              {"time_limit_ms", milliseconds(limits.time_limit)}}
      .dump(1);
}

template <typename Record>
Result<Record> parse_record(std::string_view text) try {
  Record record;
  read(json::parse(text), record);
  return record;
} catch (const json::exception& error) {
  return fail(Code::corrupt, fmt::format("not a record of a run: {}", error.what()));
}

template <typename Record>
Result<Record> read_record(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto record = parse_record<Record>(*text);
  if (!record) record.error().where.file = path;
  return record;
}

template Result<Identity> parse_record<Identity>(std::string_view);
template Result<Started> parse_record<Started>(std::string_view);
template Result<Limits> parse_record<Limits>(std::string_view);
template Result<Spec> parse_record<Spec>(std::string_view);
template Result<Exit> parse_record<Exit>(std::string_view);
template Result<Identity> read_record<Identity>(const std::string&);
template Result<Started> read_record<Started>(const std::string&);
template Result<Limits> read_record<Limits>(const std::string&);
template Result<Spec> read_record<Spec>(const std::string&);
template Result<Exit> read_record<Exit>(const std::string&);

std::string boot_id() {
  std::string id = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

Duration since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return Duration{now.tv_sec * 1000 + now.tv_nsec / 1'000'000};
}

}  // namespace almanac::shepherd
