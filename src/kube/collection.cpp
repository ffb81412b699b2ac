// SPDX-License-Identifier: Apache-2.0
#include "kube/collection.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kube/parse.h"
#include "kueue/object.h"

namespace almanac::kube {
namespace {

using kueue::Object;
using nlohmann::json;

constexpr int kPage = 500;
constexpr int kMostRestarts = 5;
/// A million objects: a server that names a next page for ever must end.
constexpr int kMostPages = 2000;
constexpr Duration kFirstPause = 800ms;
constexpr Duration kLongestPause = 30s;
/// A quiet stream lasts so long after its promised end before it counts as dead.
constexpr Duration kGrace = 10s;
/// A watch that ends sooner, without an event, counts as failed.
constexpr Duration kShortest = 1s;
/// Versions that expire one after the other are trouble; one is usual.
constexpr int kMostExpired = 3;

/// Tokens and versions are opaque.
std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.') {
      made += c;
    } else {
      made += fmt::format("%{:02X}", byte);
    }
  }
  return made;
}

/// Whether the version that was asked for is forgotten.
bool is_expired(int status) { return status == 410; }

bool will_never_work(int status) { return status == 403 || status == 404; }

tl::unexpected<Error> no_list(const std::string& path) {
  return fail(Code::invalid, fmt::format("{}: the answer is not a Kubernetes list", path), {},
              "another server than Kubernetes may answer");
}

}  // namespace

Result<std::string> list(Client& client, const std::string& path, Sink& sink, bool from_cache) {
  std::string token;
  int restarts = 0;
  sink.begin_list();
  for (int pages = 0; pages < kMostPages; ++pages) {
    std::string ask = fmt::format("{}?limit={}", path, kPage);
    if (!token.empty()) {
      ask += "&continue=" + escaped(token);
    } else if (from_cache) {
      ask += "&resourceVersion=0";
    }
    const auto answer = client.ask(ask);
    if (!answer) return tl::unexpected(answer.error());
    if (is_expired(answer->status) && ++restarts <= kMostRestarts) {
      // The token would continue with a later state, and the pages would not be of one moment.
      token.clear();
      from_cache = false;
      sink.begin_list();
      continue;
    }
    if (!answer->good()) return tl::unexpected(refusal(*answer, path));
    try {
      const json page = parse_list(answer->body, [&](const json& item) { sink.put(item); });
      const Object of(page, path);
      // An empty list has null, or no field, but always the version of the list.
      if (!of.has("items") && !of.object("metadata").has("resourceVersion")) return no_list(path);
      if (of.has("items") && !page["items"].is_array()) return no_list(path);
      const std::string last = token;
      token = of.object("metadata").text("continue");
      if (!token.empty() && token == last) break;
      if (token.empty()) {
        sink.end_list();
        return of.object("metadata").text("resourceVersion");
      }
    } catch (const kueue::Refused& refused) {
      return fail(Code::invalid, refused.message, {}, "another server than Kubernetes may answer");
    } catch (const json::exception&) {
      return no_list(path);
    }
  }
  return fail(Code::invalid, fmt::format("{}: the pages of the list do not end", path), {},
              "another server than Kubernetes may answer");
}

Duration Reflector::failed(Error why, Duration asked) {
  trouble_ = std::move(why);
  return back_off(asked);
}

Duration Reflector::back_off(Duration asked) {
  Duration pause = kFirstPause * (1LL << std::min(failures_++, 6));
  pause = std::min(pause, kLongestPause);
  // Half of it by chance, so that many clients do not come back together.
  pause = Duration{
      static_cast<std::int64_t>(static_cast<double>(pause.count()) * (0.5 + 0.5 * rng_.uniform()))};
  return std::max(pause, asked);
}

bool Reflector::apply(std::string_view line, Sink& sink) {
  json event = parse_objects(line);
  try {
    const Object of(event, "a watch event");
    const std::string type = of.text("type");
    const Object object = of.object("object");
    if (type == "ERROR") {
      const std::optional<std::int64_t> code = object.whole("code");
      has_expired_ = code && is_expired(static_cast<int>(*code));
      if (!has_expired_) {
        trouble_ = {.code = Code::unavailable,
                    .message = object.text("message", "the API server ended the watch")};
      }
      return false;
    }
    if (type == "ADDED" || type == "MODIFIED") sink.put(event["object"]);
    if (type == "DELETED") sink.remove(event["object"]);
    const std::string version = object.object("metadata").text("resourceVersion");
    if (!version.empty()) version_ = version;
    failures_ = 0;
    trouble_ = {};
    return true;
  } catch (const kueue::Refused& refused) {
    trouble_ = {.code = Code::invalid, .message = refused.message};
    has_expired_ = true;  // what the line said is lost: list again
    return false;
  }
}

Result<Duration> Reflector::round(Client& client, Sink& sink, const std::atomic<bool>* stop) {
  if (version_.empty()) {
    // A list from the cache could be older than what was seen already.
    auto version = list(client, path_, sink, from_cache_ && !has_expired_ && failures_ == 0);
    if (!version) {
      const Code code = version.error().code;
      if (code == Code::conflict || code == Code::not_found) return tl::unexpected(version.error());
      return failed(version.error());
    }
    version_ = std::move(*version);
    has_expired_ = false;
    trouble_ = {};
  }
  return watch(client, sink, stop);
}

Result<Duration> Reflector::watch(Client& client, Sink& sink, const std::atomic<bool>* stop) {
  const auto lasts_s = static_cast<std::int64_t>(300 + rng_.below(301));
  const std::string ask =
      fmt::format("{}?watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}", path_,
                  escaped(version_), lasts_s);
  const Time begin = steady();
  bool has_news = false;
  const auto answer = client.stream(
      ask, std::chrono::seconds(lasts_s) + kGrace,
      [&](std::string_view line) {
        has_news = apply(line, sink);
        return has_news;
      },
      stop, [&] { sink.begin_watch(); });
  if (!answer) {
    if (answer.error().code == Code::invalid) version_.clear();
    return failed(answer.error());
  }
  if (is_expired(answer->status)) has_expired_ = true;
  if (has_expired_) {
    version_.clear();
    if (trouble_.message.empty() && failures_ >= kMostExpired) {
      trouble_ = {.code = Code::unavailable,
                  .message = "the API server forgets each version at once, so no watch lasts"};
    }
    return back_off();
  }
  if (answer->good() && trouble_.message.empty()) {
    const bool is_short = !has_news && steady() - begin < kShortest;
    if (is_short) return back_off();
    failures_ = 0;
    return Duration::zero();
  }
  if (answer->good()) return failed(trouble_);
  Error why = refusal(*answer, path_);
  if (will_never_work(answer->status)) return tl::unexpected(why);
  // A version that the server cannot read, as after a restore of its data.
  if (answer->status == 400 || answer->status == 500) version_.clear();
  return failed(std::move(why), answer->retry_after);
}

}  // namespace almanac::kube
