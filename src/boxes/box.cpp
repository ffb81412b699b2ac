// SPDX-License-Identifier: Apache-2.0
#include "boxes/box.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/as_user.h"
#include "shepherd/folder.h"
#include "shepherd/record.h"
#include "shepherd/remote.h"

namespace almanac::boxes {

namespace fs = std::filesystem;
using process::Descriptor;
using shepherd::Outcome;
using shepherd::Run;
using Kind = shepherd::Outcome::Kind;

namespace {

constexpr const char* kIdFile = "/box-id";
/// Most bytes of one stream in a step, so that other runs get their turn.
constexpr std::int64_t kMostPerStep = std::int64_t{8} << 20;
/// Longest time for output in a step, after which no further piece is sent.
constexpr std::chrono::seconds kLongestSending{5};

tl::unexpected<Error> cannot(const std::string& what, int number) {
  return fail(Code::unavailable, fmt::format("cannot {}: {}", what, std::strerror(number)));
}

std::string new_id() {
  std::random_device draw;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", draw(), draw(), draw(), draw());
}

Result<void> keep(const std::string& path, const std::string& text) {
  auto file = shepherd::NewFile::create(path);
  if (!file) return tl::unexpected(file.error());
  return file->commit(text);
}

Outcome cannot_start(std::string why, Time now) {
  return {.kind = Kind::ended,
          .exit = shepherd::Exit{.ending = {.status = 127},
                                 .cause = shepherd::Cause::cannot_start,
                                 .message = std::move(why),
                                 .start = now,
                                 .end = now}};
}

/// Creates a file for output that belongs to the user, in a folder that does not: it stays a plain
/// file.
Result<void> create_output(const std::string& path, const shepherd::Spec& spec) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || (spec.uid && ::fchown(file.get(), *spec.uid, spec.gid.value_or(::getegid())) != 0)) {
    return cannot("create " + path, errno);
  }
  return {};
}

/// Changes what is the head's to what is ours.
Result<void> make_local(shepherd::Spec& spec, const std::string& run, const std::string& output) {
  std::error_code failed;
  fs::remove_all(output, failed);
  if (::mkdir(output.c_str(), 0711) != 0 || ::chmod(output.c_str(), 0711) != 0) {
    return cannot("create " + output, errno);
  }
  for (auto& [name, stream] :
       {std::pair<std::string&, const char*>{spec.out, "/out"}, {spec.err, "/err"}}) {
    if (name.empty()) continue;
    name = output + stream;
    if (auto made = create_output(name, spec); !made) return made;
  }
  spec.append = false;
  for (std::string& each : spec.environment) {
    if (each.starts_with("ALMANAC_PROGRESS=")) {
      each = std::string("ALMANAC_PROGRESS=") + run + shepherd::kProgressFile;
    } else if (each.starts_with("ALMANAC_ALLOCATION=")) {
      each = std::string("ALMANAC_ALLOCATION=") + run + shepherd::kAllocationFile;
    }
  }
  return {};
}

}  // namespace

Box::Box(Config config, Say say, Descriptor lock)
    : config_(std::move(config)), say_(std::move(say)), lock_(std::move(lock)) {}

