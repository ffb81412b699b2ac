// SPDX-License-Identifier: Apache-2.0
#include "boxes/head.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "boxes/writers.h"
#include "process/as_user.h"
#include "process/descriptor.h"
#include "shepherd/folder.h"
#include "shepherd/record.h"

namespace almanac::boxes {

namespace fs = std::filesystem;
using nlohmann::json;
using shepherd::Outcome;
using shepherd::RemoteTask;
using State = shepherd::RemoteTask::State;

namespace {

constexpr const char* kBoxesFile = "/boxes.json";
/// In the folder of a run: Logs, once it is known whether they can be opened.
constexpr const char* kLogsFile = "/logs";

bool is_clean(const Outcome& outcome) {
  return outcome.kind == Outcome::Kind::ended && outcome.exit->ending.status == 0 &&
         outcome.exit->ending.signal == 0;
}

/// Returns "" for what is no text.
std::string text_of(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string taken_file(std::size_t task, const std::string& stream) {
  return fmt::format("/taken.{}.{}", task, stream);
}

std::string path_of_log(const shepherd::Spec& spec, const std::string& name) {
  return (fs::path(spec.directory) / name).string();
}

std::uint32_t user_of(const shepherd::Spec& spec) { return spec.uid.value_or(::geteuid()); }

/// Creates the logs of a run with the rights of its user. Fails with `unavailable` if that may work
/// later, and with `not_found` otherwise.
Result<void> create_logs(const shepherd::Spec& spec) {
  const process::AsUser as_user({user_of(spec), spec.gid.value_or(::getegid())});
  if (!as_user.holds()) return fail(Code::unavailable, "cannot become the user of " + spec.id);
  for (const std::string& name : {spec.out, spec.err}) {
    if (name.empty()) continue;
    const std::string path = path_of_log(spec, name);
    const auto cannot_open = [&](Code code, const std::string& why, const char* hint) {
      return fail(code, fmt::format("cannot open the log {} on the head: {}", path, why), {}, hint);
    };
    // Its reader would see an end after each piece of output, and lose what comes while it is slow.
    struct stat there {};
    if (::stat(path.c_str(), &there) == 0 && S_ISFIFO(there.st_mode)) {
      return cannot_open(Code::not_found, "it is a FIFO", "name a file, and read it by `tail -f`");
    }
    const int how = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC |
                    (spec.append ? 0 : O_TRUNC);
    const process::Descriptor file(::open(path.c_str(), how, 0666 & ~spec.umask));
    if (file) continue;
    const int number = errno;
    return cannot_open(number == EMFILE || number == ENFILE ? Code::unavailable : Code::not_found,
                       std::strerror(number), number == ENOENT ? "create its folder first" : "");
  }
  return {};
}

/// Writes all that fits, and returns how many bytes do not; errno says why.
std::size_t put(const process::Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(file.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) break;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return text.size();
}

struct Appended {
  Head::Missing missing{};  // without the log saying so
  std::size_t lost = 0;     // bytes of the piece
};

/// Appends to a log with the rights of its user, which may be anywhere. The log says first what it
/// lacks, `missing`.
Appended append_as_user(const shepherd::Spec& spec, const std::string& name,
                        const Head::Missing& missing, std::string_view piece) {
  if (name.empty()) return {};
  const process::AsUser as_user({user_of(spec), spec.gid.value_or(::getegid())});
  const auto all = [&](int number) {
    return Appended{{missing.bytes + piece.size(), std::strerror(number)}, piece.size()};
  };
  if (!as_user.holds()) return all(EPERM);
  const process::Descriptor file(::open(path_of_log(spec, name).c_str(),
                                        O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) return all(errno);
  if (missing.bytes > 0) {
    const std::string notice =
        fmt::format("\nalmanac: {} bytes of output dropped: {}\n", missing.bytes, missing.why);
    if (put(file, notice) > 0) return all(errno);
  }
  const std::size_t left = put(file, piece);
  return {{left, left > 0 ? std::strerror(errno) : ""}, left};
}

}  // namespace

Head::Head(std::string state, Clocks clocks, Say say)
    : state_(std::move(state)), clocks_(std::move(clocks)), say_(std::move(say)) {
  begun_ = clocks_.since_boot();
}

Result<std::unique_ptr<Head>> Head::open(const std::string& state, Clocks clocks, Say say) {
  std::unique_ptr<Head> made(new Head(state, std::move(clocks), std::move(say)));
  const std::string path = state + kBoxesFile;
  const auto text = shepherd::read_file(path);
  if (!text && text.error().code == Code::not_found) return made;
  if (!text) return tl::unexpected(text.error());
  const auto damaged = [&](const std::string& why) {
    return fail(Code::corrupt, why, {.file = path},
                "restore the file from a backup; without it, the head cannot know on which boxes "
                "its jobs run");
  };
  const json read = json::parse(*text, nullptr, false);
  if (!read.is_array()) return damaged("not a list of boxes in JSON");
  for (const json& each : read) {
    const std::string name = each.is_object() ? text_of(each, "name") : "";
    if (!is_box_name(name)) {
      return damaged(fmt::format("box {} has no name", made->boxes_.size() + 1));
    }
    Joined& box = made->boxes_.emplace_back(Joined{.name = name,
                                                   .id = text_of(each, "id"),
                                                   .hardware = text_of(each, "hardware"),
                                                   .cluster = text_of(each, "cluster")});
    for (const json& id : each.value("gone", json::array())) {
      if (id.is_string()) box.gone.insert(id.get<std::string>());
    }
  }
  return made;
}

Result<void> Head::keep_clusters(const std::map<std::string, std::string>& clusters) {
  const std::lock_guard lock(mutex_);
  bool is_new = false;
  for (Joined& each : boxes_) {
    const auto found = clusters.find(each.name);
    each.is_damaged = found == clusters.end();
    if (each.is_damaged || each.cluster == found->second) continue;
    each.cluster = found->second;
    is_new = true;
  }
  return is_new ? write_boxes(boxes_) : Result<void>{};
}

std::vector<Head::Joined> Head::boxes() const {
  const std::lock_guard lock(mutex_);
  return boxes_;
}

std::set<std::string> Head::gone() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> made;
  for (const Joined& each : boxes_) {
    if (each.id.empty()) made.insert(each.name);
  }
  return made;
}

void Head::on_join(Entrance entrance) {
  const std::lock_guard lock(mutex_);
  entrance_ = std::move(entrance);
}

Result<void> Head::write_boxes(const std::vector<Joined>& all) const {
  json made = json::array();
  for (const Joined& each : all) {
    made.push_back({{"name", each.name},
                    {"id", each.id},
                    {"hardware", each.hardware},
                    {"cluster", each.cluster},
                    {"gone", each.gone}});
  }
  auto file = shepherd::NewFile::create(state_ + kBoxesFile);
  if (!file) return tl::unexpected(file.error());
  return file->commit(made.dump(1, ' ', false, json::error_handler_t::replace));
}

Result<bool> Head::admit(const std::string& box, const Report& report) {
  std::vector<Joined> all = boxes_;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Joined& each) { return each.name == box; });
  if (found != all.end() && found->gone.contains(report.id)) return false;
  const bool has_changed = found != all.end() && found->hardware != report.hardware;
  if (has_changed && !found->id.empty() && !found->is_damaged) {
    return fail(Code::conflict, fmt::format("box {} has other hardware than when it joined", box),
                {},
                fmt::format("join with the same --gpus or --cluster; or, if it really has other "
                            "hardware now, run `almanac nodes --gone {}` on the head first",
                            box));
  }
  if (found != all.end() && found->id == report.id && !has_changed) return true;
  if (found != all.end() && !found->id.empty() && found->id != report.id) {
    return fail(Code::conflict, fmt::format("another machine has joined as {}", box), {},
                "join under another name with --name; if this machine replaces the other, or lost "
                "its state folder, restart it, and run `almanac nodes --gone` on the head");
  }
  const bool is_new = found == all.end();
  Joined& own = is_new ? all.emplace_back(Joined{.name = box}) : *found;
  own.id = report.id;
  own.hardware = report.hardware;
  own.is_damaged = false;
  if ((is_new || has_changed) && entrance_.fits) {
    if (const auto fits = entrance_.fits(all); !fits) {
      return fail(Code::conflict, fits.error().message, {}, fits.error().hint);
    }
  }
  if (auto written = write_boxes(all); !written) return tl::unexpected(written.error());
  boxes_ = std::move(all);
  say_(fmt::format("box {} has joined", box));
  if ((is_new || has_changed) && entrance_.joined) entrance_.joined();
  return true;
}

