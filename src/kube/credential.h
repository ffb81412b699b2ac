// SPDX-License-Identifier: Apache-2.0

/// \file
/// What proves to an API server who is asking. Tokens rotate, so an identity is asked for before
/// each request and is cached until it expires or the server rejects it.
///
/// Source   Kubernetes documentation, "Authenticating" (client-go credential plugins,
///          client.authentication.k8s.io/v1 and v1beta1).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::kube {

struct Identity {
  std::string token{};
  std::string certificate{};  ///< PEM, with `key`.
  std::string key{};
  std::string user{};  ///< Of basic authentication, with `password`.
  std::string password{};

  bool operator==(const Identity&) const = default;
};

/// A program that prints an ExecCredential.
struct ExecPlugin {
  std::string version{};  ///< "client.authentication.k8s.io/v1"
  std::string command{};
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string install_hint{};  ///< What the kubeconfig says if the program is missing.
};

class Credential {
 public:
  /// Proves nothing: requests are anonymous.
  Credential() : Credential(Identity{}) {}
  explicit Credential(Identity identity);
  /// Files that are read at least every minute: "" = none. What `fixed` has counts instead of a
  /// file.
  static Credential of_files(const std::string& token, const std::string& certificate,
                             const std::string& key, const Identity& fixed = {});
  static Credential of_plugin(ExecPlugin plugin);

  /// Fails with `unavailable` if a file cannot be read or the program fails, and with `invalid` if
  /// its output is no ExecCredential, a certificate has no key, or a token or the name of the user
  /// has control characters, which could add a header.
  Result<Identity> identity();
  /// The server rejected the identity: the next one is read again.
  void forget() { until_ = kNoTime; }

 private:
  struct Issued {
    Identity identity{};
    Time until = kNever;
  };
  using Issue = std::function<Result<Issued>()>;
  static Result<Issued> ask(const ExecPlugin& plugin);
  explicit Credential(Issue issue) : issue_(std::move(issue)) {}

  Issue issue_;
  Identity identity_{};
  Time until_ = kNoTime;
};

}  // namespace almanac::kube