Result<std::unique_ptr<Box>> Box::open(Config config, Say say) {
  if (!is_box_name(config.name)) {
    return fail(Code::usage,
                fmt::format("{} cannot be the name of a box: use letters, digits, -, _ and .",
                            config.name));
  }
  config.state = fs::absolute(config.state).lexically_normal().string();
  std::error_code failed;
  for (const char* const each : {"", "/runs", "/waiting", "/output"}) {
    fs::create_directories(config.state + each, failed);
    // Users pass through to their scripts and output, but may not look around.
    if (!failed) fs::permissions(config.state + each, fs::perms(0711), failed);
    if (failed) return fail(Code::unavailable, failed.message(), {.file = config.state + each});
  }
  Descriptor lock(::open((config.state + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return cannot("open " + config.state + "/lock", errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::conflict, "another process has joined with this state folder",
                {.file = config.state}, "give another folder with --state");
  }
  std::unique_ptr<Box> made(new Box(std::move(config), std::move(say), std::move(lock)));
  if (auto read = made->read_state(); !read) return tl::unexpected(read.error());
  return made;
}

std::string Box::folder(const char* what, const std::string& key) const {
  return fmt::format("{}/{}/{}", config_.state, what, key);
}

Result<void> Box::read_state() {
  const std::string id_path = config_.state + kIdFile;
  const auto id = shepherd::read_file(id_path);
  if (!id && id.error().code != Code::not_found) return tl::unexpected(id.error());
  id_ = id ? *id : new_id();
  if (!id) {
    if (auto kept = keep(id_path, id_); !kept) return kept;
  }
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(config_.state + "/waiting", failed)) {
    const std::string key = each.path().filename().string();
    if (!parse_key(key)) continue;  // in the making when we ended
    auto spec = shepherd::read_file(each.path().string());
    if (!spec) return tl::unexpected(spec.error());
    runs_[key].spec = *std::move(spec);
  }
  if (failed) return fail(Code::unavailable, failed.message(), {.file = config_.state});
  for (const auto& each : fs::directory_iterator(config_.state + "/runs", failed)) {
    const std::string key = each.path().filename().string();
    if (!parse_key(key)) continue;
    Held& held = runs_[key];
    held.spec.clear();
    if (Run::look(each.path().string()) == Run::Found::never_started) {
      held.outcome = Outcome{.kind = Kind::never_started, .why = "its shepherd ended before it"};
      continue;
    }
    auto run = Run::adopt(each.path().string());
    if (!run) return tl::unexpected(run.error());
    held.run = *std::move(run);
  }
  if (failed) return fail(Code::unavailable, failed.message(), {.file = config_.state});
  return {};
}

void Box::look() {
  for (auto& [key, held] : runs_) {
    if (!held.run || held.outcome) continue;
    const Outcome outcome = held.run->exited();
    if (outcome.kind == Kind::lives || outcome.kind == Kind::unreadable) continue;
    held.outcome = outcome;
  }
}

Result<bool> Box::send_stream(const std::string& key, Held& held, const std::string& stream,
                              Clock::time_point until) {
  const auto spec = shepherd::read_record<shepherd::Spec>(folder("runs", key) + "/spec.json");
  // Without one, nothing of it was started.
  if (!spec) return spec.error().code != Code::unavailable;
  const std::string path = folder("output", key) + "/" + stream;
  Descriptor file;
  int failed = 0;
  {
    const process::User user{spec->uid.value_or(::geteuid()), spec->gid.value_or(::getegid())};
    const process::AsUser as_user(user);
    if (!as_user.holds()) return false;
    file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    failed = file ? 0 : errno;
  }
  // Its user may have made it unreadable; other errors pass.
  if (!file) return failed == ENOENT || failed == ELOOP || failed == EACCES || failed == EPERM;
  std::int64_t& sent = held.sent[stream];
  std::string piece(kPiece, '\0');
  for (std::int64_t total = 0; total == 0 || (total < kMostPerStep && Clock::now() < until);) {
    const ssize_t got = ::pread(file.get(), piece.data(), piece.size(), sent);
    if (got <= 0) return got == 0;
    std::string_view part(piece.data(), static_cast<std::size_t>(got));
    // Whole lines, so that tasks of one job do not mix within a line; progress bars end theirs
    // with a carriage return.
    if (!held.outcome) {
      const std::size_t end = part.find_last_of("\r\n");
      if (end == std::string_view::npos && part.size() < kPiece) return true;
      if (end != std::string_view::npos) part = part.substr(0, end + 1);
    }
    const auto answer = config_.ask(fmt::format("/v1/boxes/{}/output?key={}&stream={}&offset={}",
                                                config_.name, key, stream, sent),
                                    std::string(part));
    if (!answer) return tl::unexpected(answer.error());
    const std::int64_t taken = std::strtoll(answer->c_str(), nullptr, 10);
    if (taken == sent) return false;  // the head is still writing
    sent = taken;
    total += static_cast<std::int64_t>(part.size());
  }
  return false;
}

Result<bool> Box::send_output(const std::string& key, Held& held, Clock::time_point until) {
  bool is_all = true;
  for (const char* const stream : {"out", "err"}) {
    const auto sent = send_stream(key, held, stream, until);
    if (!sent) return sent;
    is_all = is_all && *sent;
  }
  return is_all;
}

Result<void> Box::send_output() {
  const auto until = Clock::now() + kLongestSending;
  auto at = runs_.upper_bound(last_sent_);
  for (std::size_t left = runs_.size(); left > 0; --left, ++at) {
    if (at == runs_.end()) at = runs_.begin();
    if (Clock::now() >= until) return {};
    auto& [key, held] = *at;
    last_sent_ = key;
    const bool has_ended = held.outcome.has_value();
    const auto is_sent = send_output(key, held, until);
    if (!is_sent) return tl::unexpected(is_sent.error());
    held.is_all_sent = has_ended && *is_sent;
  }
  return {};
}

Result<void> Box::start(const std::string& key, Held& held) {
  const Time now = config_.wall();
  const auto end_as = [&](Outcome outcome) -> Result<void> {
    held.outcome = std::move(outcome);
    return {};
  };
  auto spec = shepherd::parse_record<shepherd::Spec>(held.spec);
  if (!spec) return end_as(cannot_start(almanac::to_string(spec.error()), now));
  if (const auto name = parse_key(key); spec->id != name->run) {
    return end_as(cannot_start(fmt::format("the head sent run {} as {}", spec->id, key), now));
  }
  if (::geteuid() == 0 && !spec->uid) {
    return end_as(cannot_start(
        "this box runs as root, but its head does not, and so names no user to run as", now));
  }
  const auto logs = config_.ask(fmt::format("/v1/boxes/{}/logs?key={}", config_.name, key), "")
                        .and_then([](const std::string& said) { return read_logs(said); });
  if (!logs) return tl::unexpected(logs.error());
  if (!logs->trouble.empty()) return end_as(cannot_start(logs->trouble, now));
  if (!logs->are_open) return {};
  held.spec.clear();
  spec->id += "." + config_.name;
  const std::string run = folder("runs", key);
  if (const auto made = make_local(*spec, run, folder("output", key)); !made) {
    return end_as({.kind = Kind::never_started, .why = almanac::to_string(made.error())});
  }
  auto begun = Run::start(run, *spec);
  if (!begun && begun.error().how_long == shepherd::NotStarted::For::good) {
    return end_as(cannot_start(begun.error().message, now));
  }
  if (!begun) return end_as({.kind = Kind::never_started, .why = begun.error().message});
  held.run = *std::move(begun);
  say_(fmt::format("run {} started", key));
  return {};
}

Result<void> Box::carry_out(const RunOrder& order) {
  if (!parse_key(order.key)) return {};
  const auto found = runs_.find(order.key);
  if (found == runs_.end() && order.spec.empty()) return {};
  if (found == runs_.end() && !order.may_start) {
    // On the disk before the head hears that we have it.
    if (auto kept = keep(folder("waiting", order.key), order.spec); !kept) return kept;
    runs_[order.key].spec = order.spec;
    reports_at_once_ = true;
    return {};
  }
  Held& held = runs_[order.key];
  if (held.outcome) return {};
  if (!held.run) {
    if (!order.spec.empty()) held.spec = order.spec;
    if (!order.order.empty()) {
      held.outcome = Outcome{.kind = Kind::never_started, .why = "it was ended before it began"};
    } else if (order.may_start) {
      return start(order.key, held);
    }
    return {};
  }
  if (!order.limits.empty() && order.limits != held.limits) {
    const auto limits = shepherd::parse_record<shepherd::Limits>(order.limits);
    if (limits) {
      const auto set = held.run->resize(limits->cores, limits->limits.cpus,
                                        limits->limits.memory_gb, limits->time_limit);
      if (set) held.limits = order.limits;
      if (!set) say_(almanac::to_string(set.error()));
    }
  }
  if (order.order == held.order) return {};
  held.order = order.order;
  if (order.order == "room") held.run->make_room();
  if (order.order == "end") held.run->end();
  if (order.order == "memory") held.run->end_for_memory();
  if (order.order == "end_now") held.run->end_now();
  if (order.order == "kill") held.run->kill();
  return {};
}

void Box::end_unwanted(const std::string& key, Held& held) {
  if (held.order == "unwanted") return;
  say_(fmt::format("run {} is not wanted by the head any more; ending it", key));
  held.order = "unwanted";
  held.run->end();
}

void Box::forget(const std::string& key) {
  std::error_code failed;
  fs::remove(folder("waiting", key), failed);
  fs::remove_all(folder("output", key), failed);
  fs::remove_all(folder("runs", key), failed);
  if (failed) say_(fmt::format("cannot remove run {}: {}", key, failed.message()));
}

Result<void> Box::begin_again() {
  for (auto at = runs_.begin(); at != runs_.end();) {
    Held& held = at->second;
    if (held.run && !held.outcome) {
      held.run->end_now();
      ++at;
      continue;
    }
    forget(at->first);
    at = runs_.erase(at);
  }
  if (!runs_.empty()) return {};
  const std::string id = new_id();
  if (auto kept = keep(config_.state + kIdFile, id); !kept) return kept;
  id_ = id;
  say_("the head had declared this box gone: it has ended its runs, and joins again");
  return {};
}

Result<void> Box::step() {
  look();
  reports_at_once_ = false;
  // Trouble with one run keeps the box from nothing else.
  Result<void> trouble = send_output();
  Report report{.id = id_, .now = config_.wall(), .hardware = config_.hardware};
  for (const auto& [key, held] : runs_) {
    RunReport& run = report.runs.emplace_back(RunReport{.key = key});
    run.waits = !held.run && !held.outcome;
    if (held.outcome && held.is_all_sent) run.outcome = held.outcome;
  }
  const auto answer =
      config_.ask(fmt::format("/v1/boxes/{}/report", config_.name), to_json(report));
  if (!answer) return tl::unexpected(answer.error());
  const auto orders = read_orders(*answer);
  if (!orders) return tl::unexpected(orders.error());
  if (orders->is_gone) return begin_again();
  std::set<std::string> wanted;
  for (const RunOrder& each : orders->runs) {
    wanted.insert(each.key);
    if (auto done = carry_out(each); !done && trouble) trouble = done;
  }
  for (auto at = runs_.begin(); at != runs_.end();) {
    if (wanted.contains(at->first)) {
      ++at;
    } else if (at->second.run && !at->second.outcome) {
      end_unwanted(at->first, at->second);
      ++at;
    } else {
      forget(at->first);
      at = runs_.erase(at);
    }
  }
  return trouble;
}

void Box::wait_for_news() {
  // So that many short runs do not make many reports.
  constexpr std::chrono::milliseconds kLeast{100};
  pollfd bell{bell_.get(), POLLIN, 0};
  if (::poll(&bell, 1, static_cast<int>(kLeast.count())) == 0 && !reports_at_once_) {
    std::vector<pollfd> waits{bell};
    for (const auto& [key, held] : runs_) {
      const bool may_end = held.run && !held.outcome && !held.run->has_news();
      if (may_end) waits.push_back({held.run->news(), POLLIN, 0});
    }
    ::poll(waits.data(), waits.size(), static_cast<int>((kEvery - kLeast).count()));
  }
  bell_.hush();
}

void Box::run(const std::atomic<bool>& stop, const std::function<void()>& alive) {
  std::string trouble;
  while (!stop) {
    alive();
    const auto done = step();
    const std::string now = done ? "" : almanac::to_string(done.error());
    if (now != trouble) say_(done ? "the head answers" : now);
    trouble = now;
    wait_for_news();
  }
}

}  // namespace almanac::boxes