void Head::look_at_runs() {
  std::set<std::string> there;
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(state_ + "/runs", failed)) {
    const std::string name = each.path().filename().string();
    there.insert(name);
    const auto known = runs_.find(name);
    // A folder of the same name may be a later run of it.
    const std::string folder = each.path().string();
    if (shepherd::is_there(folder + shepherd::kTasksFile) == shepherd::There::absent) {
      if (known != runs_.end()) runs_.erase(known);
      continue;
    }
    if (known != runs_.end() && !known->second.run.has_ended()) continue;
    auto read = shepherd::read_remote(folder);
    if (!read && read.error().code == Code::corrupt) say_(almanac::to_string(read.error()));
    if (read) runs_[name] = {.run = *std::move(read), .folder = folder};
  }
  if (failed) return;  // unknown for now
  std::erase_if(runs_, [&](const auto& each) { return !there.contains(each.first); });
}

std::pair<Head::Known*, std::size_t> Head::find(const std::string& box, const std::string& text) {
  const auto key = parse_key(text);
  const auto found = key ? runs_.find(key->run) : runs_.end();
  if (found == runs_.end() || found->second.run.nonce != key->nonce) return {nullptr, 0};
  const std::vector<RemoteTask>& tasks = found->second.run.tasks;
  const auto own = std::find_if(tasks.begin(), tasks.end(),
                                [&](const RemoteTask& each) { return each.box == box; });
  if (own == tasks.end()) return {nullptr, 0};
  return {&found->second, static_cast<std::size_t>(own - tasks.begin())};
}

