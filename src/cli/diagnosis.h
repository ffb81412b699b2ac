// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the doctors of Slurm and of Kubernetes print what they found. A diagnosis has findings, each
/// with what, found, verdict, means, to_do and the features that it concerns; verdicts are ordered
/// from good to bad.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "figure/rows.h"

namespace almanac::cli {

/// A row for each feature: whether it works, and the findings that keep it from working.
/// `concerned` returns the features of a finding.
template <typename Diagnosis, typename Feature, typename Concerned>
figure::Listing feature_rows(const Diagnosis& diagnosis, std::span<const Feature> features,
                             const Concerned& concerned) {
  figure::Rows rows{features};
  rows.add("lever", "FEATURE", [](Feature feature) { return to_string(feature); });
  rows.add(figure::Tier::key, "works", "STATUS",
           [&](Feature feature) { return to_string(diagnosis.of(feature)); });
  rows.add(figure::Tier::key, "because_of", "DEPENDS ON", [&](Feature feature) {
    std::string made;
    std::set<std::string_view> said;
    for (const auto& each : diagnosis.findings) {
      if (each.verdict == decltype(each.verdict){} || each.verdict != diagnosis.of(feature))
        continue;
      const std::vector<Feature>& of = concerned(each);
      if (std::find(of.begin(), of.end(), feature) == of.end()) continue;
      if (!said.insert(each.what).second) continue;
      made += (made.empty() ? "" : "; ") + each.what;
    }
    return made;
  });
  return rows;
}

/// All findings, the worst first. `verdicts` are all of them, from bad to good.
template <typename Diagnosis, typename Verdict>
std::string findings_in_words(const Diagnosis& diagnosis, std::initializer_list<Verdict> verdicts) {
  std::string made = "\n";
  for (const Verdict verdict : verdicts) {
    for (const auto& each : diagnosis.findings) {
      if (each.verdict != verdict) continue;
      made += fmt::format("{:8}  {}{}{}{}\n", to_string(verdict), each.what,
                          each.found.empty() ? "" : " = ", each.found,
                          each.means.empty() ? "" : ": " + each.means);
      if (!each.to_do.empty()) made += fmt::format("          -> {}\n", each.to_do);
    }
  }
  return made;
}

}  // namespace almanac::cli
