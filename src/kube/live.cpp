// SPDX-License-Identifier: Apache-2.0
#include "kube/live.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kube/collection.h"
#include "kube/picture_parts.h"
#include "kube/plain.h"
#include "kube/read_objects.h"
#include "kueue/object.h"

namespace almanac::kube {
namespace {

using nlohmann::json;

constexpr Duration kFirstLists = 1min;
/// Rights may be granted, and collections installed, at any time.
constexpr Duration kAskAgain = 30s;
constexpr std::size_t kMostNotes = 20;

constexpr const char* kCollections[] = {"resourceflavors", "cohorts",   "clusterqueues",
                                        "localqueues",     "workloads", "nodes"};

/// The rows of one collection.
template <typename T>
struct Rows {
  std::map<std::string, T> rows{};
  std::map<std::string, std::string> unreadable{};  ///< Why an object that is there has no row.
};

/// "namespace/name"
std::string place_of(const json& object) {
  try {
    const kueue::Object metadata = kueue::Object(object, "an object").object("metadata");
    return plain(metadata.text("namespace")) + "/" + plain(metadata.text("name"));
  } catch (const kueue::Refused&) {
    return "";
  }
}

}  // namespace

struct LiveCluster::State {
  Connect connect;
  std::string user_label;
  std::function<void()> on_news;
  std::function<Time()> wall;
  std::string version;  ///< Of Kueue's API.

  mutable std::mutex mutex{};
  std::condition_variable changed{};
  Rows<Workload> workloads{};  ///< By uid.
  Rows<LocalQueue> local_queues{};
  Rows<Node> nodes{};
  Rows<json> objects{};  ///< ResourceFlavors, Cohorts and ClusterQueues, by kind and name.
  Picture quotas{};      ///< Only what set_objects() sets.
  std::optional<Error> wrong_quotas{};
  std::vector<Gone> gone{};
  struct Course {
    bool is_listed = false;  ///< Once, or it will not be.
    Error trouble{};
    std::string note{};  ///< What is missing for good.
  };
  std::map<std::string, Course> courses{};  ///< By collection.

  std::atomic<std::uint64_t> revision{1};
  std::atomic<std::int64_t> skew_ms{0};
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads{};

  Time now() const {
    return std::chrono::floor<std::chrono::seconds>(wall() +
                                                    std::chrono::milliseconds(skew_ms.load()));
  }
  void tell() {
    ++revision;
    on_news();
  }
  /// Reads the quotas again. Under the lock.
  void take_objects() {
    json items = json::array();
    for (const char* const kind : {"ResourceFlavor/", "Cohort/", "ClusterQueue/"}) {
      for (const auto& [name, object] : objects.rows) {
        if (name.starts_with(kind)) items.push_back(object);
      }
    }
    const auto set = set_objects(quotas, items);
    wrong_quotas = set ? std::nullopt : std::optional(set.error());
  }

  template <typename T>
  class Keeper;
  template <typename T>
  void follow(Keeper<T>& keeper, bool is_optional);
  void sleep(Duration pause) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, pause, [this] { return stop.load(); });
  }
  void start();
};

/// Takes the objects of one collection into its rows.
template <typename T>
class LiveCluster::State::Keeper final : public Sink {
 public:
  /// The key of an object's row, also of one that cannot be read.
  using Key = std::function<std::string(const json&)>;
  using Read = std::function<Result<T>(const json&)>;
  /// `name` is that of the collection, and each key begins with `prefix`.
  Keeper(State& state, std::string name, Rows<T>& rows, std::string prefix, Key key, Read read)
      : state_(state),
        name_(std::move(name)),
        rows_(rows),
        prefix_(std::move(prefix)),
        key_(std::move(key)),
        read_(std::move(read)) {}
  const std::string& name() const { return name_; }

