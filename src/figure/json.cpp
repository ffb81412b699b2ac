// SPDX-License-Identifier: Apache-2.0
#include "figure/json.h"

#include <cmath>
#include <limits>

namespace almanac::figure {
namespace {

using Json = nlohmann::ordered_json;

const char* to_string(Type type) {
  return type == Type::text ? "text" : type == Type::time ? "time" : "number";
}

/// Whole numbers without ".0"; NaN is null, for JSON has none.
Json number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) return nullptr;
  if (value == std::trunc(value) && std::abs(value) < kExact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

void put(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

void put(Json& object, const char* key, const std::vector<std::string>& value) {
  if (!value.empty()) object[key] = value;
}

Json to_object(const Chart& chart) {
  Json object = {{"kind", chart.kind}};
  put(object, "title", chart.title);
  put(object, "x", chart.x);
  put(object, "y", chart.y);
  put(object, "by", chart.by);
  put(object, "choose", chart.choose);
  if (chart.stacked) object["stacked"] = true;
  if (chart.sorted) object["sorted"] = true;
  if (chart.x_scale != "linear") object["x_scale"] = chart.x_scale;
  if (chart.y_scale != "linear") object["y_scale"] = chart.y_scale;
  put(object, "right", chart.right);
  put(object, "labels", chart.labels);
  put(object, "hollow", chart.hollow);
  put(object, "zeros", chart.zeros);
  put(object, "value", chart.value);
  put(object, "end", chart.end);
  if (chart.box) {
    object["box"] = {{"low", chart.box->low},       {"q1", chart.box->q1},
                     {"median", chart.box->median}, {"q3", chart.box->q3},
                     {"high", chart.box->high},     {"mean", chart.box->mean}};
  }
  if (chart.band) object["band"] = {{"low", chart.band->low}, {"high", chart.band->high}};
  for (const Reference& reference : chart.references) {
    object["reference"].push_back(
        {{"name", reference.name}, {"x", numbers(reference.x)}, {"y", numbers(reference.y)}});
  }
  return object;
}

Json to_object(const Column& column) {
  Json object = {{"name", column.name},
                 {"label", column.label},
                 {"unit", to_string(column.unit)},
                 {"type", to_string(column.type)}};
  put(object, "units", column.units);
  put(object, "better", column.better);
  if (column.detail) object["detail"] = true;
  return object;
}

}  // namespace

Json to_object(const Figure& figure) {
  Json columns = Json::array();
  Json data = Json::object();
  for (const Column& column : figure.columns) {
    columns.push_back(to_object(column));
    data[column.name] = column.type == Type::text ? Json(column.texts) : numbers(column.numbers);
  }
  Json charts = Json::array();
  for (const Chart& chart : figure.charts) charts.push_back(to_object(chart));
  Json object = {{"id", figure.id},
                 {"title", figure.title},
                 {"caption", figure.caption},
                 {"source", figure.source},
                 {"n", figure.n ? Json(*figure.n) : Json(nullptr)}};
  put(object, "compared", figure.compared);
  object["columns"] = std::move(columns);
  object["data"] = std::move(data);
  object["charts"] = std::move(charts);
  return object;
}

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace almanac::figure