Result<void> Head::end_task(Known& known, std::size_t task, Outcome outcome) {
  shepherd::RemoteRun next = known.run;
  const bool is_clean_end = is_clean(outcome);
  next.tasks[task].state = State::ended;
  next.tasks[task].outcome = std::move(outcome);
  // What no box was ever sent need not be sent any more.
  if (!is_clean_end) {
    for (RemoteTask& each : next.tasks) {
      if (each.state != State::made) continue;
      each.state = State::ended;
      each.outcome = {.kind = Outcome::Kind::never_started, .why = "another task did not start"};
    }
  }
  if (!is_clean_end && !next.has_ended()) {
    auto told = shepherd::order_remote(known.folder, shepherd::order_word(SIGTERM));
    if (!told) return told;
  }
  if (auto written = shepherd::write_remote(known.folder, next); !written) return written;
  known.run = std::move(next);
  return {};
}

Result<void> Head::apply(const std::string& box, const RunReport& said, Duration ahead) {
  const auto [known, task] = find(box, said.key);
  if (known == nullptr) return {};
  const State state = known->run.tasks[task].state;
  if (state == State::ended) return {};
  if (said.outcome) {
    Outcome outcome = *said.outcome;
    if (outcome.exit) {
      // The box's clock may differ from ours.
      outcome.exit->end = std::min(outcome.exit->end - ahead, clocks_.wall());
      outcome.exit->start = std::min(outcome.exit->start - ahead, outcome.exit->end);
    }
    const bool is_told_to_end =
        !shepherd::read_file(known->folder + shepherd::kOrderFile).value_or("").empty();
    // Faults of the job itself are exits; those of its user's account are not the box's.
    if (outcome.kind == Outcome::Kind::never_started && !outcome.is_account && !is_told_to_end) {
      set_aside(box, outcome.why);
    }
    return end_task(*known, task, std::move(outcome));
  }
  if (!said.waits || state == State::ready) return {};
  shepherd::RemoteRun next = known->run;
  next.tasks[task].state = State::ready;
  next.may_start = std::all_of(next.tasks.begin(), next.tasks.end(),
                               [](const RemoteTask& each) { return each.state == State::ready; });
  if (auto written = shepherd::write_remote(known->folder, next); !written) return written;
  known->run = std::move(next);
  return {};
}

