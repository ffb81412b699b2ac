// SPDX-License-Identifier: Apache-2.0
#include "api_server.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>

#include "api_answers.h"
#include "api_place.h"
#include "real_server.h"

namespace almanac::kube {
namespace {

const std::string kKueueApis = std::string("/apis/") + kKueueGroup;

std::string now_text() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

/// Defaults that the definitions of Kueue's objects declare.
void fill_in(const ApiKind& kind, Json& object) {
  const std::string name = kind.kind;
  if (name == "Workload" && !object["spec"].contains("active")) object["spec"]["active"] = true;
  if ((name == "ClusterQueue" || name == "LocalQueue") && !object["spec"].contains("stopPolicy")) {
    object["spec"]["stopPolicy"] = "None";
  }
}

/// A line of a watch.
std::string line_of(std::string_view type, const std::string& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

}  // namespace

ApiServer::ApiServer(const ServerFiles& files) : files_(files), real_(RealServer::find()) {
  start();
}
ApiServer::~ApiServer() { stop(); }

std::string ApiServer::url() const {
  return fmt::format("{}://127.0.0.1:{}", files_.certificate.empty() ? "http" : "https", port_);
}

void ApiServer::start() {
  is_ending_ = false;
  if (files_.certificate.empty()) {
    server_ = std::make_unique<httplib::Server>();
  } else {
    server_ = std::make_unique<httplib::SSLServer>(
        files_.certificate.c_str(), files_.key.c_str(),
        files_.client_authorities.empty() ? nullptr : files_.client_authorities.c_str());
  }
  server_->set_tcp_nodelay(true);
  const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response);
  };
  server_->Get(".*", handler).Post(".*", handler).Put(".*", handler);
  server_->Patch(".*", handler).Delete(".*", handler);
  if (port_ == 0) {
    port_ = server_->bind_to_any_port("127.0.0.1");
  } else {
    server_->bind_to_port("127.0.0.1", port_);
  }
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();
}

void ApiServer::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    ++cuts_;
  }
  changed_.notify_all();
  server_->stop();
  thread_.join();
}

void ApiServer::restart() {
  stop();
  start();
}

void ApiServer::compact() {
  if (real_) return real_->compact();
  const std::lock_guard lock(mutex_);
  events_.clear();
  oldest_ = version_;
}

void ApiServer::cut_streams() {
  {
    const std::lock_guard lock(mutex_);
    ++cuts_;
  }
  changed_.notify_all();
}

void ApiServer::send_bookmarks() {
  {
    const std::lock_guard lock(mutex_);
    ++bookmarks_;
  }
  changed_.notify_all();
}

void ApiServer::fail_next(int count, int status, const std::string& retry_after) {
  const std::lock_guard lock(mutex_);
  failures_ = count;
  failure_status_ = status;
  failure_retry_after_ = retry_after;
}

void ApiServer::answer_watches(const std::string& line) {
  const std::lock_guard lock(mutex_);
  watch_line_ = line + "\n";
}

void ApiServer::answer_lists(const std::string& text) {
  const std::lock_guard lock(mutex_);
  list_text_ = text;
}

void ApiServer::set_tokens(std::map<std::string, std::string> tokens) {
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
}

void ApiServer::set_rights(May may) {
  const std::lock_guard lock(mutex_);
  may_ = std::move(may);
}

std::vector<std::string> ApiServer::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::string ApiServer::last_host() const {
  const std::lock_guard lock(mutex_);
  return last_host_;
}

std::set<std::string> ApiServer::rights_used() const {
  const std::lock_guard lock(mutex_);
  return rights_used_;
}

Json ApiServer::store(const ApiPlace& place, Json object, const std::string& type) {
  object["metadata"]["resourceVersion"] = fmt::to_string(++version_);
  std::string text = object.dump();
  events_.push_back({version_, place.collection(), line_of(type, text)});
  if (type == "DELETED") {
    objects_[place.collection()].erase(place.key());
  } else {
    objects_[place.collection()][place.key()] = {object, std::move(text)};
  }
  changed_.notify_all();
  return object;
}

