// SPDX-License-Identifier: Apache-2.0
#include "cli/kube_options.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "kube/snapshot.h"
#include "trace/read.h"

namespace almanac::cli {
namespace {

bool is_kube_name(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  const auto is_plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kLongest && is_plain(text.front()) &&
         is_plain(text.back()) && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
           return is_plain(c) || c == '-' || c == '.';
         });
}

/// Splits at commas; parts may be empty.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> made;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    made.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return made;
}

}  // namespace

CLI::App& kube_noun(Program& program) {
  return program.noun(Purpose::run, "kube",
                      "Read a Kubernetes cluster that uses Kueue, and undo what lever order wrote");
}

CLI::Validator kube_name() {
  return {[](std::string& text) -> std::string {
            return is_kube_name(text)
                       ? ""
                       : fmt::format(
                             "must be a Kubernetes name of lower-case letters, digits, "
                             "'-' and '.', found \"{}\"",
                             text);
          },
          ""};
}

CLI::Validator kube_names() {
  return {[](std::string& text) -> std::string {
            for (const std::string& each : parts_of(text)) {
              if (is_kube_name(each)) continue;
              return fmt::format(
                  "must be Kubernetes names of lower-case letters, digits, '-' and '.', separated "
                  "by commas, found \"{}\" in \"{}\"",
                  each, text);
            }
            return "";
          },
          ""};
}

std::set<std::string> names_in(const std::string& text) {
  if (text.empty()) return {};
  const std::vector<std::string> parts = parts_of(text);
  return {parts.begin(), parts.end()};
}

void KubeOptions::add_to(CLI::App& command) {
  const InGroup group(command, Group::input);
  command
      .add_option("--kubeconfig", access.kubeconfig,
                  "Files that say where the API server is, separated by colons (default: the "
                  "service account of the pod, $KUBECONFIG or ~/.kube/config)")
      ->type_name("FILES");
  command
      .add_option("--context", access.context, "Context of the kubeconfig (default: its current)")
      ->type_name("NAME");
  command
      .add_option("--server", access.url,
                  "API server without credentials, such as kubectl proxy's "
                  "http://127.0.0.1:8001")
      ->type_name("URL");
}

Result<kube::Client> KubeOptions::client() const {
  auto found = kube::find_access(access);
  if (!found) return tl::unexpected(found.error());
  return kube::Client::to(std::move(*found));
}

void OutlookOptions::add_to(CLI::App& command) {
  kube.add_to(command);
  const InGroup group(command, Group::simulation);
  command
      .add_option("--log", log,
                  "Job log of almanac kube record: past runs, in addition to the finished "
                  "workloads that the cluster still has")
      ->type_name("LOG");
  command.add_flag("--fair", is_fair,
                   "Kueue's configuration has fairSharing on, which no object shows");
}

Result<kube::Picture> OutlookOptions::picture() const {
  auto client = kube.client();
  if (!client) return tl::unexpected(client.error());
  auto taken = kube::take_picture(*client);
  if (!taken) return taken;
  say_notes(*taken);
  return taken;
}

void say_notes(const kube::Picture& picture) {
  constexpr std::size_t kMost = 2;
  const std::size_t shown = picture.notes.size() <= kMost + 1 ? picture.notes.size() : kMost;
  for (std::size_t at = 0; at < shown; ++at) note(picture.notes[at]);
  if (shown == picture.notes.size()) return;
  note(fmt::format("{} more notes of this kind; almanac kube doctor lists all of them",
                   picture.notes.size() - shown));
}

Result<std::vector<kube::Outlook>> OutlookOptions::outlook(const kube::Picture& picture) const {
  kube::Lifetimes lifetimes;
  const trace::Trace now = kube::log_of(picture);
  lifetimes.learn(now);
  if (!log.empty()) {
    auto past = trace::read_trace(log, {});
    if (!past) {
      // These commands have no options that say how to read another log.
      if (past.error().hint.find("--format") != std::string::npos) {
        past.error().hint =
            "expected a job log of almanac kube record; almanac trace convert makes one of other "
            "logs";
      }
      return tl::unexpected(past.error());
    }
    lifetimes.learn(*past);
  }
  if (lifetimes.is_empty()) {
    note(
        "no workload has finished yet, so starts that depend on run times are unknown: let almanac "
        "kube record run, and give its file with --log");
  }
  for (const std::string& each : picture.objects.not_modelled) note(each);
  return kube::outlook_of(picture, lifetimes, is_fair);
}

std::string reason_text(const kube::Outlook& outlook) {
  if (!outlook.obstacle.empty()) return outlook.obstacle;
  if (!outlook.shortages.empty()) return kueue::to_string(outlook.shortages.front());
  if (outlook.blocker.empty()) return "it fits, and waits for its turn";
  return fmt::format("it fits, but ClusterQueue {} is StrictFIFO and {} goes first",
                     outlook.cluster_queue, outlook.blocker);
}

}  // namespace almanac::cli