Result<void> Head::add_orders(const std::string& box, const Report& report, Orders& to) {
  constexpr std::size_t kMostSpecs = 16;  // the rest comes with the next answers
  std::size_t specs = 0;
  for (auto& [name, known] : runs_) {
    for (std::size_t task = 0; task < known.run.tasks.size(); ++task) {
      if (known.run.tasks[task].box != box || known.run.tasks[task].state == State::ended) continue;
      RunOrder made{.key = to_string(RunKey{name, known.run.nonce})};
      const bool has_it = std::any_of(report.runs.begin(), report.runs.end(),
                                      [&](const RunReport& each) { return each.key == made.key; });
      made.order = shepherd::read_file(known.folder + shepherd::kOrderFile).value_or("");
      if (known.run.tasks[task].state == State::made) {
        if (!made.order.empty()) {
          if (auto ended = end_task(known, task,
                                    {.kind = Outcome::Kind::never_started,
                                     .why = "it was ended before a box had it"});
              !ended)
            return ended;
          continue;
        }
        if (specs == kMostSpecs) continue;
        shepherd::RemoteRun next = known.run;
        next.tasks[task].state = State::sent;
        next.may_start = next.may_start || next.tasks.size() == 1;
        if (auto written = shepherd::write_remote(known.folder, next); !written) return written;
        known.run = std::move(next);
      }
      made.may_start = known.run.may_start;
      if (!has_it) {
        auto spec = shepherd::read_file(known.folder + shepherd::spec_file(task));
        if (!spec) return tl::unexpected(spec.error());
        made.spec = *std::move(spec);
        ++specs;
      }
      // Of a job on several boxes, the service knows the sum only.
      if (known.run.tasks.size() == 1) {
        made.limits = shepherd::read_file(known.folder + shepherd::kLimitsFile).value_or("");
      }
      to.runs.push_back(std::move(made));
    }
  }
  return {};
}

Result<std::string> Head::take(const std::string& box, std::string_view text) {
  const auto report = read_report(text);
  if (!report) return tl::unexpected(report.error());
  std::unique_lock lock(mutex_);
  const auto is_admitted = admit(box, *report);
  if (!is_admitted) return tl::unexpected(is_admitted.error());
  if (!*is_admitted) return to_json(Orders{.is_gone = true});
  heard_[box] = clocks_.since_boot();
  look_at_runs();
  const Duration ahead = report->now - clocks_.wall();
  const std::vector<Notice> due = notices(box, *report);
  for (const RunReport& each : report->runs) {
    if (auto applied = apply(box, each, ahead); !applied) return tl::unexpected(applied.error());
  }
  Orders orders;
  if (auto added = add_orders(box, *report, orders); !added) return tl::unexpected(added.error());
  lock.unlock();
  tell(due);
  return to_json(orders);
}

Result<std::string> Head::open_logs(const std::string& box, const std::string& key) {
  std::unique_lock lock(mutex_);
  look_at_runs();
  const auto [known, task] = find(box, key);
  if (known == nullptr || known->run.tasks[task].state == State::ended) return to_json(Logs{});
  const std::string path = known->folder + kLogsFile;
  if (const std::string said = shepherd::read_file(path).value_or(""); !said.empty()) return said;
  const auto spec =
      shepherd::read_record<shepherd::Spec>(known->folder + shepherd::spec_file(task));
  if (!spec) return tl::unexpected(spec.error());
  lock.unlock();
  write_apart(path, user_of(*spec), [path, spec = *spec, say = say_] {
    // Another task of the gang may have been first.
    if (!shepherd::read_file(path).value_or("").empty()) return;
    const auto made = create_logs(spec);
    if (!made && made.error().code == Code::unavailable) return;
    const Logs logs{.are_open = made.has_value(),
                    .trouble = made ? "" : almanac::to_string(made.error())};
    if (const auto kept = shepherd::write_file(path, to_json(logs)); !kept) {
      say(almanac::to_string(kept.error()));
    }
  });
  const std::string said = shepherd::read_file(path).value_or("");
  return said.empty() ? to_json(Logs{}) : said;
}