Json ApiServer::create(const std::string& path, Json object) {
  ApiPlace place = ApiPlace::of(path).value();
  const std::lock_guard lock(mutex_);
  Json& metadata = object["metadata"];
  place.name = metadata["name"];
  object["kind"] = place.kind->kind;
  object["apiVersion"] = place.api_version();
  if (place.kind->namespaced) metadata["namespace"] = place.name_space;
  if (!metadata.contains("uid")) {
    metadata["uid"] = fmt::format("00000000-0000-0000-0000-{:012}", next_uid_++);
  }
  if (!metadata.contains("creationTimestamp")) metadata["creationTimestamp"] = now_text();
  if (place.kind->group == std::string(kKueueGroup)) metadata["generation"] = 1;
  if (real_) return real_->create(place, object);
  fill_in(*place.kind, object);
  return store(place, std::move(object), "ADDED");
}

Json ApiServer::patch(const std::string& path, const Json& merge) {
  if (real_) return real_->patch(path, merge);
  const ApiPlace place = ApiPlace::of(path).value();
  const std::lock_guard lock(mutex_);
  Json object = objects_[place.collection()].at(place.key()).object;
  const Json before = object;
  object.merge_patch(merge);
  if (object["metadata"].value("annotations", Json::object()).empty()) {
    object["metadata"].erase("annotations");
  }
  if (object == before) return object;
  if (object["spec"] != before["spec"]) {
    object["metadata"]["generation"] = object["metadata"].value("generation", 0) + 1;
  }
  return store(place, std::move(object), "MODIFIED");
}

void ApiServer::remove(const std::string& path) {
  if (real_) return real_->remove(path);
  const ApiPlace place = ApiPlace::of(path).value();
  const std::lock_guard lock(mutex_);
  store(place, objects_[place.collection()].at(place.key()).object, "DELETED");
}

std::optional<std::string> ApiServer::user_of(const httplib::Request& request) const {
  const std::lock_guard lock(mutex_);
  if (tokens_.empty()) return "admin";
  const std::string header = request.get_header_value("Authorization");
  const std::string bearer = "Bearer ";
  if (header.rfind(bearer, 0) != 0) return "system:anonymous";
  const auto found = tokens_.find(header.substr(bearer.size()));
  if (found == tokens_.end()) return std::nullopt;
  return found->second;
}

bool ApiServer::is_forbidden(const std::string& user, const std::string& verb,
                             const ApiPlace& place, httplib::Response& response) {
  const std::string resource = place.kind->plural + std::string(place.is_status ? "/status" : "");
  if (user == "admin" || (may_ && may_(user, verb, resource))) return false;
  const std::string where = place.name_space.empty()
                                ? "at the cluster scope"
                                : fmt::format("in the namespace \"{}\"", place.name_space);
  const std::string what = place.name.empty() ? "" : fmt::format(" \"{}\"", place.name);
  say(response, 403,
      status_of(403, "Forbidden",
                fmt::format("{}{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group "
                            "\"{}\" {}",
                            place.resource(), what, user, verb, resource, place.kind->group, where),
                place.details(place.kind->plural)));
  return true;
}

