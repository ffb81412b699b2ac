// SPDX-License-Identifier: Apache-2.0
#include "cli/command/mcp/protocol.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace almanac::cli::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Doubles a number; waits until it is stopped; fails.
std::vector<Tool> three_tools() {
  return {{.name = "double",
           .title = "Double",
           .about = "Doubles a number.",
           .arguments = {{"number", {{"type", "integer"}, {"minimum", 0}, {"maximum", 100}}},
                         {"names", {{"type", "array"}, {"items", {{"type", "string"}}}}}},
           .required = {"number"},
           .call = [](const Arguments& arguments, const process::Bell&) -> Result<Answer> {
             const int twice = 2 * arguments.at("number").get<int>();
             Answer made{.sentence = "It is " + std::to_string(twice) + "."};
             made.data["twice"] = twice;
             return made;
           }},
          {.name = "wait",
           .call = [](const Arguments&, const process::Bell& stop) -> Result<Answer> {
             pollfd rung{stop.get(), POLLIN, 0};
             ::poll(&rung, 1, 60'000);
             return Answer{.sentence = "It was stopped."};
           }},
          {.name = "fail",
           .changes = true,
           .call = [](const Arguments&, const process::Bell&) -> Result<Answer> {
             return fail(Code::not_found, "there is no job 9", {}, "almanac jobs lists them");
           }}};
}

class McpSession : public testing::Test {
 protected:
  /// Each line as a client would send it, and all answers.
  std::vector<Json> receive(const std::vector<std::string>& lines) {
    sent_.clear();
    for (const std::string& each : lines) session_.receive(each);
    session_.finish();
    return sent_;
  }
  Json answer_to(const std::string& line) {
    const std::vector<Json> sent = receive({line});
    EXPECT_THAT(sent, SizeIs(1)) << line;
    return sent.empty() ? Json() : sent.front();
  }
  void initialize() {
    receive(
        {R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
         R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})",
         R"({"jsonrpc":"2.0","method":"notifications/initialized"})"});
  }
  /// A call of version 2025-11-25.
  static std::string call(int id, const std::string& tool, const std::string& arguments = "{}") {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":")" + tool + R"(","arguments":)" + arguments +
           "}}";
  }
  int error_code(const std::string& line) {
    return answer_to(line).value("error", Json::object()).value("code", 0);
  }

  std::vector<Json> sent_;
  Session session_{three_tools(), "Double things.",
                   [this](const std::string& line) { sent_.push_back(Json::parse(line)); }};
};

TEST_F(McpSession, NegotiatesAVersionThatBothKnow) {
  const auto chosen = [&](const std::string& asked) {
    return answer_to(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + asked +
        R"("}})")["result"]["protocolVersion"];
  };
  EXPECT_EQ(chosen("2025-06-18"), "2025-06-18");
  EXPECT_EQ(chosen("2024-11-05"), "2024-11-05");
  EXPECT_EQ(chosen("2031-01-01"), "2025-11-25");
  // It removed `initialize`, and 2025-03-26 has batches.
  EXPECT_EQ(chosen("2026-07-28"), "2025-11-25");
  EXPECT_EQ(chosen("2025-03-26"), "2025-11-25");
}

TEST_F(McpSession, ServesRequestsThatNameTheirVersionWithoutInitialize) {
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  const Json found =
      answer_to(R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{)" + meta + "}}");
  EXPECT_EQ(found["result"]["supportedVersions"],
            Json({"2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"}));
  const Json called = answer_to(
      R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"double","arguments":{"number":4},)" +
      meta + "}}");
  EXPECT_EQ(called["id"], "a");
  EXPECT_EQ(called["result"]["resultType"], "complete");
  EXPECT_EQ(called["result"]["structuredContent"]["data"]["twice"], 8);
  EXPECT_EQ(called["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "almanac");

  const Json refused = answer_to(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}})");
  EXPECT_EQ(refused["error"]["code"], -32022);
  EXPECT_EQ(refused["error"]["data"]["requested"], "1999-01-01");
}

