// SPDX-License-Identifier: Apache-2.0
#include "slurm/rest_link.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slurm/fixture_data_test.h"

namespace almanac::slurm {
namespace {

/// A server that speaks one version.
struct Server {
  std::string version;
  std::map<std::string, HttpAnswer> answers{};  // by the path behind the version
  std::vector<std::string> asked{};             // method, path, body; without GETs

  AskRest ask() {
    return [this](const std::string& method, const std::string& path,
                  const std::string& body) -> Result<HttpAnswer> {
      if (path.find("/" + version + "/") == std::string::npos) return HttpAnswer{.status = 404};
      const std::string what = path.substr(path.find(version) + version.size() + 1);
      if (method != "GET") asked.push_back(method + " " + what + " " + body);
      if (const auto found = answers.find(what); found != answers.end()) return found->second;
      return HttpAnswer{.status = 200, .body = R"({"meta": {"slurm": {"release": "24.05.3"}},
        "errors": [], "reservations": [], "licenses": []})"};
    };
  }
};

Server server_24_05() {
  Server made{.version = "v0.0.41"};
  made.answers["jobs"] = {200, fixture_data("jobs_24_05.json")};
  made.answers["nodes"] = {200, fixture_data("nodes_24_05.json")};
  made.answers["partitions"] = {200, fixture_data("partitions_24_05.json")};
  return made;
}

TEST(RestLink, FindsOutTheVersionAndTellsNews) {
  Server server = server_24_05();
  RestLink link(server.ask(), 0);
  EXPECT_EQ(link.site().value().version, "24.05.3");
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  EXPECT_TRUE(news->whole);
  EXPECT_EQ(news->jobs.size(), 3U);
  EXPECT_EQ(news->partitions->size(), 2U);
  EXPECT_TRUE(link.news()->jobs.empty());
}

constexpr const char* kShares = R"({"shares": {"shares": [
  {"id": 1, "cluster": "c", "name": "root", "parent": "", "partition": "", "type": ["ASSOCIATION"],
   "shares": {"set": true, "infinite": false, "number": 1}, "usage": 900,
   "tres": {"usage": [{"name": "cpu", "value": 900.0}, {"name": "gres\/gpu", "value": 700.5}]}},
  {"id": 2, "name": "vision", "parent": "root", "partition": "", "type": ["ASSOCIATION"],
   "shares": {"set": true, "infinite": false, "number": 3}, "usage": 900,
   "tres": {"usage": [{"name": "gres\/gpu",
                       "value": {"set": true, "infinite": false, "number": 700.5}}]}},
  {"id": 3, "name": "ann", "parent": "vision", "partition": "debug", "type": ["USER"],
   "shares": {"set": true, "infinite": false, "number": 2147483647}, "usage": 40,
   "tres": {"usage": []}}], "total_shares": 3}, "errors": []})";

TEST(RestLink, TellsSharesAndUseSince2311) {
  Server server = server_24_05();
  server.answers["shares"] = {200, kShares};
  RestLink link(server.ask(), 0);
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  ASSERT_TRUE(news->associations);
  const std::vector<Association> expected = {
      {.account = "root", .shares = 1, .use = 700.5},
      {.account = "vision", .parent = "root", .shares = 3, .use = 700.5},
      {.account = "vision",
       .user = "ann",
       .partition = "debug",
       .shares = Association::kParent,
       .use = 40}};
  EXPECT_EQ(*news->associations, expected);
}

TEST(RestLink, TellsNoSharesWhereThereAreNone) {
  Server without = server_24_05();
  without.answers["shares"] = {500, R"({"errors": [{"error": "no fair share"}]})"};
  RestLink link(without.ask(), 0);
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  EXPECT_TRUE(news->associations->empty());
  Server plain{.version = "v0.0.38"};
  plain.answers = server_24_05().answers;
  plain.answers["shares"] = {200, kShares};  // 22.05 knows no such path
  RestLink old(plain.ask(), 0);
  const auto told = old.news();
  ASSERT_TRUE(told) << to_string(told.error());
  EXPECT_TRUE(told->associations->empty());
}

TEST(RestLink, ReleasesBeforeItSetsThePriority) {
  Server server = server_24_05();
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> changes{
      {.job = JobNumber{5}, .priority = 7, .held = false, .required_nodes = "n1"}};
  EXPECT_TRUE(link.change(changes)[0]);
  EXPECT_EQ(server.asked,
            (std::vector<std::string>{R"(POST job/5 {"hold":false,"required_nodes":"n1"})",
                                      R"(POST job/5 {"priority":7})"}));
}

TEST(RestLink, ReleasesNothingThatIsToBeHeld) {
  Server server = server_24_05();
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7, .held = true}};
  EXPECT_TRUE(link.change(changes)[0]);
  EXPECT_EQ(server.asked, (std::vector<std::string>{R"(POST job/5 {"hold":true})"}));
}

