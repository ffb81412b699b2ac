// SPDX-License-Identifier: Apache-2.0

/// \file
/// Kubeconfig files and credential plugins.
#include "kube/credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kube/access.h"
#include "support/temporary_folder.h"

namespace almanac::kube {
namespace {

using testing::HasSubstr;

constexpr const char* kConfig = R"(apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: c1
  cluster: {server: "https://10.0.0.1:6443/k8s", certificate-authority: pki/ca.crt, tls-server-name: kube.example}
- name: c2
  cluster:
    server: https://10.0.0.2
    certificate-authority-data: UEVN
- name: c3
  cluster: {server: "https://10.0.0.3", insecure-skip-tls-verify: true}
contexts:
- {name: prod, context: {cluster: c1, user: alice, namespace: a}}
- {name: test, context: {cluster: c2, user: bob}}
- {name: none, context: {cluster: c3}}
users:
- {name: alice, user: {token: "12345"}}
- name: bob
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
)";

class KubeconfigTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.write("config", kConfig);
};

TEST_F(KubeconfigTest, ReadsTheCurrentContext) {
  auto access = read_kubeconfig(path_, "");
  ASSERT_TRUE(access) << to_string(access.error());
  EXPECT_EQ(access->server, "https://10.0.0.1:6443/k8s");
  EXPECT_EQ(access->authorities_file, folder_ / "pki/ca.crt");
  EXPECT_EQ(access->server_name, "kube.example");
  EXPECT_TRUE(access->checks_server);
  EXPECT_EQ(access->credential.identity()->token, "12345");
  EXPECT_EQ(access->from, "context prod of " + path_);
}

TEST_F(KubeconfigTest, DecodesData) {
  auto access = read_kubeconfig(path_, "test");
  ASSERT_TRUE(access);
  EXPECT_EQ(access->authorities, "PEM");
  EXPECT_TRUE(access->checks_server);
  EXPECT_FALSE(read_kubeconfig(path_, "none")->checks_server);
  EXPECT_EQ(access->credential.identity()->certificate, "CERT");
  EXPECT_EQ(access->credential.identity()->key, "KEY");
  EXPECT_EQ(*read_kubeconfig(path_, "none")->credential.identity(), Identity{});
}

// $KUBECONFIG may name several files: the first that says something counts.
TEST_F(KubeconfigTest, JoinsFiles) {
  const std::string first = folder_.write("first", "current-context: test\n");
  const auto access = read_kubeconfig(first + ":" + (folder_ / "missing") + ":" + path_, "");
  ASSERT_TRUE(access) << to_string(access.error());
  EXPECT_EQ(access->server, "https://10.0.0.2");
}

TEST_F(KubeconfigTest, NamesFileAndFieldOfAMistake) {
  const auto said = [&](const std::string& text, const std::string& context = "") {
    return to_string(read_kubeconfig(folder_.write("bad", text), context).error());
  };
  EXPECT_THAT(said(kConfig, "prodd"),
              HasSubstr("no context is called \"prodd\": did you mean prod?"));
  EXPECT_THAT(said("a: [1\nb"), HasSubstr("bad:3:1: did not find"));
  EXPECT_THAT(said(""), HasSubstr("the file is empty"));
  EXPECT_THAT(said("{}"), HasSubstr("no context is current"));
  EXPECT_THAT(said("current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                   "clusters: [{name: c, cluster: {certificate-authority-data: '*'}}]"),
              HasSubstr("server is missing"));
  EXPECT_THAT(said("current-context: 7\ncontexts: nonsense"), HasSubstr("expected a list"));
  EXPECT_EQ(read_kubeconfig(folder_ / "missing", "").error().code, Code::not_found);
}

TEST_F(KubeconfigTest, RefusesYamlWithoutEnd) {
  const auto said = [&](const std::string& text) {
    return to_string(read_kubeconfig(folder_.write("bad", text), "").error());
  };
  EXPECT_THAT(said("a: &a [*a]\n"), HasSubstr("bad: the YAML has values nested deeper than 64"));
  EXPECT_THAT(said("a: " + std::string(65, '[') + std::string(65, ']')),
              HasSubstr("nested deeper than 64"));
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char name = 'b'; name < 'h'; ++name) {
    bomb += std::string{name} + ": &" + name + " [";
    for (int times = 0; times < 10; ++times)
      bomb += "*" + std::string{static_cast<char>(name - 1)} + ",";
    bomb += "]\n";
  }
  EXPECT_THAT(said(bomb), HasSubstr("more than 1,000,000 values"));
}

