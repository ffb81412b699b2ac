// SPDX-License-Identifier: Apache-2.0
#include "kube/access.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/yaml.h"
#include "kueue/object.h"
#include "table/stream.h"
#include "text/nearest.h"

namespace almanac::kube {
namespace {

using kueue::Object;

constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns the bytes of base64; throws kueue::Refused.
std::string decoded(const Object& of, const char* key) {
  std::string text = of.text(key);
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  if (text.size() % 4 != 0) of.wrong_at(key, "expected base64");
  std::string made(text.size() / 4 * 3, '\0');
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(made.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (size < 0) of.wrong_at(key, "expected base64");
  // It counts padding as zero bytes.
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  made.resize(static_cast<std::size_t>(size) - padding);
  return made;
}

/// A kubeconfig file: relative paths start from its folder.
struct File {
  std::string path{};
  nlohmann::json json{};

  std::string resolve(const std::string& name) const {
    return name.empty() ? "" : (std::filesystem::path(path).parent_path() / name).string();
  }
};

/// An entry of a list of named ones, and its file.
struct Entry {
  const File* file = nullptr;
  Object of;
};

class Kubeconfig {
 public:
  explicit Kubeconfig(std::vector<File> files) : files_(std::move(files)) {}

  /// Throws kueue::Refused.
  Access access(std::string context) const {
    for (const File& file : files_) {
      if (context.empty()) context = Object(file.json, file.path).text("current-context");
    }
    if (context.empty()) throw kueue::Refused{"no context is current: choose one with --context"};
    const Object about = find("contexts", "context", context).of;
    const Entry cluster = find("clusters", "cluster", about.text("cluster"));
    Access made = access_of(cluster);
    if (!about.text("user").empty()) {
      made.credential = credential_of(find("users", "user", about.text("user")));
    }
    made.from = fmt::format("context {} of {}", context, cluster.file->path);
    return made;
  }

 private:
  Entry find(const char* list, const char* kind, const std::string& name) const {
    std::vector<std::string> known;
    for (const File& file : files_) {
      for (const Object& each : Object(file.json, file.path).objects(list)) {
        if (each.text("name") == name) return {&file, each.object(kind)};
        known.push_back(each.text("name"));
      }
    }
    throw kueue::Refused{
        fmt::format("no {} is called \"{}\": {}", kind, name, text::meant_or_known(name, known))};
  }

  static Access access_of(const Entry& cluster) {
    Access made{.server = cluster.of.text("server")};
    if (made.server.empty()) cluster.of.wrong("server is missing");
    if (cluster.of.has("certificate-authority-data")) {
      made.authorities = decoded(cluster.of, "certificate-authority-data");
    } else {
      made.authorities_file = cluster.file->resolve(cluster.of.text("certificate-authority"));
    }
    made.server_name = cluster.of.text("tls-server-name");
    made.checks_server = !cluster.of.flag("insecure-skip-tls-verify");
    if (!made.checks_server && !(made.authorities.empty() && made.authorities_file.empty())) {
      cluster.of.wrong_at("insecure-skip-tls-verify",
                          "not allowed with certificate-authority; remove one of them");
    }
    made.proxy = cluster.of.text("proxy-url");
    return made;
  }

  static Credential credential_of(const Entry& user) {
    const Object& of = user.of;
    if (of.has("exec")) return Credential::of_plugin(plugin_of(user));
    if (of.has("auth-provider")) {
      of.wrong_at("auth-provider", "Kubernetes has removed it; use an exec plugin");
    }
    Identity fixed{.token = of.text("token"),
                   .certificate = {},
                   .key = {},
                   .user = of.text("username"),
                   .password = of.text("password")};
    fixed.certificate = decoded(of, "client-certificate-data");
    fixed.key = decoded(of, "client-key-data");
    const bool has_certificate = !fixed.certificate.empty() || of.has("client-certificate");
    if (has_certificate != (!fixed.key.empty() || of.has("client-key"))) {
      of.wrong_at(has_certificate ? "client-certificate" : "client-key",
                  "expected both client-certificate and client-key, found one");
    }
    return Credential::of_files(user.file->resolve(of.text("tokenFile")),
                                user.file->resolve(of.text("client-certificate")),
                                user.file->resolve(of.text("client-key")), fixed);
  }

  static ExecPlugin plugin_of(const Entry& user) {
    struct stat about {};
    const bool is_seen = ::stat(user.file->path.c_str(), &about) == 0;
    if (!is_seen || (about.st_uid != ::geteuid() && about.st_uid != 0) ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      user.of.wrong_at("exec",
                       "other users may write this file, so its program is not run: chmod go-w it");
    }
    const Object exec = user.of.object("exec");
    ExecPlugin made{.version = exec.text("apiVersion"),
                    .command = exec.text("command"),
                    .arguments = {},
                    .environment = {},
                    .install_hint = exec.text("installHint")};
    if (made.command.empty()) exec.wrong("command is missing");
    // A name with a slash is a path from the file's folder, as kubectl takes it.
    if (made.command.find('/') != std::string::npos) {
      made.command = user.file->resolve(made.command);
    }
    made.arguments = exec.words("args");
    for (const Object& each : exec.objects("env")) {
      made.environment.emplace_back(each.text("name"), each.text("value"));
    }
    return made;
  }

  std::vector<File> files_;
};

}  // namespace

Access in_cluster(const std::string& folder, const std::string& host, const std::string& port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return {.server = fmt::format("https://{}:{}", is_v6 ? "[" + host + "]" : host, port),
          .authorities = {},
          .authorities_file = folder + "/ca.crt",
          .server_name = {},
          .proxy = {},
          .credential = Credential::of_files(folder + "/token", "", ""),
          .from = "the service account of this pod"};
}

Result<Access> read_kubeconfig(const std::string& files, const std::string& context) {
  std::vector<File> read;
  std::optional<Error> missing;
  for (std::size_t from = 0; from < files.size();) {
    const std::size_t colon = std::min(files.find(':', from), files.size());
    const std::string path = files.substr(from, colon - from);
    from = colon + 1;
    if (path.empty()) continue;
    const auto text = table::read_file(path);
    if (!text) {
      missing = text.error();
      continue;
    }
    auto json = parse_yaml(*text);
    if (!json) {
      json.error().where.file = path;
      return tl::unexpected(json.error());
    }
    read.push_back({path, std::move(*json)});
  }
  if (read.empty()) {
    if (missing) return tl::unexpected(*missing);
    return fail(Code::usage, "no kubeconfig is named");
  }
  const std::string first = read.front().path;
  try {
    return Kubeconfig(std::move(read)).access(context);
  } catch (const kueue::Refused& refused) {
    return fail(Code::invalid, refused.message, {.file = first});
  }
}

Result<Access> find_access(const AccessOptions& options) {
  if (!options.url.empty() && (!options.kubeconfig.empty() || !options.context.empty())) {
    return fail(Code::usage,
                fmt::format("--server names an API server without a kubeconfig: leave out {}",
                            options.context.empty() ? "--kubeconfig" : "--context"));
  }
  if (!options.url.empty()) return Access{.server = options.url, .from = options.url};
  if (!options.kubeconfig.empty()) return read_kubeconfig(options.kubeconfig, options.context);
  const std::string host = from_environment("KUBERNETES_SERVICE_HOST");
  const std::string port = from_environment("KUBERNETES_SERVICE_PORT");
  std::string files = from_environment("KUBECONFIG");
  std::error_code ignored;
  if (files.empty() && !host.empty() && std::filesystem::exists(kServiceAccount, ignored)) {
    return in_cluster(kServiceAccount, host, port.empty() ? "443" : port);
  }
  if (files.empty()) files = from_environment("HOME") + "/.kube/config";
  auto read = read_kubeconfig(files, options.context);
  if (!read && read.error().code == Code::not_found) {
    read.error().hint =
        "give a kubeconfig with --kubeconfig, or the URL of kubectl proxy with --server";
  }
  return read;
}

}  // namespace almanac::kube