TEST_F(McpSession, AsksForAVersionFirst) {
  EXPECT_THAT(answer_to(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")["error"]["message"],
              HasSubstr("send initialize first"));
  EXPECT_EQ(answer_to(R"({"jsonrpc":"2.0","id":2,"method":"ping"})")["result"], Json::object());
}

TEST_F(McpSession, ListsToolsWithTheirSchemas) {
  initialize();
  const Json tools =
      answer_to(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")["result"]["tools"];
  ASSERT_EQ(tools.size(), 3);
  EXPECT_EQ(tools[0]["inputSchema"]["required"], Json::array({"number"}));
  EXPECT_EQ(tools[0]["inputSchema"]["additionalProperties"], false);
  EXPECT_EQ(tools[0]["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(tools[2]["annotations"]["readOnlyHint"], false);
}

TEST_F(McpSession, AnswersWithASentenceAndData) {
  initialize();
  const Json result = answer_to(call(7, "double", R"({"number":21})"))["result"];
  EXPECT_EQ(result["content"][0]["text"], "It is 42.");
  EXPECT_EQ(result["content"][1]["text"], R"({"twice":42})");
  EXPECT_EQ(result["structuredContent"],
            Json::parse(R"({"sentence":"It is 42.","data":{"twice":42}})"));
  EXPECT_EQ(result["isError"], false);
  EXPECT_FALSE(result.contains("resultType"));
}

TEST_F(McpSession, ReportsWhatAModelCanCorrectAsAResult) {
  initialize();
  const auto why = [&](const std::string& tool, const std::string& arguments) {
    const Json result = answer_to(call(1, tool, arguments))["result"];
    EXPECT_EQ(result["isError"], true) << arguments;
    return result["content"][0]["text"].get<std::string>();
  };
  EXPECT_EQ(why("double", "{}"), "`number` is missing");
  EXPECT_EQ(why("double", R"({"number":"4"})"), "`number` must be an integer, found string");
  EXPECT_EQ(why("double", R"({"number":101})"), "`number` must be from 0 to 100, found 101");
  EXPECT_EQ(why("double", R"({"number":18446744073709551615})"),
            "`number` must be from 0 to 100, found 18446744073709551615");
  EXPECT_EQ(why("double", R"({"number":1,"names":["a",2]})"),
            "`names` has an item that must be a string, found number");
  EXPECT_EQ(why("double", R"({"number":1,"names":["a\u0000b"]})"),
            "`names` has an item that must not contain a NUL character");
  EXPECT_EQ(why("double", R"({"nubmer":4})"),
            "double has no argument `nubmer`; it takes number, names");
  EXPECT_EQ(why("fail", "{}"), "there is no job 9 (almanac jobs lists them)");
}

TEST_F(McpSession, RefusesMessagesThatAreNoRequests) {
  initialize();
  EXPECT_EQ(error_code("not JSON"), -32700);
  EXPECT_EQ(error_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), -32700);
  EXPECT_EQ(error_code("[]"), -32600);
  EXPECT_EQ(error_code("7"), -32600);
  EXPECT_EQ(error_code(R"({"id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(error_code(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(error_code(R"({"jsonrpc":"2.0","id":{},"method":"ping"})"), -32600);
  EXPECT_EQ(error_code(R"({"jsonrpc":"2.0","id":1,"method":5})"), -32600);
  EXPECT_EQ(error_code(R"({"jsonrpc":"2.0","id":1})"), -32600);
  EXPECT_EQ(error_code(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]})"), -32602);
  EXPECT_EQ(error_code(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"), -32601);
  EXPECT_EQ(error_code(call(1, "nothing")), -32602);
  EXPECT_EQ(error_code(call(1, "double", "[]")), -32602);
  EXPECT_EQ(error_code(std::string(kLongestLine, '[')), -32600);
  // An error without a known id has none.
  EXPECT_FALSE(answer_to("not JSON").contains("id"));
}

// The JSON library would exhaust the stack.
TEST_F(McpSession, RefusesDeepNesting) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  const Json answer =
      answer_to(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + deep + "}");
  EXPECT_THAT(answer.at("error").at("message").get<std::string>(),
              HasSubstr("nested more than 32 levels deep"));
}

TEST_F(McpSession, IsSilentOnNotificationsAndAnswers) {
  initialize();
  EXPECT_THAT(
      receive({R"({"jsonrpc":"2.0","method":"notifications/unknown"})",
               R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"double"}})",
               R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})",
               R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":7})",
               R"({"jsonrpc":"2.0","id":5,"result":{}})"}),
      IsEmpty());
}

TEST_F(McpSession, StopsACancelledCallAndDoesNotAnswerIt) {
  initialize();
  const std::vector<Json> sent =
      receive({call(1, "wait"), call(2, "double", R"({"number":1})"),
               R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"});
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent.front()["id"], 2);
}

TEST_F(McpSession, RefusesMoreCallsThanItKeeps) {
  initialize();
  std::vector<std::string> lines;
  for (int id = 1; id <= 200; ++id) lines.push_back(call(id, "wait"));
  for (int id = 1; id <= 200; ++id) {
    lines.push_back(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
        std::to_string(id) + "}}");
  }
  const std::vector<Json> sent = receive(lines);
  ASSERT_FALSE(sent.empty());
  for (const Json& each : sent) EXPECT_EQ(each["error"]["code"], -32000);
}

TEST_F(McpSession, ReadsLinesOfAnyLength) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    const std::string text = "\n" + std::string(3 * kLongestLine, 'x') + "\n" +
                             R"({"jsonrpc":"2.0","id":1,"method":"ping"})" + "\r\n" +
                             R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
    std::size_t at = 0;
    while (at < text.size()) {
      const ssize_t written = ::write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += static_cast<std::size_t>(written);
    }
    ::close(ends[1]);
  });
  const auto read = receive_lines(ends[0], session_);
  writer.join();
  ::close(ends[0]);
  ASSERT_TRUE(read);
  ASSERT_THAT(sent_, SizeIs(3));
  EXPECT_THAT(sent_[0]["error"]["message"].get<std::string>(), HasSubstr("was skipped"));
  EXPECT_EQ(sent_[1]["id"], 1);
  EXPECT_EQ(sent_[2]["id"], 2);
}

}  // namespace
}  // namespace almanac::cli::mcp
