// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_changes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "text/number.h"

namespace almanac::reproduce {
namespace {

using std::string_view;

std::string in_lower_case(string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return lower;
}

using Settings = std::map<std::string, std::string, std::less<>>;

/// "key=value" words, keys in lower case.
Settings settings_of(const std::vector<string_view>& words, std::size_t from, std::size_t until) {
  Settings settings;
  for (std::size_t at = from; at < until; ++at) {
    const auto equals = words[at].find('=');
    if (equals == string_view::npos) continue;
    settings[in_lower_case(words[at].substr(0, equals))] = words[at].substr(equals + 1);
  }
  return settings;
}

std::optional<std::int64_t> whole(const Settings& settings, string_view key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::nullopt : text::parse_whole(found->second);
}

bool change_qos(const Settings& settings, site::Qos& qos) {
  bool changed = false;
  const auto set = [&](string_view key, std::int64_t& value) {
    if (const auto count = whole(settings, key)) {
      value = *count;
      changed = true;
    }
  };
  set("maxjobsaccrueperuser", qos.per_user.jobs_accrue);
  set("maxjobsaccruepu", qos.per_user.jobs_accrue);
  set("maxjobsaccrueperaccount", qos.per_account.jobs_accrue);
  set("maxjobsaccruepa", qos.per_account.jobs_accrue);
  set("grpjobsaccrue", qos.group.jobs_accrue);
  if (const auto priority = whole(settings, "priority")) {
    qos.priority = static_cast<std::uint32_t>(*priority);
    changed = true;
  }
  if (const auto factor = settings.find("usagefactor"); factor != settings.end()) {
    qos.usage_factor = text::parse_decimal(factor->second).value_or(qos.usage_factor);
    changed = true;
  }
  return changed;
}

bool change_association(const Settings& settings, site::Association& association) {
  bool changed = false;
  if (const auto shares = settings.find("fairshare"); shares != settings.end()) {
    association.shares = shares->second == "parent"
                             ? site::Association::kParent
                             : text::parse_whole(shares->second).value_or(association.shares);
    changed = true;
  }
  if (const auto priority = whole(settings, "priority")) {
    association.priority = static_cast<std::uint32_t>(*priority);
    changed = true;
  }
  if (const auto count = whole(settings, "maxjobsaccrue")) {
    association.max_jobs_accrue = *count;
    changed = true;
  }
  if (const auto count = whole(settings, "grpjobsaccrue")) {
    association.group.jobs_accrue = *count;
    changed = true;
  }
  return changed;
}

bool is_among(string_view name, string_view list) {
  const std::vector<string_view> names = parts_of(list, ',');
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<string_view> parts_of(string_view text, char separator) {
  std::vector<string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (const string_view part = text.substr(0, end); !part.empty()) parts.push_back(part);
    if (end == string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

std::optional<std::pair<std::string, std::string>> changed_setting(string_view command) {
  if (command.find("scontrol reconfigure") == string_view::npos) return std::nullopt;
  constexpr string_view kBegin = "s/^", kMiddle = "=.*/";
  const auto begin = command.find(kBegin);
  const auto middle = command.find(kMiddle);
  if (begin == string_view::npos || middle == string_view::npos) return std::nullopt;
  const string_view key = command.substr(begin + kBegin.size(), middle - begin - kBegin.size());
  string_view value = command.substr(middle + kMiddle.size());
  value = value.substr(0, value.find("/'"));
  if (!value.starts_with(key) || !value.substr(key.size()).starts_with('=')) return std::nullopt;
  return std::pair(std::string(key), std::string(value.substr(key.size() + 1)));
}

bool apply_sacctmgr(string_view command, site::Site& site) {
  const std::vector<string_view> words = parts_of(command, ' ');
  const auto verb = std::find_if(words.begin(), words.end(), [](string_view word) {
    return word == "modify" || word == "add";
  });
  if (words.empty() || words.front() != "sacctmgr" || words.end() - verb < 3) return false;
  const auto first = static_cast<std::size_t>(verb - words.begin());
  const std::string kind = in_lower_case(words[first + 1]);
  const string_view names = words[first + 2];
  auto set = static_cast<std::size_t>(std::find(words.begin(), words.end(), "set") - words.begin());
  const bool modifies = set < words.size();
  if (!modifies) set = first + 2;
  const Settings settings = settings_of(words, set, words.size());
  bool changed = false;
  if (kind == "qos") {
    for (site::Qos& each : site.qos) {
      if (is_among(each.name, names)) changed |= change_qos(settings, each);
    }
  } else if (modifies && (kind == "user" || kind == "account")) {
    const Settings where = settings_of(words, first + 2, set);
    const auto account = where.find("account");
    for (site::Association& each : site.associations) {
      const bool is_named = kind == "user" ? is_among(each.user, names)
                                           : each.is_account() && is_among(each.account, names);
      if (!is_named || (account != where.end() && each.account != account->second)) continue;
      changed |= change_association(settings, each);
    }
  }
  return changed;
}

}  // namespace almanac::reproduce