void ApiServer::answer(const httplib::Request& request, httplib::Response& response) {
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request.target);
    last_host_ = request.get_header_value("Host");
    if (!date.empty()) response.set_header("Date", date);
    if (failures_ > 0) {
      --failures_;
      if (!failure_retry_after_.empty()) response.set_header("Retry-After", failure_retry_after_);
      return say_plain(response, failure_status_, "the server is unhappy\n");
    }
  }
  const auto user = user_of(request);
  if (!user) return say(response, 401, status_of(401, "Unauthorized", "Unauthorized"));
  const bool is_default = versions == std::vector<std::string>{"v1beta2"} && other_groups.empty();
  if ((!real_ || !is_default) && answer_group(request.path, response)) return;
  if (request.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") {
    return real_ && *user == "admin" ? real_->forward(request, response)
                                     : answer_review(request, *user, response);
  }
  const auto place = ApiPlace::of(request.path);
  const bool is_hidden = !is_default && request.path.rfind(kKueueApis, 0) == 0;
  if (real_ && !place && !is_hidden) return real_->forward(request, response);
  const bool is_kueue = place && place->kind->group == std::string(kKueueGroup);
  if (!place ||
      (is_kueue && std::find(versions.begin(), versions.end(), place->version) == versions.end())) {
    return say_plain(response, 404, "404 page not found\n");
  }
  const bool is_watch = request.has_param("watch");
  const bool is_one = !place->name.empty();
  const std::string verb = request.method == "POST"     ? "create"
                           : request.method == "PATCH"  ? "patch"
                           : request.method == "PUT"    ? "update"
                           : request.method == "DELETE" ? "delete"
                           : is_one                     ? "get"
                           : is_watch                   ? "watch"
                                                        : "list";
  {
    const std::lock_guard lock(mutex_);
    rights_used_.insert(fmt::format("{} {}", verb, place->collection()));
  }
  if (is_forbidden(*user, verb, *place, response)) return;
  if (real_) return answer_as_real(request, *place, verb, response);
  if (verb == "create") return answer_create(request, *place, response);
  if (verb == "watch") return answer_watch(request, *place, response);
  if (verb == "list") return answer_list(request, *place, response);
  std::unique_lock lock(mutex_);
  const auto& all = objects_[place->collection()];
  const auto found = all.find(place->key());
  if (found == all.end()) {
    return say(response, 404,
               status_of(404, "NotFound",
                         fmt::format("{} \"{}\" not found", place->resource(), place->name),
                         place->details(place->kind->plural)));
  }
  if (verb == "get") return say_text(response, 200, found->second.text);
  const std::string uid = found->second.object["metadata"]["uid"];
  lock.unlock();
  if (verb == "patch" && before_patch) before_patch();
  if (verb == "patch") return answer_patch(request, *place, response);
  if (verb == "update") return answer_put(request, *place, response);
  remove(request.path);
  Json details = place->details(place->kind->plural);
  details["uid"] = uid;
  say(response, 200,
      {{"kind", "Status"},
       {"apiVersion", "v1"},
       {"metadata", Json::object()},
       {"status", "Success"},
       {"details", details}});
}

void ApiServer::answer_as_real(const httplib::Request& request, const ApiPlace& place,
                               const std::string& verb, httplib::Response& response) {
  {
    const std::lock_guard lock(mutex_);
    if (verb == "list" && !list_text_.empty()) {
      return response.set_content(list_text_, "application/json");
    }
    if (verb == "watch" && !watch_line_.empty()) {
      return response.set_content(watch_line_, "application/json");
    }
  }
  if (request.has_param("continue") && expires_next_page_.exchange(false)) {
    return say(response, 410,
               status_of(410, "Expired", "The provided continue parameter is too old"));
  }
  if (verb == "watch") {
    ++streams_;
    std::int64_t cuts = 0;
    {
      const std::lock_guard lock(mutex_);
      cuts = cuts_;
    }
    const auto is_cut = [this, cuts] {
      const std::lock_guard lock(mutex_);
      return cuts_ > cuts;
    };
    return real_->forward_watch(request, response, is_cut, [this] { --streams_; });
  }
  if (verb == "patch" && before_patch) before_patch();
  real_->forward(request, response);
  if (verb == "patch" && after_patch && response.status == 200 && !place.is_status) {
    after_patch(Json::parse(response.body));
  }
}

