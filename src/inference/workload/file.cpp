// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "inference/workload/workload.h"
#include "table/stream.h"
#include "text/toml_reader.h"

namespace almanac::inference {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kMostTokens = 1e8;

class WorkloadReader final : text::TomlReader {
 public:
  using TomlReader::TomlReader;

  Workload read(const toml::table& file) {
    allow(file, {"span", "tenant"});
    Workload made = plain_workload();
    if (const toml::table* const span = table(file, "span")) {
      allow(*span, {"hours", "requests", "day", "block_tokens"});
      made.hours = number(*span, "hours", made.hours, 1e-6, 1e6);
      made.requests =
          std::llround(number(*span, "requests", static_cast<double>(made.requests), 1, 1e9));
      made.day = numbers(*span, "day", 0, kEndless);
      made.block_tokens = static_cast<std::int32_t>(
          number(*span, "block_tokens", made.block_tokens, 1, kMostTokens));
      constexpr std::size_t kHours = 24;
      const bool some =
          std::any_of(made.day.begin(), made.day.end(), [](double w) { return w > 0; });
      if (!made.day.empty() && (made.day.size() != kHours || !some)) {
        refuse(*span->get("day"), "day must be the weights of 24 hours, not all 0");
      }
    }
    const auto rows = tables(file, "tenant");
    if (rows.empty()) return made;
    const Tenant plain = made.tenants.front();
    made.tenants.clear();
    double sum = 0;
    for (const toml::table* const row : rows) {
      made.tenants.push_back(tenant(*row, plain));
      sum += made.tenants.back().requests;
    }
    if (sum <= 0) refuse(*file.get("tenant"), "no tenant has requests");
    return made;
  }

 private:
  Tenant tenant(const toml::table& from, const Tenant& plain) {
    allow(from, {"name",         "model",         "requests",    "adapters",    "adapter_requests",
                 "prompt",       "prompt_tail",   "output",      "output_tail", "prompt_drift",
                 "output_drift", "requests_peak", "prompt_peak", "output_peak", "together",
                 "bursts",       "common_tokens", "follow",      "follow_part", "follow_age_s"});
    Tenant made{.name = word(from, "name"),
                .model = word(from, "model"),
                .requests = number(from, "requests", 1, 0, 1e12),
                .prompt = lengths(from, "prompt", "prompt_tail", plain.prompt),
                .output = lengths(from, "output", "output_tail", plain.output),
                .prompt_drift = number(from, "prompt_drift", 0, 0, 5),
                .output_drift = number(from, "output_drift", 0, 0, 5),
                .requests_peak = number(from, "requests_peak", 0, 0, 1e6),
                .prompt_peak = number(from, "prompt_peak", 0, 0, 1e6),
                .output_peak = number(from, "output_peak", 0, 0, 1e6),
                .together = number(from, "together", 0, -1, 1),
                .bursts = bursts(from)};
    made.adapters = words(from, "adapters");
    made.adapter_requests = numbers(from, "adapter_requests", 0, 1e12);
    if (made.adapters.size() != made.adapter_requests.size()) {
      refuse(from, "adapters and adapter_requests must be lists of the same length");
    }
    made.common_tokens =
        static_cast<std::int32_t>(number(from, "common_tokens", 0, 0, kMostTokens));
    const toml::node* const follow = from.get("follow");
    if (follow != nullptr && follow->is_number()) {
      made.follow = {checked(*follow, "follow", 0, 1)};
    } else {
      made.follow = numbers(from, "follow", 0, 1);
    }
    made.follow_part = quantiles(from, "follow_part", 0, 1);
    made.follow_age_s = quantiles(from, "follow_age_s", 0, kEndless);
    if (!made.follow.empty() && (made.follow_part.empty() || made.follow_age_s.empty())) {
      refuse(*from.get("follow"),
             "requests that follow others also need follow_part and follow_age_s");
    }
    return made;
  }

