// SPDX-License-Identifier: Apache-2.0
#include "serve/api_document.h"

#include "serve/fields.h"
#include "store/ask.h"

namespace almanac::serve {

std::string_view openapi();  // generated from openapi.json

namespace {

template <typename T>
constexpr bool kIsList = requires(T value) {
  value.emplace_back();
};
template <typename T>
constexpr bool kIsBoolean = std::is_same_v<T, bool> || std::is_same_v<T, trace::Requeue>;
template <typename T>
constexpr bool kIsWhole = std::is_integral_v<T> || std::is_enum_v<T>;

template <typename T>
const char* type_name() {
  if constexpr (std::is_same_v<T, std::string>) return "string";
  if constexpr (kIsList<T>) return "array";
  if constexpr (kIsBoolean<T>) return "boolean";
  return kIsWhole<T> ? "integer" : "number";
}

std::string description_of(const store::About& about) {
  const std::string unit = about.unit;
  return unit.empty() ? about.what : fmt::format("{} ({})", about.what, unit);
}

template <typename T>
Json schema_of(const store::About& about) {
  if constexpr (requires(T value) { value.has_value(); }) {
    return schema_of<typename T::value_type>(about);
  } else {
    Json made = {{"type", type_name<T>()}, {"description", description_of(about)}};
    if constexpr (kIsBoolean<T>) return made;
    const char* most = "maximum";
    if constexpr (std::is_same_v<T, std::string>) {
      most = "maxLength";
    } else if constexpr (kIsList<T>) {
      made["items"] = Json{{"type", type_name<typename T::value_type>()}};
      most = "maxItems";
    } else if constexpr (!std::is_same_v<T, Time>) {
      made["minimum"] = 0;
    }
    if (std::isfinite(about.most)) made[most] = static_cast<std::int64_t>(about.most);
    return made;
  }
}

void add_asked(Json& schema, std::initializer_list<store::Audience> audiences) {
  store::each_ask([&]<typename T, typename Logged>(const store::Ask<T, Logged>& ask) {
    if (std::find(audiences.begin(), audiences.end(), ask.audience) == audiences.end()) return;
    schema["properties"][ask.name] = schema_of<T>(ask);
  });
}

}  // namespace

std::string api_document() {
  Json made = Json::parse(openapi());
  Json& schemas = made["components"]["schemas"];
  add_asked(schemas["Submission"], {store::Audience::all, store::Audience::submission});
  add_asked(schemas["Job"], {store::Audience::of_job, store::Audience::all});
  store::each_ask([&](const auto& ask) {
    if (ask.always) schemas["Job"]["required"].push_back(ask.name);
  });
  return made.dump(1);
}

}  // namespace almanac::serve