  void use(const Client& client) { client_ = &client; }
  void begin_list() override {
    listed_.clear();
    is_listing_ = true;
  }
  void put(const json& object) override {
    note_clock();
    auto read = read_(object);
    const std::string key = key_(object);
    const std::lock_guard lock(state_.mutex);
    if (is_listing_) listed_.insert(key);
    if (read) {
      rows_.unreadable.erase(key);
      rows_.rows.insert_or_assign(key, std::move(*read));
    } else {
      // It is there: it has not gone.
      rows_.unreadable[key] = "left out: " + read.error().message;
      rows_.rows.erase(key);
    }
    if (is_current_) heard();
  }
  void remove(const json& object) override {
    note_clock();
    auto read = read_(object);
    const std::string key = key_(object);
    const std::lock_guard lock(state_.mutex);
    rows_.unreadable.erase(key);
    if (const auto found = rows_.rows.find(key); found != rows_.rows.end()) {
      // Its last state, which may say that it has finished.
      if (read) found->second = std::move(*read);
      drop(found, true);
    }
    heard();
  }
  void begin_watch() override {
    note_clock();
    const std::lock_guard lock(state_.mutex);
    Course& course = state_.courses.at(name_);
    if (course.trouble.message.empty() && course.note.empty()) return;
    course.trouble = {};
    course.note.clear();
    state_.tell();
  }
  void end_list() override {
    const std::lock_guard lock(state_.mutex);
    const auto has_gone = [&](const std::string& key) {
      return key.starts_with(prefix_) && !listed_.contains(key);
    };
    for (auto at = rows_.rows.begin(); at != rows_.rows.end();) {
      at = has_gone(at->first) ? drop(at, false) : std::next(at);
    }
    std::erase_if(rows_.unreadable, [&](const auto& each) { return has_gone(each.first); });
    is_listing_ = false;
    is_current_ = true;
    state_.courses.at(name_).is_listed = true;
    state_.changed.notify_all();
    heard();
  }

 private:
  using At = typename std::map<std::string, T>::iterator;

  void note_clock() {
    if (client_ == nullptr || !client_->skew()) return;
    state_.skew_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(*client_->skew()).count();
  }
  At drop(At at, bool was_seen) {
    if constexpr (std::is_same_v<T, Workload>) {
      state_.gone.push_back({std::move(at->second), state_.now(), was_seen});
    }
    return rows_.rows.erase(at);
  }
  /// Before the end of a list the rows are of no moment.
  void heard() {
    if constexpr (std::is_same_v<T, json>) state_.take_objects();
    state_.tell();
  }

  State& state_;
  std::string name_;
  Rows<T>& rows_;
  std::string prefix_;  ///< Of its keys.
  Key key_;
  Read read_;
  const Client* client_ = nullptr;
  std::set<std::string> listed_{};
  bool is_listing_ = false;
  bool is_current_ = false;
};

template <typename T>
void LiveCluster::State::follow(Keeper<T>& keeper, bool is_optional) {
  const std::string& name = keeper.name();
  const std::string path = name == "nodes" ? "/api/v1/nodes" : path_of(version, name);
  const auto set = [&](auto change) {
    const std::lock_guard lock(mutex);
    change(courses.at(name));
    changed.notify_all();
  };
  std::optional<Client> client;
  // A list from the cache may be older than what Almanac wrote last to a workload.
  Reflector reflector(path,
                      std::hash<std::string>{}(name) ^
                          static_cast<std::uint64_t>(wall_clock().time_since_epoch().count()),
                      /*from_cache=*/name != "workloads");
  while (!stop) {
    if (!client) {
      auto made = connect();
      if (!made) {
        set([&](Course& of) { of.trouble = made.error(); });
        sleep(kAskAgain);
        continue;
      }
      client.emplace(std::move(*made));
      keeper.use(*client);
    }
    const auto pause = reflector.round(*client, keeper, &stop);
    if (!pause) {
      set([&](Course& of) {
        of.trouble = is_optional ? Error{} : pause.error();
        const std::string before = std::exchange(of.note, to_string(pause.error()));
        of.is_listed = of.is_listed || is_optional;
        if (of.note != before) tell();
      });
    } else if (!stop) {
      set([&](Course& of) { of.trouble = reflector.trouble(); });
    }
    sleep(pause ? *pause : kAskAgain);
  }
}