Result<std::int64_t> Head::append(const std::string& box, const std::string& key,
                                  const std::string& stream, std::int64_t offset,
                                  std::string_view piece) {
  std::unique_lock lock(mutex_);
  look_at_runs();
  const auto size = static_cast<std::int64_t>(piece.size());
  const auto [known, task] = find(box, key);
  // Not wanted any more; the box need not keep it.
  if (known == nullptr || known->run.tasks[task].state == State::ended) return offset + size;
  const std::string path = known->folder + taken_file(task, stream);
  const auto taken = [path]() -> Result<std::int64_t> {
    const auto said = shepherd::read_file(path);
    if (!said && said.error().code != Code::not_found) return tl::unexpected(said.error());
    return said ? std::strtoll(said->c_str(), nullptr, 10) : 0;
  };
  if (const auto before = taken(); !before || *before != offset) return before;
  const auto spec =
      shepherd::read_record<shepherd::Spec>(known->folder + shepherd::spec_file(task));
  if (!spec) return tl::unexpected(spec.error());
  lock.unlock();
  const std::string own = key + taken_file(task, stream);
  const auto kept = std::make_shared<Result<void>>();
  const bool has_ended =
      write_apart(path, user_of(*spec),
                  [=, folder = known->folder, spec = *spec, piece = std::string(piece), say = say_,
                   unrecorded = unrecorded_] {
                    // The same piece may have come twice at once.
                    if (const auto now = taken(); !now || *now != offset) return;
                    std::unique_lock records(unrecorded->mutex);
                    const auto [end, is_new] = unrecorded->ends.emplace(own, offset + size);
                    const std::string record = std::to_string(end->second);
                    Missing before;
                    if (is_new) std::swap(before, unrecorded->missing[own]);
                    records.unlock();
                    if (is_new) {
                      const std::string& name = stream == "err" ? spec.err : spec.out;
                      const auto [left, lost] = append_as_user(spec, name, before, piece);
                      if (left.bytes > 0 && before.bytes == 0) {
                        say(fmt::format("run {}: {} bytes of output dropped: cannot write {}: {}",
                                        key, left.bytes, path_of_log(spec, name), left.why));
                      }
                      records.lock();
                      unrecorded->set_missing(own, left);
                      if (lost > 0) {
                        const std::int64_t all =
                            shepherd::lost_output(folder) + static_cast<std::int64_t>(lost);
                        static_cast<void>(shepherd::write_file(folder + shepherd::kLostFile,
                                                               std::to_string(all)));
                      }
                      records.unlock();
                    }
                    *kept = shepherd::write_file(path, record);
                    if (*kept) {
                      records.lock();
                      unrecorded->ends.erase(own);
                    } else if (is_new) {
                      say(almanac::to_string(kept->error()));
                    }
                  });
  if (has_ended && !*kept) return tl::unexpected(kept->error());
  return taken();
}

std::vector<Head::Notice> Head::notices(const std::string& box, const Report& report) {
  std::vector<Notice> made;
  const std::lock_guard records(unrecorded_->mutex);
  if (unrecorded_->missing.empty()) return made;
  for (const RunReport& each : report.runs) {
    const auto [known, task] = find(box, each.key);
    if (known == nullptr) continue;
    for (const char* const stream : {"out", "err"}) {
      const std::string file = taken_file(task, stream);
      if (!unrecorded_->missing.contains(each.key + file)) continue;
      const auto spec =
          shepherd::read_record<shepherd::Spec>(known->folder + shepherd::spec_file(task));
      if (!spec) continue;
      made.push_back({each.key + file, known->folder + file, *spec,
                      std::string_view(stream) == "err" ? spec->err : spec->out});
    }
  }
  return made;
}

