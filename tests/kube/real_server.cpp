// SPDX-License-Identifier: Apache-2.0
#include "real_server.h"

#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace almanac::kube {
namespace {

using nlohmann::json;

/// Of a request that the server gives 3 s.
constexpr int kMostTries = 20;

std::string content(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("ALMANAC_KUBE_REAL: cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string base64(const std::string& text) {
  std::string made((text.size() + 2) / 3 * 4 + 1, '\0');
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(made.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  made.resize(static_cast<std::size_t>(size));
  return made;
}

/// Text as a part of a path: etcd may have names that the API would not accept.
std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
    made += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return made;
}

/// Where etcd has the objects of a kind.
std::string prefix_of(const ApiKind& kind) {
  const std::string plural = kind.plural == std::string("nodes") ? "minions" : kind.plural;
  const bool is_kueue = kind.group == std::string(kKueueGroup);
  return fmt::format("/registry/{}{}/", is_kueue ? kKueueGroup + std::string("/") : "", plural);
}

std::string collection_path(const ApiPlace& place) {
  const std::string group = place.kind->group;
  return fmt::format("/{}{}/{}{}/{}", group.empty() ? "api" : "apis/", group, place.version,
                     place.name_space.empty() ? "" : "/namespaces/" + place.name_space,
                     place.kind->plural);
}

}  // namespace

std::unique_ptr<RealServer> RealServer::find() {
  const char* const folder = std::getenv("ALMANAC_KUBE_REAL");
  if (folder == nullptr || *folder == '\0') return nullptr;
  std::unique_ptr<RealServer> made(new RealServer(folder));
  made->clear();
  return made;
}

RealServer::RealServer(const std::string& folder)
    : authorities_(folder + "/pki/ca.crt"),
      token_(content(folder + "/admin.token")),
      port_(std::stoi(content(folder + "/port"))),
      etcd_(std::make_unique<httplib::Client>("127.0.0.1", port_ + 1)) {
  etcd_->set_keep_alive(true);
  etcd_->set_tcp_nodelay(true);
}

std::unique_ptr<httplib::SSLClient> RealServer::new_client() const {
  auto made = std::make_unique<httplib::SSLClient>("127.0.0.1", port_);
  made->set_ca_cert_path(authorities_.c_str());
  made->set_default_headers({{"Authorization", "Bearer " + token_}});
  made->set_keep_alive(true);
  made->set_tcp_nodelay(true);
  made->set_read_timeout(std::chrono::minutes(1));
  return made;
}

httplib::Result RealServer::ask(const std::string& method, const std::string& target,
                                const std::string& body, const std::string& type) {
  std::unique_ptr<httplib::SSLClient> client;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (client == nullptr) client = new_client();
  httplib::Request request;
  request.method = method;
  request.path = target;
  request.body = body;
  if (!type.empty()) request.headers = {{"Content-Type", type}};
  httplib::Result said = client->send(request);
  // Its watch cache is behind the version that was asked for.
  for (int tries = 0; said && said->status == 504 && tries < kMostTries; ++tries) {
    said = client->send(request);
  }
  if (!said) throw std::runtime_error(method + " " + target + ": no answer of kube-apiserver");
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(client));
  return said;
}

json RealServer::ask_etcd(const std::string& what, const json& body) {
  const std::lock_guard lock(mutex_);
  const auto said = etcd_->Post("/v3/kv/" + what, body.dump(), "application/json");
  if (!said || said->status != 200) {
    throw std::runtime_error("etcd, " + what + ": " + (said ? said->body : "no answer"));
  }
  json answer = json::parse(said->body);
  revision_ = std::stoll(answer["header"]["revision"].get<std::string>());
  return answer;
}

void RealServer::clear() {
  for (const ApiKind& kind : kApiKinds) {
    // Those of the server itself are made again only after a while.
    if (kind.kind == std::string("Namespace")) continue;
    const std::string prefix = prefix_of(kind);
    const json answer =
        ask_etcd("deleterange", {{"key", base64(prefix)},
                                 {"range_end", base64(prefix.substr(0, prefix.size() - 1) + "0")}});
    if (!answer.contains("deleted")) continue;
    const std::string group = kind.group;
    ApiPlace place{.kind = &kind, .version = group == kKueueGroup ? "v1beta2" : "v1"};
    if (kind.namespaced) place.name_space = "none";
    // Answers once the watch cache is as new.
    ask("GET", fmt::format("{}/none?resourceVersion={}", collection_path(place), revision_));
  }
}

