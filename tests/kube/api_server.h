// SPDX-License-Identifier: Apache-2.0

/// \file
/// A small API server: enough of Kubernetes for Almanac's client, in the process of the test. It is
/// held to what a real kube-apiserver answered (api_server_test.cpp). With ALMANAC_KUBE_REAL it
/// only stands in front of a real one (real_server.h): the clock, the faults and the rights are its
/// own, and all else is the real one's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace almanac::kube {

using Json = nlohmann::json;
struct ApiPlace;
class RealServer;

/// A certificate that vouches for itself, and its key, as PEM files.
struct ServerFiles {
  std::string certificate{};
  std::string key{};
  std::string client_authorities{};  ///< Clients must prove who they are; "" = they need not.
};

class ApiServer {
 public:
  /// Listens on a free port of 127.0.0.1, with TLS if there are files.
  explicit ApiServer(const ServerFiles& files = {});
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;
  ~ApiServer();

  std::string url() const;
  int port() const { return port_; }

  // What tests change and look at. All may be called while clients ask.

  /// `path` is that of the collection of one namespace, or of the cluster. Returns the stored
  /// object; metadata.uid and creationTimestamp may be given.
  Json create(const std::string& path, Json object);
  Json patch(const std::string& path, const Json& merge);
  void remove(const std::string& path);

  /// Forgets all changes until now: watches from earlier versions expire.
  void compact();
  /// Cuts all streams in the middle of a line.
  void cut_streams();
  /// Ends and starts again on the same port with the same objects, as if it was killed.
  void restart();
  /// Sends a bookmark to every stream.
  void send_bookmarks();
  /// The next `count` requests fail with this status.
  void fail_next(int count, int status, const std::string& retry_after = "");
  /// From now on every watch sends this line, and ends.
  void answer_watches(const std::string& line);
  /// From now on every list is this text.
  void answer_lists(const std::string& text);
  /// A list expires before its next page.
  void expire_next_page() { expires_next_page_ = true; }

  /// Bearer tokens and whom they stand for. While empty, all are "admin".
  void set_tokens(std::map<std::string, std::string> tokens);
  /// Paths that were asked for, with queries.
  std::vector<std::string> asked() const;
  std::size_t streams() const { return streams_; }
  /// The header Host of the last request.
  std::string last_host() const;
  /// What was asked for so far, as RBAC sees it: "patch kueue.x-k8s.io/workloads".
  std::set<std::string> rights_used() const;
  /// Called before a patch of a client is applied.
  std::function<void()> before_patch{};
  /// Called with what a patch of a client made.
  std::function<void(const Json& object)> after_patch{};

  /// Whether a user may; "admin" may everything.
  using May = std::function<bool(const std::string& user, const std::string& verb,
                                 const std::string& resource)>;
  void set_rights(May may);
  std::vector<std::string> versions{"v1beta2"};  ///< Of Kueue's API; set before clients ask.
  std::set<std::string> other_groups{};          ///< Groups that exist and have nothing.
  std::chrono::milliseconds second{1000};        ///< A second of timeoutSeconds.
  std::string date{};                            ///< Value of the header Date; "" = none.

 private:
  struct Event {
    std::int64_t version = 0;
    std::string collection{};  ///< "kueue.x-k8s.io/workloads", of all namespaces.
    std::string line{};        ///< As streams send it.
  };
  struct Kept {
    Json object{};
    std::string text{};  ///< The object as lists send it: 10,000 objects need no copy of each.
  };

  void start();
  void stop();
  void answer(const httplib::Request& request, httplib::Response& response);
  void answer_as_real(const httplib::Request& request, const ApiPlace& place,
                      const std::string& verb, httplib::Response& response);
  bool answer_group(const std::string& path, httplib::Response& response);
  void answer_list(const httplib::Request& request, const ApiPlace& place,
                   httplib::Response& response);
  void answer_watch(const httplib::Request& request, const ApiPlace& place,
                    httplib::Response& response);
  void answer_create(const httplib::Request& request, const ApiPlace& place,
                     httplib::Response& response);
  void answer_patch(const httplib::Request& request, const ApiPlace& place,
                    httplib::Response& response);
  void answer_put(const httplib::Request& request, const ApiPlace& place,
                  httplib::Response& response);
  void answer_review(const httplib::Request& request, const std::string& user,
                     httplib::Response& response);
  bool is_forbidden(const std::string& user, const std::string& verb, const ApiPlace& place,
                    httplib::Response& response);
  std::optional<std::string> user_of(const httplib::Request& request) const;
  Json store(const ApiPlace& place, Json object, const std::string& type);

  ServerFiles files_;
  std::unique_ptr<RealServer> real_;  ///< nullptr = none: objects_ are what is stored.
  int port_ = 0;
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::map<std::string, Kept>> objects_;  ///< By collection, "ns/name".
  std::vector<Event> events_;                                   ///< In the order of their versions.
  std::int64_t version_ = 234;
  std::int64_t oldest_ = 234;
  std::int64_t next_uid_ = 1;
  std::int64_t bookmarks_ = 0;
  std::int64_t cuts_ = 0;
  std::map<std::string, std::string> tokens_;
  May may_;
  std::vector<std::string> asked_;
  std::set<std::string> rights_used_;
  std::string last_host_;
  int failures_ = 0;
  int failure_status_ = 0;
  std::string failure_retry_after_;
  std::string watch_line_;
  std::string list_text_;
  std::atomic<bool> expires_next_page_{false};
  std::atomic<bool> is_ending_{false};
  std::atomic<std::size_t> streams_{0};
};

}  // namespace almanac::kube