TEST(RestLink, TakesErrorsWithStatus200ForWhatTheyAre) {
  Server server{.version = "v0.0.38"};
  server.answers["job/9"] = {200, R"({"errors": [{"error": "Invalid job id specified"}]})"};
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> change{{.job = JobNumber{9}, .priority = 7}};
  EXPECT_EQ(link.change(change)[0].error().code, Code::not_found);
  const std::vector<JobChange> placed{{.job = JobNumber{9}, .required_nodes = "g1"}};
  EXPECT_EQ(link.change(placed)[0].error().code, Code::unsupported) << "22.05 forbids it";
}

TEST(RestLink, WaitsForASilentControllerOnce) {
  Server server = server_24_05();
  for (const char* const job : {"job/5", "job/6"}) {
    server.answers[job] = {500, R"({"errors": [{"error": "Unexpected message received"}]})"};
  }
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7},
                                       {.job = JobNumber{6}, .priority = 8}};
  const auto done = link.change(changes);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].error().code, Code::unavailable);
  EXPECT_EQ(server.asked.size(), 1U);
}

/// As 22.05.8 answers when a job_submit plugin says no.
const HttpAnswer kWithoutReason{
    500, R"({"errors": [{"error_number": -1, "error": "Unspecified error"}]})"};

TEST(RestLink, TakesARefusalWithoutAReasonForOneOfThatChange) {
  Server server{.version = "v0.0.38"};
  server.answers["job/5"] = kWithoutReason;
  server.answers["ping"] = {200, R"({"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [],
    "pings": [{"hostname": "b", "ping": "DOWN"}, {"hostname": "a", "ping": "UP"}]})"};
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7},
                                       {.job = JobNumber{6}, .priority = 8}};
  const auto done = link.change(changes);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].error().code, Code::invalid);
  EXPECT_TRUE(done[1]) << "and the next is asked";
  EXPECT_EQ(link.end(JobNumber{5}, Fate::cancel).error().code, Code::invalid);
}

TEST(RestLink, TakesItForSilenceWhereNoControllerAnswersAPing) {
  Server server{.version = "v0.0.38"};
  server.answers["job/5"] = kWithoutReason;
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7},
                                       {.job = JobNumber{6}, .priority = 8}};
  for (const char* const pings : {R"([])", R"([{"hostname": "a", "ping": "DOWN"}])"}) {
    server.answers["ping"] = {200, fmt::format(R"({{"meta": {{"Slurm": {{"release": "22.05.8"}}}},
      "errors": [], "pings": {}}})",
                                               pings)};
    const auto done = link.change(changes);
    ASSERT_EQ(done.size(), 2U);
    for (const auto& each : done) EXPECT_EQ(each.error().code, Code::unavailable) << pings;
  }
  server.answers["jobs"] = kWithoutReason;
  EXPECT_EQ(link.news().error().code, Code::unavailable) << "a question is none to refuse";
}

TEST(RestLink, TakesWhatItSaysOfAnArrayThatWasChangedForNoError) {
  Server server{.version = "v0.0.38"};
  server.answers["job/5"] = {200, R"({"errors": [
    {"description": "job array update from unix:x failed", "source": "_parse_job_list"}]})"};
  server.answers["job/6"] = {200, R"({"errors": [
    {"description": "job array update from unix:x failed", "source": "_parse_job_list"},
    {"description": "job array update from unix:x failed", "error_number": 2042,
     "error": "Job is in held state, pending scheduler release"}]})"};
  RestLink link(server.ask(), 0);
  const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7},
                                       {.job = JobNumber{6}, .priority = 8}};
  const auto done = link.change(changes);
  EXPECT_TRUE(done[0]) << to_string(done[0].error());
  EXPECT_EQ(done[1].error().code, Code::conflict);
}

TEST(RestLink, TakesAPastWithoutJobsForOne) {
  RestLink link(
      [](const std::string&, const std::string& path, const std::string&) -> Result<HttpAnswer> {
        if (path.starts_with("/slurm/v0.0.38/ping")) {
          return HttpAnswer{200, R"({"meta": {"Slurm": {"release": "22.05.8"}}, "errors": []})"};
        }
        if (!path.starts_with("/slurmdb/v0.0.38/jobs")) return HttpAnswer{.status = 404};
        return HttpAnswer{500, R"({"errors": [{"error": "Nothing found with query"}]})"};
      },
      0);
  const auto done = link.ended(Time{}, Time{1h}, [](Job&&) -> Result<void> { return {}; });
  EXPECT_TRUE(done) << to_string(done.error());
}