void ApiServer::answer_list(const httplib::Request& request, const ApiPlace& place,
                            httplib::Response& response) {
  const std::lock_guard lock(mutex_);
  if (!list_text_.empty()) return response.set_content(list_text_, "application/json");
  const std::string token = request.get_param_value("continue");
  std::string after;
  std::int64_t version = version_;
  if (!token.empty()) {
    // "page:VERSION:KEY"
    if (token.rfind("page:", 0) != 0) {
      return say(response, 400,
                 status_of(400, "BadRequest",
                           "invalid continue token: continue key is not valid: invalid character "
                           "'\u00c7' looking for beginning of value"));
    }
    const std::size_t colon = token.find(':', 5);
    version = std::stoll(token.substr(5, colon - 5));
    after = token.substr(colon + 1);
    if (expires_next_page_.exchange(false)) {
      return say(response, 410,
                 status_of(410, "Expired", "The provided continue parameter is too old"));
    }
  }
  const std::string limit = request.get_param_value("limit");
  const std::size_t most = limit.empty() ? SIZE_MAX : std::stoul(limit);
  std::string items;
  std::string last;
  std::size_t sent = 0;
  std::size_t left = 0;
  const std::map<std::string, Kept>& all = objects_[place.collection()];
  for (auto each = all.upper_bound(after); each != all.end(); ++each) {
    const auto& [key, kept] = *each;
    if (!place.name_space.empty() && key.rfind(place.name_space + "/", 0) != 0) continue;
    if (sent == most) {
      ++left;
      continue;
    }
    if (sent++ > 0) items += ',';
    items += kept.text;
    last = key;
  }
  Json metadata{{"resourceVersion", fmt::to_string(version)}, {"continue", ""}};
  if (left > 0) {
    metadata["continue"] = fmt::format("page:{}:{}", version, last);
    metadata["remainingItemCount"] = left;
  }
  say_text(response, 200,
           fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{},"items":[{}]}})",
                       place.kind->kind, place.api_version(), metadata.dump(), items));
}

void ApiServer::answer_watch(const httplib::Request& request, const ApiPlace& place,
                             httplib::Response& response) {
  {
    const std::lock_guard lock(mutex_);
    if (!watch_line_.empty()) return response.set_content(watch_line_, "application/json");
  }
  const std::string asked = request.get_param_value("resourceVersion");
  if (asked.find_first_not_of("0123456789") != std::string::npos) {
    return say(response, 500,
               status_of(500, "",
                         fmt::format("resourceVersion: Invalid value: \"{0}\": strconv.ParseUint: "
                                     "parsing \"{0}\": invalid syntax",
                                     asked)));
  }
  struct Stream {
    std::vector<std::string> lines{};
    std::int64_t version = 0;
    std::int64_t bookmarks = 0;
    std::int64_t cuts = 0;
    bool has_ended = false;
  };
  const auto stream = std::make_shared<Stream>();
  const std::int64_t from = asked.empty() ? 0 : std::stoll(asked);
  {
    const std::lock_guard lock(mutex_);
    *stream = {.lines = {}, .version = from, .bookmarks = bookmarks_, .cuts = cuts_};
    if (from == 0) {
      for (const auto& [key, kept] : objects_[place.collection()]) {
        stream->lines.push_back(line_of("ADDED", kept.text));
      }
      stream->version = version_;
    } else if (from < oldest_) {
      const Json expired = status_of(
          410, "Expired", fmt::format("too old resource version: {} ({})", from, oldest_));
      stream->lines.push_back(line_of("ERROR", expired.dump()));
      stream->has_ended = true;
    }
  }
  const std::string seconds = request.get_param_value("timeoutSeconds");
  const auto until =
      std::chrono::steady_clock::now() + second * (seconds.empty() ? 1800 : std::stol(seconds));
  const std::string collection = place.collection();
  ++streams_;
  response.set_chunked_content_provider(
      "application/json",
      [this, stream, until, collection](std::size_t, httplib::DataSink& sink) {
        std::unique_lock lock(mutex_);
        // Short, so that a client that went away is noticed.
        const auto wait = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        changed_.wait_until(lock, std::min(wait, until), [&] {
          return !stream->lines.empty() || stream->has_ended || version_ > stream->version ||
                 bookmarks_ > stream->bookmarks || cuts_ > stream->cuts;
        });
        const auto first = std::upper_bound(
            events_.begin(), events_.end(), stream->version,
            [](std::int64_t after, const Event& of) { return after < of.version; });
        for (auto each = first; each != events_.end() && !stream->has_ended; ++each) {
          if (each->collection == collection) stream->lines.push_back(each->line);
        }
        if (!stream->has_ended) stream->version = version_;
        if (bookmarks_ > stream->bookmarks) {
          stream->bookmarks = bookmarks_;
          const Json mark{{"metadata", {{"resourceVersion", fmt::to_string(version_)}}}};
          stream->lines.push_back(line_of("BOOKMARK", mark.dump()));
        }
        const bool is_cut = cuts_ > stream->cuts;
        const std::vector<std::string> lines = std::exchange(stream->lines, {});
        lock.unlock();
        for (const std::string& line : lines) {
          if (!sink.write(line.data(), line.size())) return false;
        }
        if (is_cut) {
          const std::string half = "{\"type\": \"MODI";
          sink.write(half.data(), half.size());
          return false;
        }
        if (stream->has_ended || std::chrono::steady_clock::now() >= until) sink.done();
        return sink.is_writable();
      },
      [this](bool) { --streams_; });
}

