// SPDX-License-Identifier: Apache-2.0

/// \file
/// A real kube-apiserver with its etcd, which tests/kube/real starts: the storage behind the API
/// server of the tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include "api_place.h"

namespace almanac::kube {

class RealServer {
 public:
  /// The server whose folder ALMANAC_KUBE_REAL names, without objects; nullptr if it names none.
  /// Throws std::runtime_error if it does not answer.
  static std::unique_ptr<RealServer> find();

  /// Stores an object as it is, in etcd: the API would give it a uid and a time of its own.
  nlohmann::json create(const ApiPlace& place, const nlohmann::json& object);
  /// Changes the object and its status through the API, and returns it.
  nlohmann::json patch(const std::string& path, const nlohmann::json& merge);
  void remove(const std::string& path);
  /// Forgets all changes until now. The server must run without its watch cache.
  void compact();

  /// Answers as the server answers its administrator.
  void forward(const httplib::Request& request, httplib::Response& response);
  /// The same of a watch, until `is_cut`, and then half a line.
  void forward_watch(const httplib::Request& request, httplib::Response& response,
                     const std::function<bool()>& is_cut, const std::function<void()>& on_end);

 private:
  explicit RealServer(const std::string& folder);
  std::unique_ptr<httplib::SSLClient> new_client() const;
  httplib::Result ask(const std::string& method, const std::string& target,
                      const std::string& body = "", const std::string& type = "");
  nlohmann::json ask_etcd(const std::string& what, const nlohmann::json& body);
  void clear();

  std::string authorities_;
  std::string token_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<httplib::SSLClient>> idle_;  ///< Connections that are kept.
  std::unique_ptr<httplib::Client> etcd_;
  std::int64_t revision_ = 0;  ///< Of etcd, after its last change by create().
};

}  // namespace almanac::kube