TEST(RestLink, SpeaksTheNewestVersionThatTheServerOffers) {
  // As slurmrestd of 25.11, which offers four; its answers have the names of 24.05.
  std::vector<std::string> pinged;
  RestLink link(
      [&](const std::string&, const std::string& path, const std::string&) -> Result<HttpAnswer> {
        for (const char* const version : {"v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44"}) {
          if (!path.starts_with(fmt::format("/slurm/{}/", version))) continue;
          if (path.ends_with("/ping")) pinged.emplace_back(version);
          if (path.ends_with("/jobs")) return HttpAnswer{200, fixture_data("jobs_24_05.json")};
          if (path.ends_with("/nodes")) return HttpAnswer{200, fixture_data("nodes_24_05.json")};
          if (path.ends_with("/partitions")) {
            return HttpAnswer{200, fixture_data("partitions_24_05.json")};
          }
          return HttpAnswer{200, R"({"meta": {"slurm": {"release": "25.11.1"}}, "errors": [],
            "pings": [{"hostname": "ctl", "responding": true, "primary": true, "latency": 90}],
            "reservations": [], "licenses": []})"};
        }
        return HttpAnswer{.status = 404};
      },
      0);
  const auto site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->version, "25.11.1");
  EXPECT_EQ(site->controller, "ctl");
  EXPECT_EQ(pinged.front(), "v0.0.44");
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  EXPECT_EQ(news->jobs.size(), 3U);
}

/// Answers of 25.11 in the version that the server was asked for, which `meta` names.
class RestVersion : public testing::TestWithParam<const char*> {};

TEST_P(RestVersion, TellsTheWholePictureAndWhatHasEnded) {
  const std::string version = GetParam();
  Server server{.version = version};
  const auto as_recorded = [&](const char* file) {
    std::string body = fixture_data(file);
    const std::string_view newest = "v0.0.44";
    body.replace(body.find(newest), newest.size(), version);
    return HttpAnswer{200, std::move(body)};
  };
  server.answers["ping"] = as_recorded("ping_25_11.json");
  server.answers["jobs"] = as_recorded("jobs_25_11.json");
  server.answers["nodes"] = as_recorded("nodes_25_11.json");
  server.answers["partitions"] = as_recorded("partitions_25_11.json");
  server.answers["jobs?start_time=uts1795317000&end_time=uts1795320001"] =
      as_recorded("accounting_25_11.json");
  RestLink link(server.ask(), 0);
  const auto site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->version, "25.11.0");
  EXPECT_EQ(site->controller, "ctl");
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  EXPECT_EQ(news->jobs.size(), 3U);
  EXPECT_EQ(news->nodes.size(), 4U);
  EXPECT_EQ(news->partitions->size(), 2U);
  std::vector<JobNumber> ended;
  const auto done =
      link.ended(Time{std::chrono::seconds(1'795'317'000)},
                 Time{std::chrono::seconds(1'795'320'000)}, [&](Job&& job) -> Result<void> {
                   ended.push_back(job.number);
                   return {};
                 });
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(ended, std::vector{JobNumber{90}});
}

INSTANTIATE_TEST_SUITE_P(Since2405, RestVersion,
                         testing::Values("v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '.');
                           return name;
                         });

TEST(RestLink, SaysThatATokenMayHaveExpired) {
  // As slurmrestd of 25.11, with an empty list next to the error.
  Server server{.version = "v0.0.44"};
  server.answers["ping"] = {200, fixture_data("ping_25_11.json")};
  server.answers["jobs"] = {500, R"j({"jobs": [], "errors": [{"description": "Unable to query jobs",
    "error_number": 1007, "error": "Protocol authentication error", "source": "slurm_load_jobs()"}],
    "warnings": []})j"};
  RestLink link(server.ask(), 0);
  const auto news = link.news();
  ASSERT_FALSE(news);
  EXPECT_EQ(news.error().code, Code::unavailable);
  EXPECT_NE(news.error().hint.find("SLURM_JWT"), std::string::npos) << to_string(news.error());
}

TEST(RestLink, TakesARefusalWithoutAReasonForAnAnswerWhileTheControllerResponds) {
  // A ping of v0.0.44 need not have `pinged`, which is deprecated.
  Server server{.version = "v0.0.44"};
  server.answers["job/5"] = {200, R"({"errors": [{"error": "Unspecified error"}]})"};
  const auto with = [&](const char* responding) {
    server.answers["ping"] = {200, fmt::format(R"({{"meta": {{"slurm": {{"release": "25.11.1"}}}},
      "errors": [], "pings": [{{"hostname": "ctl", "responding": {}}}]}})",
                                               responding)};
    RestLink link(server.ask(), 0);
    EXPECT_TRUE(link.site());
    const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7}};
    return link.change(changes)[0].error().code;
  };
  EXPECT_EQ(with("true"), Code::invalid);
  EXPECT_EQ(with("false"), Code::unavailable);
}

TEST(RestLink, SaysWhenNobodyKnowsUsOrTheServerIsTooNew) {
  Server server{.version = "v0.0.40"};
  server.answers["ping"] = {401, "Authentication failure"};
  RestLink link(server.ask(), 0);
  EXPECT_EQ(link.news().error().code, Code::unsupported);
  Server later{.version = "v9.9.9"};
  RestLink other(later.ask(), 0);
  EXPECT_EQ(other.site().error().code, Code::unsupported);
}

}  // namespace
}  // namespace almanac::slurm