void ApiServer::answer_create(const httplib::Request& request, const ApiPlace& place,
                              httplib::Response& response) {
  const Json object = Json::parse(request.body);
  ApiPlace of = place;
  of.name = object["metadata"]["name"];
  {
    const std::lock_guard lock(mutex_);
    if (objects_[of.collection()].contains(of.key())) {
      return say(response, 409,
                 status_of(409, "AlreadyExists",
                           fmt::format("{} \"{}\" already exists", of.resource(), of.name),
                           of.details(of.kind->plural)));
    }
  }
  say(response, 201, create(request.path, object));
}

void ApiServer::answer_patch(const httplib::Request& request, const ApiPlace& place,
                             httplib::Response& response) {
  if (request.get_header_value("Content-Type") != "application/merge-patch+json") {
    return say(response, 415,
               status_of(415, "UnsupportedMediaType",
                         "the body of the request was in an unknown format - accepted media types "
                         "include: application/json-patch+json, application/merge-patch+json, "
                         "application/apply-patch+yaml"));
  }
  const Json merge = Json::parse(request.body, nullptr, false);
  if (merge.is_discarded()) return say(response, 500, status_of(500, "", "Invalid JSON Patch"));
  Json current;
  {
    const std::lock_guard lock(mutex_);
    current = objects_[place.collection()].at(place.key()).object;
  }
  const Json metadata = merge.value("metadata", Json::object());
  const auto invalid = [&](const std::string& field, const std::string& what, int times) {
    Json details = place.details(place.kind->kind);
    for (int at = 0; at < times; ++at) {
      details["causes"].push_back(
          {{"reason", "FieldValueInvalid"}, {"message", what}, {"field", field}});
    }
    say(response, 422,
        status_of(
            422, "Invalid",
            fmt::format("{} \"{}\" is invalid: {}: {}", place.full_kind(), place.name, field, what),
            details));
  };
  if (metadata.contains("uid") && metadata["uid"] != current["metadata"]["uid"]) {
    return invalid("metadata.uid",
                   fmt::format("Invalid value: \"{}\": field is immutable",
                               metadata["uid"].get<std::string>()),
                   2);
  }
  if (metadata.contains("resourceVersion") &&
      metadata["resourceVersion"] != current["metadata"]["resourceVersion"]) {
    return say(response, 409, conflict_of(place));
  }
  const Json spec = merge.value("spec", Json::object());
  if (spec.contains("priority") && !spec["priority"].is_number_integer()) {
    return invalid("spec.priority",
                   "Invalid value: \"string\": spec.priority in body must be of type integer: "
                   "\"string\"",
                   1);
  }
  const std::string path =
      place.is_status ? request.path.substr(0, request.path.size() - 7) : request.path;
  const Json made = patch(path, merge);
  if (after_patch) after_patch(made);
  say(response, 200, made);
}

void ApiServer::answer_put(const httplib::Request& request, const ApiPlace& place,
                           httplib::Response& response) {
  Json object = Json::parse(request.body);
  const std::lock_guard lock(mutex_);
  const Json& current = objects_[place.collection()].at(place.key()).object;
  if (object["metadata"]["resourceVersion"] != current["metadata"]["resourceVersion"]) {
    return say(response, 409, conflict_of(place));
  }
  for (const char* const fixed : {"uid", "creationTimestamp"}) {
    object["metadata"][fixed] = current["metadata"][fixed];
  }
  say(response, 200, store(place, object, "MODIFIED"));
}

}  // namespace almanac::kube