  std::string word(const toml::table& from, const char* key) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return "";
    if (!node->is_string()) refuse(*node, fmt::format("{} must be a string", key));
    return node->as_string()->get();
  }
  std::vector<std::string> words(const toml::table& from, const char* key) const {
    std::vector<std::string> made;
    const toml::node* const node = from.get(key);
    if (node == nullptr) return made;
    if (!node->is_array()) refuse(*node, fmt::format("{} must be a list of strings", key));
    for (const toml::node& each : *node->as_array()) {
      if (!each.is_string()) refuse(each, fmt::format("{} must be strings", key));
      made.push_back(each.as_string()->get());
    }
    return made;
  }
  double checked(const toml::node& node, const char* key, double low, double high) const {
    const double found = text::toml_number(node);
    if (!(found >= low && found <= high)) {
      refuse(node, high == kEndless ? fmt::format("{} must be at least {}", key, low)
                                    : fmt::format("{} must be between {} and {}", key, low, high));
    }
    return found;
  }
  double number(const toml::table& from, const char* key, double missing, double low,
                double high) const {
    const toml::node* const node = from.get(key);
    return node == nullptr ? missing : checked(*node, key, low, high);
  }
  std::vector<double> numbers(const toml::table& from, const char* key, double low,
                              double high) const {
    std::vector<double> made;
    const toml::node* const node = from.get(key);
    if (node == nullptr) return made;
    if (!node->is_array()) refuse(*node, fmt::format("{} must be a list of numbers", key));
    for (const toml::node& each : *node->as_array()) made.push_back(checked(each, key, low, high));
    return made;
  }
  std::vector<double> quantiles(const toml::table& from, const char* key, double low,
                                double high) const {
    std::vector<double> made = numbers(from, key, low, high);
    if (!made.empty() && (made.size() < 2 || !std::is_sorted(made.begin(), made.end()))) {
      refuse(*from.get(key), fmt::format("{} must be two numbers or more that ascend", key));
    }
    return made;
  }
  /// Quantiles, or a log-normal: {median = 1000, spread = 1.2, most = 32000}.
  Lengths lengths(const toml::table& from, const char* key, const char* tail,
                  const Lengths& missing) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return missing;
    if (node->is_table()) {
      const toml::table& law = *node->as_table();
      allow(law, {"median", "spread", "most"});
      if (!law.contains("median")) refuse(law, fmt::format("{} has no median", key));
      return log_normal_lengths(number(law, "median", 1, 1, kMostTokens),
                                number(law, "spread", 1, 0, 10),
                                number(law, "most", kMostTokens, 1, kMostTokens));
    }
    Lengths made{quantiles(from, key, 1, kMostTokens), quantiles(from, tail, 1, kMostTokens)};
    if (made.at.empty()) refuse(*node, fmt::format("{} must be two numbers or more", key));
    return made;
  }
  std::vector<Burst> bursts(const toml::table& from) const {
    std::vector<Burst> made;
    const toml::node* const node = from.get("bursts");
    if (node == nullptr) return made;
    constexpr const char* kForm = "bursts must be pairs of seconds and spread, seconds descending";
    if (!node->is_array()) refuse(*node, kForm);
    for (const toml::node& each : *node->as_array()) {
      const toml::array* const pair = each.as_array();
      if (pair == nullptr || pair->size() != 2) refuse(each, kForm);
      made.push_back({checked((*pair)[0], "seconds of bursts", 1e-6, 1e9),
                      checked((*pair)[1], "spread of bursts", 0, 0.5)});
      if (made.size() > 1 && made.back().seconds >= made[made.size() - 2].seconds) {
        refuse(each, kForm);
      }
    }
    return made;
  }
};

std::string spelled(const std::vector<double>& values) {
  std::string made = "[";
  for (std::size_t each = 0; each < values.size(); ++each) {
    constexpr std::size_t kInLine = 20;
    if (each > 0) made += each % kInLine == 0 ? ",\n  " : ", ";
    made += fmt::format("{:.6g}", values[each]);
  }
  return made + "]";
}

}  // namespace

Result<Workload> parse_workload(std::string_view text, const std::string& name) {
  return text::read_toml_text(
      text, name, [&](const toml::table& file) { return WorkloadReader(name).read(file); });
}

Result<Workload> load_workload(const std::string& path) {
  const Result<std::string> content = table::read_file(path);
  if (!content) return tl::unexpected(content.error());
  return parse_workload(*content, path);
}

std::string to_toml(const Workload& workload) {
  std::string made =
      "# The requests of a service, for `almanac inference generate --workload THIS_FILE`;\n# "
      "docs/guide/generator.md explains each key.\n\n[span]\n";
  made += fmt::format("hours = {:.9g}\nrequests = {}\n", workload.hours, workload.requests);
  if (!workload.day.empty()) made += fmt::format("day = {}\n", spelled(workload.day));
  if (workload.block_tokens != kPlainBlockTokens) {
    made += fmt::format("block_tokens = {}\n", workload.block_tokens);
  }
  for (const Tenant& each : workload.tenants) {
    made += "\n[[tenant]]\n";
    const auto word = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      toml::table one;
      one.insert(key, value);
      std::ostringstream text;
      text << one;
      made += text.str() + "\n";
    };
    word("name", each.name);
    word("model", each.model);
    made += fmt::format("requests = {:.9g}\n", each.requests);
    const auto list = [&](const char* key, const std::vector<double>& values) {
      if (!values.empty()) made += fmt::format("{} = {}\n", key, spelled(values));
    };
    if (!each.adapters.empty()) {
      toml::array names;
      for (const std::string& name : each.adapters) names.push_back(name);
      std::ostringstream text;
      text << names;
      made += fmt::format("adapters = {}\n", text.str());
    }
    list("adapter_requests", each.adapter_requests);
    list("prompt", each.prompt.at);
    list("prompt_tail", each.prompt.tail);
    list("output", each.output.at);
    list("output_tail", each.output.tail);
    made += fmt::format("prompt_drift = {:.4f}\noutput_drift = {:.4f}\n", each.prompt_drift,
                        each.output_drift);
    for (const auto& [key, peak] :
         {std::pair("requests_peak", each.requests_peak),
          std::pair("prompt_peak", each.prompt_peak), std::pair("output_peak", each.output_peak)}) {
      if (peak > 0) made += fmt::format("{} = {:.4f}\n", key, peak);
    }
    made += fmt::format("together = {:.4f}\n", each.together);
    if (!each.bursts.empty()) {
      made += "bursts = [\n";
      for (const Burst& burst : each.bursts) {
        made += fmt::format("  [{:.9g}, {:.4f}],\n", burst.seconds, burst.spread);
      }
      made += "]\n";
    }
    if (each.common_tokens > 0) made += fmt::format("common_tokens = {}\n", each.common_tokens);
    list("follow", each.follow);
    list("follow_part", each.follow_part);
    list("follow_age_s", each.follow_age_s);
  }
  return made;
}

}  // namespace almanac::inference