json RealServer::create(const ApiPlace& place, const json& object) {
  const std::string key = prefix_of(*place.kind) +
                          (place.name_space.empty() ? "" : place.name_space + "/") + place.name;
  ask_etcd("put", {{"key", base64(key)}, {"value", base64(object.dump())}});
  const std::string path = collection_path(place) + "/" + escaped(place.name);
  const auto said = ask("GET", fmt::format("{}?resourceVersion={}", path, revision_));
  if (said->status != 200) throw std::runtime_error("create " + path + ": " + said->body);
  return json::parse(said->body);
}

json RealServer::patch(const std::string& path, const json& merge) {
  json object;
  const auto change = [&](const std::string& target, const json& part) {
    const auto said = ask("PATCH", target, part.dump(), "application/merge-patch+json");
    if (said->status != 200) throw std::runtime_error("patch " + target + ": " + said->body);
    object = json::parse(said->body);
  };
  json rest = merge;
  if (merge.contains("status")) {
    change(path + "/status", {{"status", merge["status"]}});
    rest.erase("status");
  }
  if (!rest.empty()) change(path, rest);
  // A list from the watch cache must have the change.
  const std::string version = object["metadata"]["resourceVersion"];
  ask("GET", fmt::format("{}?resourceVersion={}", path, version));
  return object;
}

void RealServer::remove(const std::string& path) {
  const auto said = ask("DELETE", path);
  if (said->status != 200) throw std::runtime_error("delete " + path + ": " + said->body);
}

void RealServer::compact() {
  // The last revision is read, not changed, by looking up a key that is not there.
  ask_etcd("range", {{"key", base64("/none")}});
  ask_etcd("compaction", {{"revision", std::to_string(revision_)}});
}

void RealServer::forward(const httplib::Request& request, httplib::Response& response) {
  const auto said =
      ask(request.method, request.target, request.body, request.get_header_value("Content-Type"));
  response.status = said->status;
  response.set_content(said->body, said->get_header_value("Content-Type").c_str());
}

void RealServer::forward_watch(const httplib::Request& request, httplib::Response& response,
                               const std::function<bool()>& is_cut,
                               const std::function<void()>& on_end) {
  struct Stream {
    std::mutex mutex{};
    std::condition_variable changed{};
    std::string bytes{};
    std::optional<httplib::Response> head{};
    bool has_ended = false;
    std::unique_ptr<httplib::SSLClient> client{};
    std::thread thread{};
    ~Stream() {
      client->stop();
      thread.join();
    }
  };
  const auto stream = std::make_shared<Stream>();
  stream->client = new_client();
  stream->client->set_read_timeout(std::chrono::hours(1));
  stream->thread = std::thread([of = stream.get(), target = request.target] {
    of->client->Get(
        target, httplib::Headers{},
        [of](const httplib::Response& head) {
          const std::lock_guard lock(of->mutex);
          of->head = head;
          of->changed.notify_all();
          return true;
        },
        [of](const char* bytes, std::size_t size) {
          const std::lock_guard lock(of->mutex);
          of->bytes.append(bytes, size);
          of->changed.notify_all();
          return true;
        });
    const std::lock_guard lock(of->mutex);
    of->has_ended = true;
    of->changed.notify_all();
  });
  {
    std::unique_lock lock(stream->mutex);
    stream->changed.wait(lock, [&] { return stream->head || stream->has_ended; });
    response.status = stream->head ? stream->head->status : 502;
  }
  response.set_chunked_content_provider(
      "application/json",
      [stream, is_cut](std::size_t, httplib::DataSink& sink) {
        std::unique_lock lock(stream->mutex);
        stream->changed.wait_for(lock, std::chrono::milliseconds(50),
                                 [&] { return !stream->bytes.empty() || stream->has_ended; });
        const std::string bytes = std::exchange(stream->bytes, {});
        const bool has_ended = stream->has_ended;
        lock.unlock();
        if (!bytes.empty() && !sink.write(bytes.data(), bytes.size())) return false;
        if (is_cut()) {
          const std::string half = "{\"type\": \"MODI";
          sink.write(half.data(), half.size());
          return false;
        }
        if (has_ended) sink.done();
        return sink.is_writable();
      },
      [stream, on_end](bool) { on_end(); });
}

}  // namespace almanac::kube