// As kubectl does: neither is silently left out.
TEST_F(KubeconfigTest, RefusesHalvesAndContradictions) {
  const auto said = [&](const std::string& cluster, const std::string& user) {
    const std::string path =
        folder_.write("bad",
                      "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
                      "clusters: [{name: c, cluster: {server: https://h" +
                          cluster +
                          "}}]\n"
                          "users: [{name: u, user: {" +
                          user + "}}]\n");
    auto read = read_kubeconfig(path, "");
    if (!read) return to_string(read.error());
    const auto identity = read->credential.identity();
    return identity ? "fine" : to_string(identity.error());
  };
  EXPECT_THAT(said(", certificate-authority: ca, insecure-skip-tls-verify: true", ""),
              HasSubstr("not allowed with certificate-authority"));
  EXPECT_THAT(said("", "client-certificate: a"), HasSubstr("expected both client-certificate and"));
  EXPECT_THAT(said("", "client-key-data: S0VZ"), HasSubstr("expected both client-certificate and"));
  folder_.write("key", "KEY\n");
  EXPECT_EQ(said("", "client-certificate-data: Q0VSVA==, client-key: key"), "fine");
  EXPECT_THAT(said("", R"(token: "a\r\nX-Evil: 1")"),
              HasSubstr("the token has a control character"));
  EXPECT_THAT(said("", R"(username: "a\nb")"),
              HasSubstr("the name of the user has a control character"));
  folder_.write("token", "a\nb\n");
  EXPECT_THAT(said("", "tokenFile: token"), HasSubstr("the token has a control character"));
}

class PluginTest : public testing::Test {
 protected:
  Credential plugin(const std::string& script) {
    const std::string path = folder_.write("login", "#!/bin/sh\n" + script);
    ::chmod(path.c_str(), 0755);
    return Credential::of_plugin({.version = "client.authentication.k8s.io/v1",
                                  .command = path,
                                  .arguments = {"one"},
                                  .environment = {{"WORD", "two"}}});
  }
  TemporaryFolder folder_;
};

TEST_F(PluginTest, AsksForATokenOnceUntilItIsRejected) {
  Credential credential = plugin("echo x >> '" + (folder_ / "calls") +
                                 "'; echo '{\"status\": {\"token\": \"'$1-$WORD'\"}}'");
  EXPECT_EQ(credential.identity()->token, "one-two");
  EXPECT_EQ(credential.identity()->token, "one-two");
  EXPECT_EQ(std::filesystem::file_size(folder_ / "calls"), 2);
  credential.forget();
  EXPECT_TRUE(credential.identity());
  EXPECT_EQ(std::filesystem::file_size(folder_ / "calls"), 4);
}

TEST_F(PluginTest, AsksAgainWhenItHasExpired) {
  Credential credential =
      plugin("echo x >> '" + (folder_ / "calls") +
             "'; echo '{\"status\": {\"token\": \"t\", \"expirationTimestamp\": "
             "\"2020-01-01T00:00:00Z\"}}'");
  EXPECT_TRUE(credential.identity());
  EXPECT_TRUE(credential.identity());
  EXPECT_EQ(std::filesystem::file_size(folder_ / "calls"), 4);
}

TEST_F(PluginTest, SaysWhyItFailed) {
  EXPECT_THAT(plugin("echo 'no session' >&2; exit 3").identity().error().message,
              HasSubstr("failed (exit status 3): no session"));
  EXPECT_THAT(plugin("echo hello").identity().error().message, HasSubstr("is not JSON"));
  EXPECT_THAT(plugin("echo '{}'").identity().error().message, HasSubstr("has no credential"));
  EXPECT_EQ(Credential::of_plugin({.command = folder_ / "absent", .install_hint = "get it"})
                .identity()
                .error()
                .hint,
            "get it");
}

// Callers take not_found as the server's word that it has no such group.
TEST(Credential, SaysWhatIsMissingOnThisMachine) {
  const Error plugin = Credential::of_plugin({.command = "no-such-plugin"}).identity().error();
  EXPECT_EQ(plugin.code, Code::unavailable);
  EXPECT_THAT(plugin.message, HasSubstr("the credential plugin no-such-plugin: "));
  const Error token = Credential::of_files("/none/token", "", "").identity().error();
  EXPECT_EQ(token.code, Code::unavailable);
  EXPECT_THAT(token.message, HasSubstr("the tokenFile cannot be read: /none/token"));
  EXPECT_THAT(Credential::of_files("", "/none/pem", "/none/key").identity().error().message,
              HasSubstr("the client certificate cannot be read: /none/pem"));
}

TEST_F(PluginTest, RunsNoProgramThatOthersMayChange) {
  const std::string path =
      folder_.write("config",
                    "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
                    "clusters: [{name: c, cluster: {server: https://h}}]\n"
                    "users: [{name: u, user: {exec: {apiVersion: v1, command: login}}}]\n");
  EXPECT_TRUE(read_kubeconfig(path, ""));
  ::chmod(path.c_str(), 0666);
  const auto refused = read_kubeconfig(path, "");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("other users may write this file"));
}

}  // namespace
}  // namespace almanac::kube
