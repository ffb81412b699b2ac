// SPDX-License-Identifier: Apache-2.0
#include "kube/parse.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace almanac::kube {
namespace {

using Json = nlohmann::json;

TEST(ParseObjects, LeavesOutWhatAlmanacNeverLooksAt) {
  const Json made = parse_objects(
      R"({"items": [{"spec": {"containers": [{"name": "c", "env": [{"name": "A", "value": "1"}],
                                              "resources": {"requests": {"cpu": 1.5}}}],
                              "volumes": [{"name": "v"}], "priority": 7, "suspend": false}}]})");
  EXPECT_EQ(made, Json::parse(R"({"items": [{"spec": {"containers": [
      {"name": "c", "resources": {"requests": {"cpu": 1.5}}}], "priority": 7, "suspend": false}}]})"));
}

TEST(ParseObjects, KeepsLabelsOfThoseNames) {
  const char* const text = R"({"labels": {"env": "prod", "images": "a", "command": "x"}})";
  EXPECT_EQ(parse_objects(text), Json::parse(text));
}

TEST(ParseObjects, KeepsWhoWroteThePriority) {
  const Json made = parse_objects(
      R"({"managedFields": [{"manager": "kueue", "fieldsV1": {
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {".": {}, "f:priority": {}, "f:podSets": {"k:{\"name\":\"main\"}": {}}}}}]})");
  EXPECT_EQ(made, Json::parse(R"({"managedFields": [{"manager": "kueue", "fieldsV1": {
            "f:spec": {".": {}, "f:priority": {}}}}]})"));
}

TEST(ParseObjects, MakesTextSafeToPrint) {
  const Json made = parse_objects("{\"a\\u001b[2J\": [\"b\\nc\", null, true, -1]}");
  EXPECT_EQ(made, (Json{{"a [2J", {"b c", nullptr, true, -1}}}));
}

// Readers go down by recursion.
TEST(ParseObjects, EndsAtADepth) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_EQ(parse_objects(nested(65)).dump(), nested(65));
  EXPECT_EQ(parse_objects(nested(66)).dump(), std::string(65, '[') + "null" + std::string(65, ']'));
  EXPECT_EQ(parse_objects(nested(100'000)).dump(),
            std::string(65, '[') + "null" + std::string(65, ']'));
}

TEST(ParseList, PassesEachItemAndKeepsTheRest) {
  std::vector<Json> items;
  const Json rest = parse_list(
      R"({"items": [{"a": {"items": [1, 2]}, "env": [3]}, 4, [5]],
          "metadata": {"items": [6], "continue": "x"}})",
      [&](const Json& item) { items.push_back(item); });
  EXPECT_EQ(items, (std::vector<Json>{{{"a", {{"items", {1, 2}}}}}, 4, Json::array({5})}));
  EXPECT_EQ(rest, Json::parse(R"({"items": [], "metadata": {"items": [6], "continue": "x"}})"));
}

TEST(ParseObjects, RefusesWhatIsNoJson) {
  EXPECT_TRUE(parse_objects("{\"a\": ").is_discarded());
  EXPECT_TRUE(parse_objects("").is_discarded());
  EXPECT_TRUE(parse_objects("not found\n").is_discarded());
}

}  // namespace
}  // namespace almanac::kube
