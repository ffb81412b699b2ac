// SPDX-License-Identifier: Apache-2.0
#include "shepherd/record.h"

#include <ctime>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "shepherd/folder.h"

namespace almanac::shepherd {

NLOHMANN_JSON_SERIALIZE_ENUM(Cause, {{Cause::by_itself, "by_itself"},
                                     {Cause::told, "told"},
                                     {Cause::time_limit, "time_limit"},
                                     {Cause::memory, "memory"},
                                     {Cause::cannot_start, "cannot_start"},
                                     {Cause::account, "account"}})

namespace {

using nlohmann::json;

constexpr const char* kChecksum = "fnv1a64";

/// Returns the checksum of all other fields. Keys are sorted, so a record that was read gives the
/// checksum that was written.
std::string checksum_of(const json& record) {
  return fmt::format("{:016x}",
                     checksum(record.dump(-1, ' ', false, json::error_handler_t::replace)));
}

/// The record as text, with its checksum. A message may quote the name of a file that is not UTF-8:
/// its bytes are replaced, or with `strict` refused.
std::string sealed(json record, bool strict = false) {
  if (strict) static_cast<void>(record.dump());
  record[kChecksum] = checksum_of(record);
  return record.dump(1, ' ', false, json::error_handler_t::replace);
}

/// Reads a record. One of an earlier release has no checksum.
json opened(std::string_view text) {
  json record = json::parse(text);
  if (!record.is_object()) return record;
  const auto said = record.find(kChecksum);
  if (said == record.end()) return record;
  const json expected = *said;
  record.erase(said);
  if (expected != checksum_of(record)) {
    throw json::other_error::create(501, "the checksum is wrong: the file was damaged", &record);
  }
  return record;
}

std::int64_t milliseconds(Time time) { return time.time_since_epoch().count(); }

json milliseconds(Duration length) { return length == kNoDuration ? json() : json(length.count()); }

template <typename T>
json optional(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

/// A whole number; one with a fraction or an exponent is none, and C++ may make anything of it.
template <typename T>
T whole(const json& value) {
  if (!value.is_number_integer()) {
    throw json::type_error::create(302, "expected a whole number", &value);
  }
  return value.get<T>();
}

template <typename T>
void take(const json& from, const char* key, T& to) {
  if constexpr (std::is_same_v<T, Duration>) {
    to = Duration{whole<std::int64_t>(from.at(key))};
  } else if constexpr (std::is_same_v<T, Time>) {
    to = Time{Duration{whole<std::int64_t>(from.at(key))}};
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    to = whole<T>(from.at(key));
  } else {
    from.at(key).get_to(to);
  }
}

void take(const json& from, const char* key, std::vector<int>& to) {
  to.clear();
  for (const json& each : from.at(key)) to.push_back(whole<int>(each));
}

template <typename T>
void take(const json& from, const char* key, std::optional<T>& to) {
  to.reset();
  if (!from.at(key).is_null()) take(from, key, to.emplace());
}

/// kNoDuration is null.
void take_limit(const json& from, const char* key, Duration& to) {
  to = kNoDuration;
  if (!from.at(key).is_null()) take(from, key, to);
}

json of(const Identity& identity) {
  return {{"process", identity.process}, {"birth_ticks", identity.birth}};
}

void read(const json& from, Identity& to) {
  take(from, "process", to.process);
  take(from, "birth_ticks", to.birth);
}

void read(const json& from, Spec& to) {
  take(from, "id", to.id);
  take(from, "argv", to.argv);
  take(from, "script", to.script);
  take(from, "environment", to.environment);
  take(from, "directory", to.directory);
  take(from, "out", to.out);
  take(from, "err", to.err);
  take(from, "append", to.append);
  take(from, "log_limit_gb", to.log_limit_gb);
  take(from, "cores", to.cores);
  take(from, "cpus", to.cpus);
  take(from, "memory_gb", to.memory_gb);
  // A service of an earlier release, which starts this one, does not say.
  if (from.contains("io_mbs")) take(from, "io_mbs", to.io_mbs);
  take_limit(from, "time_limit_ms", to.time_limit);
  take(from, "grace_ms", to.grace);
  if (from.contains("signal")) {
    take(from, "signal", to.signal);
    take(from, "signal_before_ms", to.signal_before);
    take(from, "signal_shell", to.signal_shell);
  }
  if (from.contains("open_files")) take(from, "open_files", to.open_files);
  if (from.contains("umask")) take(from, "umask", to.umask);
  if (from.contains("gpus")) take(from, "gpus", to.gpus);
  if (from.contains("processes")) take(from, "processes", to.processes);
  if (from.contains("resource_limits")) take(from, "resource_limits", to.resource_limits);
  if (from.contains("terminal")) take(from, "terminal", to.terminal);
  if (from.contains("user_has_name")) take(from, "user_has_name", to.user_has_name);
  take(from, "uid", to.uid);
  take(from, "gid", to.gid);
}

void read(const json& from, Exit& to) {
  take(from, "status", to.ending.status);
  take(from, "signal", to.ending.signal);
  take(from, "cause", to.cause);
  take(from, "message", to.message);
  take(from, "start_ms", to.start);
  take(from, "end_ms", to.end);
  take(from, "ran_ms", to.ran);
  take(from, "cpu_s", to.usage.cpu_s);
  take(from, "read_gb", to.usage.read_gb);
  take(from, "written_gb", to.usage.written_gb);
  take(from, "memory_gb", to.usage.memory_gb);
  take(from, "log_dropped", to.log_dropped);
}

void read(const json& from, Started& to) {
  read(from.at("command"), to.command);
  read(from.at("shepherd"), to.shepherd);
  take(from, "boot", to.boot);
  take(from, "start_ms", to.start);
  take(from, "since_boot_ms", to.since_boot);
  take(from, "cgroup", to.cgroup);
  // Runs of an earlier release, which may still be running, do not have this.
  if (const auto means = from.find("limits_by"); means != from.end()) {
    take(*means, "cpus", to.means.cpus);
    take(*means, "memory", to.means.memory);
    take(*means, "io", to.means.io);
    if (means->contains("gpus")) take(*means, "gpus", to.means.gpus);
  }
}

void read(const json& from, Limits& to) {
  take(from, "cores", to.cores);
  take(from, "cpus", to.limits.cpus);
  take(from, "memory_gb", to.limits.memory_gb);
  take_limit(from, "time_limit_ms", to.time_limit);
}

}  // namespace

Result<std::string> to_json(const Spec& spec) try {
  json made{{"id", spec.id},
            {"user_has_name", spec.user_has_name},
            {"terminal", spec.terminal},
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
            {"gpus", optional(spec.gpus)},
            {"time_limit_ms", milliseconds(spec.time_limit)},
            {"grace_ms", spec.grace.count()},
            {"signal", spec.signal},
            {"signal_before_ms", spec.signal_before.count()},
            {"signal_shell", spec.signal_shell},
            {"open_files", optional(spec.open_files)},
            {"umask", spec.umask},
            {"resource_limits", spec.resource_limits},
            {"processes", optional(spec.processes)},
            {"uid", optional(spec.uid)},
            {"gid", optional(spec.gid)}};
  return sealed(std::move(made), true);
} catch (const json::exception& error) {
  return fail(Code::invalid, fmt::format("a run only accepts UTF-8 text: {}", error.what()));
}

std::string to_json(const Exit& exit) {
  return sealed({{"status", exit.ending.status},
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
                 {"log_dropped", exit.log_dropped}});
}

std::string to_json(const Identity& identity) { return sealed(of(identity)); }

std::string to_json(const Started& started) {
  return sealed({{"command", of(started.command)},
                 {"shepherd", of(started.shepherd)},
                 {"boot", started.boot},
                 {"start_ms", milliseconds(started.start)},
                 {"since_boot_ms", started.since_boot.count()},
                 {"cgroup", started.cgroup},
                 {"limits_by",
                  {{"cpus", started.means.cpus},
                   {"memory", started.means.memory},
                   {"io", started.means.io},
                   {"gpus", started.means.gpus}}}});
}

std::string to_json(const Limits& limits) {
  return sealed({{"cores", limits.cores},
                 {"cpus", optional(limits.limits.cpus)},
                 {"memory_gb", optional(limits.limits.memory_gb)},
                 {"time_limit_ms", milliseconds(limits.time_limit)}});
}

template <typename Record>
Result<Record> parse_record(std::string_view text) try {
  Record record;
  read(opened(text), record);
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