void LiveCluster::State::start() {
  const auto begin = [this](auto keeper, bool is_optional) {
    threads.emplace_back([this, keeper, is_optional]() mutable { follow(keeper, is_optional); });
  };
  const auto objects_of = [this](const char* name, const char* kind) {
    const std::string prefix = std::string(kind) + "/";
    return Keeper<json>(
        *this, name, objects, prefix,
        [prefix](const json& object) { return prefix + place_of(object); },
        [this, kind](const json& object) -> Result<json> {
          return declared(object, kind, version);
        });
  };
  for (const char* const name : kCollections) courses[name] = {};
  begin(objects_of("resourceflavors", "ResourceFlavor"), false);
  begin(objects_of("cohorts", "Cohort"), true);
  begin(objects_of("clusterqueues", "ClusterQueue"), false);
  begin(Keeper<LocalQueue>(*this, "localqueues", local_queues, "", place_of, read_local_queue),
        false);
  begin(Keeper<Workload>(*this, "workloads", workloads, "", uid_of,
                         [this](const json& object) { return read_workload(object, user_label); }),
        false);
  begin(Keeper<Node>(*this, "nodes", nodes, "", place_of, read_node), true);
}

LiveCluster::LiveCluster(std::unique_ptr<State> state) : state_(std::move(state)) {}

LiveCluster::~LiveCluster() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->threads.clear();
}

Result<std::unique_ptr<LiveCluster>> LiveCluster::open(Connect connect, std::string user_label,
                                                       std::function<void()> on_news,
                                                       std::function<Time()> wall) {
  auto client = connect();
  if (!client) return tl::unexpected(client.error());
  auto version = find_version(*client);
  if (!version) return tl::unexpected(version.error());
  std::unique_ptr<LiveCluster> made(
      new LiveCluster(std::unique_ptr<State>(new State{.connect = std::move(connect),
                                                       .user_label = std::move(user_label),
                                                       .on_news = std::move(on_news),
                                                       .wall = std::move(wall),
                                                       .version = std::move(*version)})));
  State& state = *made->state_;
  state.quotas.version = state.version;
  state.start();
  std::unique_lock lock(state.mutex);
  const auto is_in_trouble = [](const auto& each) { return !each.second.trouble.message.empty(); };
  const auto is_ready = [&] {
    const bool all = std::all_of(state.courses.begin(), state.courses.end(),
                                 [](const auto& each) { return each.second.is_listed; });
    return all || std::any_of(state.courses.begin(), state.courses.end(), is_in_trouble);
  };
  const bool is_done = state.changed.wait_for(lock, kFirstLists, is_ready);
  const auto bad = std::find_if(state.courses.begin(), state.courses.end(), is_in_trouble);
  if (bad != state.courses.end()) return tl::unexpected(bad->second.trouble);
  if (!is_done) {
    return fail(Code::unavailable, "the lists of the cluster are not complete after a minute");
  }
  if (state.wrong_quotas) return tl::unexpected(*state.wrong_quotas);
  lock.unlock();
  return made;
}

std::uint64_t LiveCluster::revision() const { return state_->revision; }
Time LiveCluster::now() const { return state_->now(); }

Picture LiveCluster::picture() const {
  const std::lock_guard lock(state_->mutex);
  Picture made = state_->quotas;
  made.at = state_->now();
  made.local_queues = state_->local_queues.rows;
  made.workloads.reserve(state_->workloads.rows.size());
  for (const auto& [uid, workload] : state_->workloads.rows) made.workloads.push_back(workload);
  std::sort(made.workloads.begin(), made.workloads.end(), [](const Workload& a, const Workload& b) {
    return std::tie(a.created, a.uid) < std::tie(b.created, b.uid);
  });
  for (const Workload& each : made.workloads) {
    made.uncounted.insert(each.uncounted.begin(), each.uncounted.end());
  }
  for (const auto& [name, node] : state_->nodes.rows) made.nodes.push_back(node);
  for (const auto* const rows : {&state_->workloads.unreadable, &state_->local_queues.unreadable,
                                 &state_->nodes.unreadable, &state_->objects.unreadable}) {
    std::size_t notes = 0;
    for (const auto& [key, note] : *rows) {
      if (++notes <= kMostNotes) made.notes.push_back(note);
    }
  }
  for (const auto& [uid, note] : state_->workloads.unreadable) made.unreadable.insert(uid);
  for (const auto& [name, course] : state_->courses) {
    if (!course.note.empty()) made.notes.push_back(name + " are unknown: " + course.note);
  }
  note_other_accelerators(made);
  return made;
}

std::vector<Gone> LiveCluster::take_gone() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->gone, {});
}

std::string LiveCluster::trouble() const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, course] : state_->courses) {
    if (!course.trouble.message.empty()) return to_string(course.trouble);
  }
  if (state_->wrong_quotas) return to_string(*state_->wrong_quotas);
  return "";
}

}  // namespace almanac::kube
