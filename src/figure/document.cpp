// SPDX-License-Identifier: Apache-2.0
#include "figure/document.h"

#include "figure/json.h"

namespace almanac::figure {
namespace {

using Json = nlohmann::ordered_json;

Json findings(const Document& document) {
  Json list = Json::array();
  for (const Finding& finding : document.findings) {
    list.push_back({{"headline", finding.headline},
                    {"detail", finding.detail},
                    {"figure", finding.figure},
                    {"advice", finding.advice}});
  }
  return list;
}

Json tiles(const Document& document) {
  Json list = Json::array();
  for (const Tile& tile : document.tiles) {
    list.push_back({{"label", tile.label}, {"value", tile.value}, {"detail", tile.detail}});
  }
  return list;
}

Json facts(const Document& document) {
  Json list = Json::array();
  for (const auto& [label, value] : document.facts) {
    list.push_back({{"label", label}, {"value", value}});
  }
  return list;
}

Json absent(const Document& document) {
  Json list = Json::array();
  for (const Absent& figure : document.absent) {
    list.push_back({{"id", figure.id}, {"title", figure.title}, {"needs", figure.needs}});
  }
  return list;
}

Json provenance(const Provenance& from) {
  return {{"trace", from.trace},    {"sha256", from.sha256},
          {"filter", from.filter},  {"jobs", from.jobs < 0 ? Json(nullptr) : Json(from.jobs)},
          {"hash", from.hash},      {"version", from.version},
          {"command", from.command}};
}

Json compared(const Compared& from) {
  Json policies = Json::array();
  for (const Compared::Policy& policy : from.policies) {
    policies.push_back({{"name", policy.name}, {"caution", policy.caution}});
  }
  return {{"policies", std::move(policies)},
          {"baseline", from.baseline},
          {"best", from.best},
          {"best_choice", from.best_choice}};
}

/// The document around `sections`, whose figures are whole or only named.
Json around(const Document& document, Json sections) {
  Json object = {{"schema", 1},
                 {"kind", document.kind},
                 {"title", document.title},
                 {"subtitle", document.subtitle},
                 {"facts", facts(document)}};
  if (!document.compared.policies.empty()) object["compared"] = compared(document.compared);
  if (!document.tiles.empty()) object["tiles"] = tiles(document);
  object["findings"] = findings(document);
  object["sections"] = std::move(sections);
  object["absent"] = absent(document);
  object["notes"] = document.notes;
  object["provenance"] = provenance(document.provenance);
  return object;
}

}  // namespace

std::string to_json(const Document& document) {
  Json sections = Json::array();
  for (const Section& section : document.sections) {
    Json figures = Json::array();
    for (const Figure& figure : section.figures) figures.push_back(to_object(figure));
    sections.push_back({{"id", section.id},
                        {"title", section.title},
                        {"text", section.text},
                        {"leads", section.leads},
                        {"figures", std::move(figures)}});
  }
  return dumped(around(document, std::move(sections)), -1);
}

std::string contents_json(const Document& document) {
  Json sections = Json::array();
  for (const Section& section : document.sections) {
    Json figures = Json::array();
    for (const Figure& figure : section.figures) {
      figures.push_back({{"id", figure.id},
                         {"title", figure.title},
                         {"source", figure.source},
                         {"n", figure.n ? Json(*figure.n) : Json(nullptr)},
                         {"rows", figure.rows()}});
    }
    sections.push_back(
        {{"id", section.id}, {"title", section.title}, {"figures", std::move(figures)}});
  }
  return dumped(around(document, std::move(sections)), 2) + "\n";
}

}  // namespace almanac::figure