void Head::tell(const std::vector<Notice>& notices) {
  for (const Notice& each : notices) {
    write_apart(each.path, user_of(each.spec), [each, unrecorded = unrecorded_] {
      std::unique_lock records(unrecorded->mutex);
      Missing before;
      std::swap(before, unrecorded->missing[each.own]);
      records.unlock();
      const Missing left = append_as_user(each.spec, each.name, before, "").missing;
      records.lock();
      unrecorded->set_missing(each.own, left);
    });
  }
}

void Head::set_aside(const std::string& box, const std::string& why) {
  constexpr Duration kPause = 60s;
  const Duration now = clocks_.since_boot();
  const auto [until, is_new] = aside_until_.try_emplace(box);
  if (is_new || until->second <= now) {
    say_(fmt::format("box {} could not start a run, and gets no others for {} s: {}", box,
                     std::chrono::duration_cast<std::chrono::seconds>(kPause).count(), why));
  }
  until->second = now + kPause;
}

std::set<std::string> Head::without_new_runs() {
  const std::lock_guard lock(mutex_);
  const Duration now = clocks_.since_boot();
  std::set<std::string> made;
  std::set<std::string> sure;
  for (const Joined& each : boxes_) {
    const auto heard = heard_.find(each.name);
    if (heard == heard_.end()) made.insert(each.name);
    const Duration last = heard == heard_.end() ? begun_ : heard->second;
    if (now - last < kSilence) continue;
    made.insert(each.name);
    sure.insert(each.name);
  }
  for (const auto& [box, until] : aside_until_) {
    if (now < until) made.insert(box);
  }
  if (sure.empty()) return made;
  look_at_runs();
  for (auto& [name, known] : runs_) {
    for (std::size_t task = 0; task < known.run.tasks.size(); ++task) {
      const RemoteTask& each = known.run.tasks[task];
      if (each.state != State::made || !sure.contains(each.box)) continue;
      const auto ended = end_task(known, task,
                                  {.kind = Outcome::Kind::never_started,
                                   .why = fmt::format("box {} does not report", each.box)});
      if (!ended) say_(almanac::to_string(ended.error()));
    }
  }
  return made;
}

Result<void> Head::declare_gone(const std::string& box) {
  const std::lock_guard lock(mutex_);
  std::vector<Joined> all = boxes_;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Joined& each) { return each.name == box; });
  if (found == all.end()) {
    return fail(Code::not_found, fmt::format("no box {} has joined", box), {},
                "almanac nodes lists them");
  }
  const auto heard = heard_.find(box);
  if (heard != heard_.end() && clocks_.since_boot() - heard->second < kSilence) {
    return fail(
        Code::conflict, fmt::format("box {} reports", box), {},
        fmt::format("cancel its jobs; or stop `almanac join` there, and try again {} s later",
                    std::chrono::duration_cast<std::chrono::seconds>(kSilence).count()));
  }
  // First: from now on it runs nothing that it has.
  if (!found->id.empty()) found->gone.insert(std::exchange(found->id, ""));
  if (auto written = write_boxes(all); !written) return written;
  boxes_ = std::move(all);
  heard_.erase(box);
  look_at_runs();
  for (auto& [name, known] : runs_) {
    for (std::size_t task = 0; task < known.run.tasks.size(); ++task) {
      if (known.run.tasks[task].box != box || known.run.tasks[task].state == State::ended) continue;
      const bool is_sent = known.run.tasks[task].state != State::made;
      if (auto ended =
              end_task(known, task,
                       {.kind = is_sent ? Outcome::Kind::lost : Outcome::Kind::never_started,
                        .why = "an operator declared the box gone"});
          !ended)
        return ended;
    }
  }
  say_(fmt::format("box {} was declared gone; its jobs are lost or run again", box));
  return {};
}

}  // namespace almanac::boxes
