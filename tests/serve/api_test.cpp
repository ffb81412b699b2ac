// SPDX-License-Identifier: Apache-2.0
#include "serve/api.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "serve/test_service.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

class ApiTest : public testing::Test {
 protected:
  static Ask ask(std::string method, const std::string& target, std::string body = {}) {
    return TestService::ask(std::move(method), target, std::move(body));
  }
  int status(const Ask& asked) { return service_.answer(asked).status; }
  static const std::string* header(const Answer& answer, const std::string& name) {
    return TestService::header(answer, name);
  }
  TestService service_;
};

TEST_F(ApiTest, TakesAJobAndShowsIt) {
  const std::int64_t number = service_.submit(R"(, "gpus": 2, "name": "x", "script": "secret")");
  const auto job = service_.get("/v1/jobs/" + std::to_string(number));
  EXPECT_EQ(job.at("state"), "PENDING");
  EXPECT_EQ(job.at("gpus"), 2);
  EXPECT_EQ(job.at("uid"), ::geteuid());
  EXPECT_TRUE(job.at("held"));
  EXPECT_FALSE(job.contains("script"));
  EXPECT_EQ(service_.get("/v1/overview").at("held"), 1);
  EXPECT_EQ(service_.get("/v1/jobs").at("jobs").size(), 1U);
  EXPECT_EQ(service_.get("/v1/jobs?user=nobody-at-all").at("jobs").size(), 0U);
}

TEST_F(ApiTest, ShowsManyJobsInPages) {
  for (int i = 0; i < 5; ++i) service_.submit();
  const auto first = service_.get("/v1/jobs?limit=3");
  EXPECT_EQ(first.at("jobs").size(), 3U);
  const auto rest = service_.get("/v1/jobs?limit=3&after=" +
                                 std::to_string(first.at("next").get<std::int64_t>()));
  EXPECT_EQ(rest.at("jobs").size(), 2U);
  EXPECT_FALSE(rest.contains("next"));
}

TEST_F(ApiTest, SaysThatItCanTakeNothing) {
  EXPECT_EQ(status(ask("GET", "/healthz")), 200);
  // At that time it is to start, which has to be kept.
  const double soon = seconds(wall_clock().time_since_epoch()) + 1;
  const Answer made = service_.answer(
      ask("POST", "/v1/jobs",
          R"({"argv": ["true"], "directory": "/", "not_before_s": )" + std::to_string(soon) + "}"));
  ASSERT_EQ(made.status, 201) << made.body;
  SQLite::Database shell(service_.folder() / "almanac.db", SQLite::OPEN_READWRITE, 60'000);
  shell.exec("BEGIN IMMEDIATE");
  const auto becomes = [&](int wanted) {
    for (int tries = 0; tries < 6000 && status(ask("GET", "/healthz")) != wanted; ++tries) {
      std::this_thread::sleep_for(10ms);
    }
    return status(ask("GET", "/healthz"));
  };
  EXPECT_EQ(becomes(503), 503);
  shell.exec("ROLLBACK");
  EXPECT_EQ(becomes(200), 200);
}

TEST_F(ApiTest, ListsNoPartWhereTheStoreCannotBeRead) {
  service_.submit();
  SQLite::Database other(service_.folder() / "almanac.db", SQLite::OPEN_READWRITE, 60'000);
  other.exec("ALTER TABLE job RENAME TO away");
  const Answer part = service_.answer(ask("GET", "/v1/jobs?since=0"));
  EXPECT_GE(part.status, 500) << part.body;
  EXPECT_EQ(nlohmann::json::parse(part.body).count("error"), 1U);
  EXPECT_EQ(status(ask("GET", "/v1/jobs")), 200) << "what has not ended is here";
  EXPECT_EQ(status(ask("GET", "/v1/jobs?since=0&place=5")), 200)
      << "the first in line are found without all that ended";
  other.exec("ALTER TABLE away RENAME TO job");
  EXPECT_EQ(status(ask("GET", "/v1/jobs?since=0")), 200);
}

// What a log says is its user's: others hear the kind of failure, on every page and by every way.
TEST_F(ApiTest, TellsOthersTheKindOfAFailureOnly) {
  const std::string job = "/v1/jobs/" + std::to_string(service_.submit());
  // As the inquest writes it.
  SQLite::Database(service_.folder() / "almanac.db", SQLite::OPEN_READWRITE, 60'000)
      .exec(
          "INSERT INTO note (job, at_ms, what, detail) VALUES (1, 1, 'its log says', "
          "'CUDA failure, line 3: RuntimeError: password=hunter2 -> look at it'); "
          "UPDATE job SET state = 'FAILED', end_ms = 2");
  const auto shows = [&](const Ask& asked, const std::string& text) {
    return service_.answer(asked).body.find(text) != std::string::npos;
  };
  constexpr std::uint32_t kOther = 4321;
  for (const std::string page : {"/events", "/explain"}) {
    const Ask asked = ask("GET", job + page);
    for (const Ask& other : {TestService::by_user(asked, kOther), TestService::by_tcp(asked),
                             service_.by_token(asked, Scope::read, kOther),
                             service_.by_token(asked, Scope::operate, kOther)}) {
      EXPECT_EQ(status(other), 200);
      EXPECT_FALSE(shows(other, "hunter2")) << page << service_.answer(other).body;
      EXPECT_FALSE(shows(other, "RuntimeError")) << page;
      EXPECT_FALSE(shows(other, "line 3")) << page;
    }
    EXPECT_TRUE(shows(TestService::by_user(asked, kOther), "CUDA failure") || page == "/explain");
    EXPECT_TRUE(shows(asked, "hunter2") || page == "/explain");
    EXPECT_TRUE(shows(service_.by_token(asked, Scope::read), "hunter2") || page == "/explain");
  }
  for (const std::string page : {"/v1/history?since=0", "/v1/history?since=0&format=csv",
                                 "/metrics", "/v1/overview", "/v1/jobs?since=0", "/healthz"}) {
    EXPECT_FALSE(shows(ask("GET", page), "hunter2")) << page;
  }
}

// A job may come after thousands of others, and an array of thousands of tasks says so in each.
TEST_F(ApiTest, ListsTheBeginningOfWhatIsLong) {
  const std::string long_word(1'000'000, 'x');
  std::string before = "1";
  service_.submit();
  for (int i = 2; i <= 300; ++i) before += "," + std::to_string(service_.submit());
  const Answer made = service_.answer(ask(
      "POST", "/v1/jobs",
      R"({"directory": "/", "hold": true, "indices": [0,1,2,3,4,5,6,7,8,9], "argv": ["echo", ")" +
          long_word + R"("], "after": [)" + before + "]}"));
  ASSERT_EQ(made.status, 201) << made.body;
  const auto array = nlohmann::json::parse(made.body).at("numbers").at(0).get<std::int64_t>();
  const Answer list = service_.answer(ask("GET", "/v1/jobs?limit=10000"));
  EXPECT_LT(list.body.size(), 1'000'000U);
  const auto last = nlohmann::json::parse(list.body).at("jobs").back();
  EXPECT_TRUE(last.at("shortened").get<bool>());
  EXPECT_EQ(last.at("after").size(), 100U);
  const auto whole = service_.get("/v1/jobs/" + std::to_string(array));
  EXPECT_EQ(whole.at("argv").at(1), long_word);
  EXPECT_EQ(whole.at("after").size(), 300U);
  EXPECT_FALSE(whole.contains("shortened"));
}

// The cluster is one node of four GPUs without a type, in no virtual cluster.
TEST_F(ApiTest, RefusesAGpuTypeThatNoNodeHasAndNotesLabels) {
  const auto submit = [&](const std::string& what, const std::string& query = "") {
    return service_.answer(
        ask("POST", "/v1/jobs" + query,
            R"({"directory": "/", "argv": ["true"], "gpus": 1, "hold": true, )" + what + "}"));
  };
  const Answer refused = submit(R"("gpu_type": "Z900")");
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("no node has GPUs of type Z900"), std::string::npos) << refused.body;
  const Answer labelled = submit(R"("vc": "nope")");
  EXPECT_EQ(labelled.status, 201) << labelled.body;
  EXPECT_EQ(nlohmann::json::parse(labelled.body).at("notes").at(0),
            "virtual cluster nope is only a label: this service has no virtual clusters");
  EXPECT_EQ(submit(R"("vc": "nope")", "?dry_run=1").status, 200);
  EXPECT_FALSE(nlohmann::json::parse(submit(R"("name": "plain")").body).contains("notes"));
}

TEST_F(ApiTest, NamesTasksOfArrays) {
  const std::int64_t array = service_.submit(R"(, "indices": [0, 3, 7])");
  const std::string name = std::to_string(array);
  EXPECT_EQ(service_.get("/v1/jobs/" + name + "_3").at("job_id"), name + "_3");
  EXPECT_EQ(status(ask("GET", "/v1/jobs/" + name + "_4")), 404);
  EXPECT_EQ(status(ask("POST", "/v1/jobs/" + name + "_3/cancel")), 200);
  EXPECT_EQ(service_.get("/v1/jobs").at("jobs").size(), 2U);
  EXPECT_EQ(status(ask("POST", "/v1/jobs/" + name + "/cancel")), 200);
  EXPECT_EQ(service_.get("/v1/jobs").at("jobs").size(), 0U);
  EXPECT_EQ(status(ask("POST", "/v1/jobs/" + name + "/cancel")), 409) << "all have ended";
  EXPECT_EQ(status(ask("POST", "/v1/jobs/" + name + "/requeue")), 200);
  EXPECT_EQ(service_.get("/v1/jobs").at("jobs").size(), 3U);
}

TEST_F(ApiTest, SaysWhetherAnythingHasChanged) {
  Ask again = ask("GET", "/v1/jobs");
  Answer second;
  // A service that has just begun changes once more when its policy has learned.
  for (int i = 0; i < 1000 && second.status != 304; ++i) {
    const Answer first = service_.answer(ask("GET", "/v1/jobs"));
    const std::string* const tag = header(first, "ETag");
    ASSERT_NE(tag, nullptr);
    again.headers["if-none-match"] = *tag;
    second = service_.answer(again);
  }
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
  service_.submit();
  // The number grows once the round that took the job is over.
  int status_then = 304;
  for (int i = 0; i < 1000 && status_then == 304; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    status_then = service_.answer(again).status;
  }
  EXPECT_EQ(status_then, 200);
  const std::string revision = service_.get("/v1/overview").at("revision").dump();
  EXPECT_EQ(status(ask("GET", "/v1/overview?revision=" + revision)), 304);
}

// The records of a long array are written some at a time.
TEST_F(ApiTest, ShowsEveryTaskOfALongArrayAsSoonAsItIsAccepted) {
  constexpr int kTasks = 5000;
  std::string indices = "1";
  for (int task = 2; task <= kTasks; ++task) indices += "," + std::to_string(2 * task);
  const std::int64_t array = service_.submit(R"(, "indices": [)" + indices + "]");
  const std::string id = std::to_string(array) + "_" + std::to_string(2 * kTasks);
  const auto last = service_.get("/v1/jobs/" + id);
  EXPECT_EQ(last.value("number", 0), array + kTasks - 1) << last.dump();
  EXPECT_EQ(status(ask("GET", "/v1/jobs/" + std::to_string(array) + "_3")), 404);
}

// Only on Kubernetes is it NAMESPACE/NAME.
TEST_F(ApiTest, FindsAJobWhoseNameHasASlash) {
  const std::int64_t job = service_.submit(R"(, "name": "sweep/7", "comment": "other")");
  service_.submit(R"(, "name": "other", "comment": "sweep/7")");
  const auto jobs = service_.get("/v1/jobs?name=sweep/7").at("jobs");
  ASSERT_EQ(jobs.size(), 1U) << jobs.dump();
  EXPECT_EQ(jobs[0].value("number", 0), job);
}

TEST_F(ApiTest, ChangesManyJobsByOneRequest) {
  const std::int64_t first = service_.submit(R"(, "name": "train")");
  const std::int64_t second = service_.submit(R"(, "name": "train")");
  const std::int64_t third = service_.submit(R"(, "name": "test")");
  const std::int64_t array = service_.submit(R"(, "indices": [0, 1, 2, 3, 7])");
  const auto many = [&](const std::string& verb, const std::string& body) {
    return nlohmann::json::parse(service_.answer(ask("POST", "/v1/jobs/" + verb, body)).body);
  };
  const auto numbers = [](const nlohmann::json& said) {
    return said.at("numbers").get<std::vector<std::int64_t>>();
  };
  using testing::ElementsAre;
  EXPECT_THAT(numbers(many("cancel", R"({"name": "train", "dry_run": true})")),
              ElementsAre(first, second));
  EXPECT_THAT(numbers(many("cancel", R"({"state": "r"})")), ElementsAre());
  EXPECT_THAT(numbers(many("release", R"({"name": "test", "state": "PD", "dry_run": true})")),
              ElementsAre(third));
  const std::string tasks = std::to_string(array);
  EXPECT_THAT(numbers(many("cancel", R"({"jobs": [")" + tasks + R"(_[0-1,7]"]})")),
              ElementsAre(array, array + 1, array + 4));
  const auto some = many("cancel", R"({"jobs": [")" + tasks + R"(_2", "999", ")" + tasks +
                                       R"(_7", ")" + std::to_string(first) + R"("]})");
  EXPECT_THAT(numbers(some), ElementsAre(first, array + 2));
  ASSERT_EQ(some.at("refused").size(), 2U);
  EXPECT_EQ(some.at("refused")[0].at("code"), "not_found");
  EXPECT_EQ(some.at("refused")[1].at("job"), tasks + "_7");
  EXPECT_EQ(some.at("refused")[1].at("code"), "conflict");
  EXPECT_EQ(numbers(many("cancel", R"({"all": true})")).size(), 3U);
  EXPECT_EQ(numbers(many("requeue", R"({"jobs": [")" + tasks + R"("]})")).size(), 5U)
      << "all of its tasks have ended";
  const auto refused = [&](const std::string& body) {
    return status(ask("POST", "/v1/jobs/cancel", body));
  };
  EXPECT_EQ(refused("{}"), 400) << "it does not say which";
  EXPECT_EQ(refused(R"({"jobs": ["x"]})"), 400);
  EXPECT_EQ(refused(R"({"jobs": ["1_[3-1]"]})"), 400);
  EXPECT_EQ(refused(R"({"state": "COMPLETED"})"), 400);
  EXPECT_EQ(refused(R"({"jobs": ["999"]})"), 404) << "one that is named alone is an error";
}

TEST_F(ApiTest, ChangesOfManyOnlyThoseOfTheCaller) {
  const std::string own = std::to_string(service_.submit());
  const std::uint32_t other = ::geteuid() + 1000;
  const auto as_other = [&](const std::string& body) {
    return service_.answer(TestService::by_user(ask("POST", "/v1/jobs/cancel", body), other));
  };
  EXPECT_EQ(as_other(R"({"jobs": [")" + own + R"("]})").status, 403);
  const auto two = nlohmann::json::parse(as_other(R"({"jobs": [")" + own + R"(", "999"]})").body);
  EXPECT_EQ(two.at("numbers").size(), 0U);
  EXPECT_EQ(two.at("refused")[0].at("code"), "forbidden");
  EXPECT_EQ(nlohmann::json::parse(as_other(R"({"all": true})").body).at("numbers").size(), 0U);
  const std::string user = service_.get("/v1/jobs/" + own).at("user");
  EXPECT_EQ(as_other(R"({"user": ")" + user + R"("})").status, 409);
  EXPECT_EQ(service_.get("/v1/jobs/" + own).at("state"), "PENDING");
}

TEST_F(ApiTest, LetsAUserChangeOnlyTheirOwnJobs) {
  const std::string own = "/v1/jobs/" + std::to_string(service_.submit());
  const std::uint32_t other = ::geteuid() + 1000;
  for (const char* verb : {"/cancel", "/hold", "/release", "/requeue"}) {
    EXPECT_EQ(status(TestService::by_user(ask("POST", own + verb), other)), 403) << verb;
  }
  const std::string update = own + "/update";
  EXPECT_EQ(status(TestService::by_user(ask("POST", update, R"({"gpus": 2})"), other)), 403);
  EXPECT_EQ(service_.get(own).at("gpus"), 0);
  EXPECT_EQ(status(ask("POST", update, R"({"gpus": 2})")), 200);
  EXPECT_EQ(service_.get(own).at("gpus"), 2);
  EXPECT_EQ(status(ask("POST", update, R"({"gpus": 5})")), 400) << "there are four";
  EXPECT_EQ(status(ask("POST", update, R"({"time_limit_s": 0})")), 400);
  EXPECT_EQ(service_.get(own).at("state"), "PENDING");
  EXPECT_EQ(status(TestService::by_user(ask("GET", own), other)), 200);
  EXPECT_EQ(status(TestService::by_user(ask("GET", own + "/log"), other)), 403);
  EXPECT_EQ(status(ask("POST", own + "/cancel")), 200);
  EXPECT_EQ(status(TestService::by_user(ask("PUT", "/v1/policy", R"({"policy": "fifo"})"), other)),
            403);
  EXPECT_EQ(status(TestService::by_user(ask("PUT", "/v1/nodes/0", R"({"drained": true})"), other)),
            403);
  const std::string window = R"({"from_s": 4000000000, "to_s": 4000003600})";
  EXPECT_EQ(status(TestService::by_user(ask("POST", "/v1/maintenance", window), other)), 403);
  EXPECT_EQ(status(ask("POST", "/v1/maintenance", window)), 201);
  EXPECT_EQ(status(TestService::by_user(ask("POST", "/v1/maintenance/1/cancel"), other)), 403);
  EXPECT_EQ(status(TestService::by_user(ask("GET", "/v1/maintenance"), other)), 200);
  EXPECT_EQ(status(ask("POST", "/v1/maintenance/1/cancel")), 200);
  EXPECT_EQ(status(ask("PUT", "/v1/policy", R"({"policy": "fifo"})")), 200);
  EXPECT_EQ(service_.get("/v1/policy").at("policy"), "fifo");
  EXPECT_THAT(service_.answer(ask("PUT", "/v1/policy", R"({"policy": "easy+oracle"})")).body,
              HasSubstr("runs easy+rolling"));
}

// A pipe would block who opens it, and the service may be root.
TEST_F(ApiTest, OpensNoPolicyFileOfAClient) {
  const TestService service(1);
  const std::string file = std::filesystem::temp_directory_path() / "almanac_no_such_file.toml";
  const auto refuses = [&](const Ask& asked) {
    const Answer answer = service.answer(asked);
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("opens no policy file"));
  };
  refuses(ask("PUT", "/v1/policy", R"({"policy": ")" + file + "\"}"));
  refuses(ask("PUT", "/v1/shadow", R"({"policy": ")" + file + "\"}"));
  refuses(ask("POST", "/v1/forecast/if", R"({"if": ["policy )" + file + "\"]}"));
}

TEST_F(ApiTest, RunsAJobAsWhoSubmitsIt) {
  if (::geteuid() != 0) {
    EXPECT_NE(status(TestService::by_user(ask("POST", "/v1/jobs", TestService::held()), 1)), 201);
    return;
  }
  const Answer made =
      service_.answer(TestService::by_user(ask("POST", "/v1/jobs", TestService::held()), 4321));
  ASSERT_EQ(made.status, 201) << made.body;
  const auto number = nlohmann::json::parse(made.body).at("numbers").at(0).dump();
  EXPECT_EQ(service_.get("/v1/jobs/" + number).at("uid"), 4321);
  EXPECT_EQ(service_.get("/v1/jobs/" + number).at("user"), "4321");  // a user without a name
  EXPECT_EQ(status(TestService::by_user(ask("POST", "/v1/jobs/" + number + "/cancel"), 4321)), 200);
}

TEST_F(ApiTest, WantsATokenOfWhoComesByTcp) {
  const auto by_tcp = [](Ask asked, const char* token = nullptr) {
    asked = TestService::by_tcp(std::move(asked));
    if (token != nullptr) asked.headers["authorization"] = std::string("Bearer ") + token;
    return asked;
  };
  const std::string own = "/v1/jobs/" + std::to_string(service_.submit());
  EXPECT_EQ(status(by_tcp(ask("GET", "/v1/jobs"))), 200);
  EXPECT_EQ(status(by_tcp(ask("GET", "/v1/jobs"), "0123456789abcdeX")), 401);
  for (const char* foreign : {"Basic eHg=", "Bearer", "Bearer ", ""}) {
    Ask asked = by_tcp(ask("GET", "/v1/jobs"));
    asked.headers["authorization"] = foreign;
    EXPECT_EQ(status(std::move(asked)), 401) << foreign;
  }
  EXPECT_EQ(status(service_.by_token(ask("GET", "/v1/jobs"), Scope::read)), 200);
  EXPECT_EQ(status(by_tcp(ask("POST", "/v1/jobs", TestService::held()))), 401);
  EXPECT_EQ(status(by_tcp(ask("POST", own + "/cancel"))), 401);
  EXPECT_EQ(status(by_tcp(ask("POST", own + "/cancel"), "0123456789abcdeX")), 401);
  EXPECT_EQ(status(by_tcp(ask("POST", own + "/cancel"), "")), 401);
  EXPECT_EQ(status(by_tcp(ask("GET", own + "/log"))), 401);
  EXPECT_EQ(status(service_.by_token(ask("GET", own + "/log"), Scope::read)), 200);
  EXPECT_EQ(status(by_tcp(ask("DELETE", own))), 401);
  EXPECT_EQ(status(service_.by_token(ask("POST", own + "/cancel"), Scope::own)), 200);
}

TEST_F(ApiTest, LetsATokenDoWhatItsScopeSays) {
  const std::string own = "/v1/jobs/" + std::to_string(service_.submit());
  const std::string policy = R"({"policy": "fifo"})";
  const std::uint32_t other = ::geteuid() + 1000;
  EXPECT_EQ(status(service_.by_token(ask("POST", own + "/hold"), Scope::read)), 403);
  EXPECT_EQ(status(service_.by_token(ask("POST", own + "/hold"), Scope::own, other)), 403);
  EXPECT_EQ(status(service_.by_token(ask("GET", own + "/log"), Scope::own, other)), 403);
  EXPECT_EQ(status(service_.by_token(ask("GET", own + "/log"), Scope::operate, other)), 403);
  EXPECT_EQ(status(service_.by_token(ask("PUT", "/v1/policy", policy), Scope::own)), 403);
  EXPECT_EQ(status(service_.by_token(ask("PUT", "/v1/policy", policy), Scope::operate, other)),
            200);
  EXPECT_EQ(status(service_.by_token(ask("POST", own + "/hold"), Scope::own)), 200);
  EXPECT_EQ(status(service_.by_token(ask("POST", own + "/cancel"), Scope::operate, other)), 200);
}

TEST_F(ApiTest, LetsABoxOnlyReport) {
  const std::string own = "/v1/jobs/" + std::to_string(service_.submit());
  EXPECT_EQ(status(service_.by_token(ask("POST", own + "/hold"), Scope::agent)), 403);
  EXPECT_EQ(status(service_.by_token(ask("GET", "/v1/jobs"), Scope::agent)), 403);
  EXPECT_EQ(status(service_.by_token(ask("POST", "/v1/boxes/a/gone"), Scope::agent)), 403);
  for (const char* const path : {"/v1/boxes/a/report", "/v1/boxes/a/output"}) {
    EXPECT_EQ(status(service_.by_token(ask("POST", path), Scope::agent)), 403) << "of another";
    EXPECT_EQ(status(service_.by_token(ask("POST", path), Scope::operate)), 403);
    EXPECT_EQ(status(TestService::by_tcp(ask("POST", path))), 401);
    EXPECT_EQ(status(ask("POST", path)), 401) << "by the socket";
  }
}

TEST_F(ApiTest, RunsNoJobAsRootOrAnotherByAToken) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: no job runs as another";
  const Ask submits = ask("POST", "/v1/jobs", TestService::held());
  EXPECT_EQ(status(service_.by_token(submits, Scope::operate, 0)), 403);
  EXPECT_EQ(status(service_.by_token(submits, Scope::own, 0)), 403);
  for (const Scope scope : {Scope::own, Scope::operate}) {
    const Answer made = service_.answer(service_.by_token(submits, scope, 4321));
    ASSERT_EQ(made.status, 201) << made.body;
    const auto number = nlohmann::json::parse(made.body).at("numbers").at(0).dump();
    EXPECT_EQ(service_.get("/v1/jobs/" + number).at("uid"), 4321);
  }
}

TEST_F(ApiTest, TakesNoJobOfATokenThatIsJustRevoked) {
  const Tokens none = Tokens::open(service_.folder() / "none").value();
  const Guard guard(none, ::geteuid());
  const Ask submits = TestService::by_tcp(ask("POST", "/v1/jobs", TestService::held()));
  const service::Caller caller = guard.caller(submits);
  EXPECT_FALSE(caller.may_all);
  const auto refused = Guard::refuses_job(submits, caller);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
}

TEST_F(ApiTest, ShowsNothingToOtherMachinesWithoutAToken) {
  const auto from_afar = [](Ask asked) {
    asked.peer = {.is_tls = true};
    asked.headers["host"] = "gpu.example:8443";
    return asked;
  };
  for (const char* path : {"/v1/jobs", "/metrics", "/v1/nodes"}) {
    EXPECT_EQ(status(from_afar(ask("GET", path))), 401) << path;
    EXPECT_EQ(status(from_afar(service_.by_token(ask("GET", path), Scope::read))), 200) << path;
  }
  EXPECT_EQ(status(from_afar(ask("GET", "/"))), 200) << "where a token is typed in";
  EXPECT_EQ(status(from_afar(ask("GET", "/healthz"))), 200) << "a probe has no token";
  EXPECT_EQ(status(from_afar(ask("POST", "/healthz"))), 401);
  Ask change = from_afar(
      service_.by_token(ask("PUT", "/v1/policy", R"({"policy": "fifo"})"), Scope::operate));
  EXPECT_EQ(status(change), 200);
  change.headers["origin"] = "https://gpu.example:8443";
  EXPECT_EQ(status(change), 200);
  change.headers["origin"] = "http://gpu.example:8443";
  EXPECT_EQ(status(change), 403);
}

TEST_F(ApiTest, MakesTokensForWhomTheKernelNames) {
  const auto made = [](const std::string& more) {
    return ask("POST", "/v1/tokens", R"({"scope": "own", "name": "page")" + more + "}");
  };
  const std::uint32_t other = ::geteuid() + 1000;
  const Answer answer = service_.answer(TestService::by_user(made(""), other));
  ASSERT_EQ(answer.status, 201) << answer.body;
  const auto token = nlohmann::json::parse(answer.body);
  EXPECT_EQ(token.at("uid"), other);
  const std::string more = R"(, "uid": )" + std::to_string(other + 1);
  EXPECT_EQ(status(TestService::by_user(made(more), other)), 403) << "for another";
  EXPECT_EQ(status(made(more)), 201) << "but for root";
  const Ask operates = ask("POST", "/v1/tokens", R"({"scope": "operate", "name": ""})");
  EXPECT_EQ(status(TestService::by_user(operates, other)), 403);
  EXPECT_EQ(status(operates), 201);
  EXPECT_EQ(status(ask("POST", "/v1/tokens", "{\"scope\": \"own\", \"name\": \"a\\u001b[2J\"}")),
            400);
  // By a token none is made, nor seen.
  EXPECT_EQ(status(service_.by_token(made(""), Scope::operate)), 403);
  EXPECT_EQ(status(service_.by_token(ask("GET", "/v1/tokens"), Scope::operate)), 403);

  const auto seen = [&](std::uint32_t uid) {
    const Answer list = service_.answer(TestService::by_user(ask("GET", "/v1/tokens"), uid));
    EXPECT_THAT(list.body, Not(HasSubstr(token.at("token").get<std::string>())));
    return nlohmann::json::parse(list.body).at("tokens").size();
  };
  EXPECT_EQ(seen(other), 1U);
  EXPECT_GE(seen(::geteuid()), 3U);
  const std::string revoke = "/v1/tokens/" + token.at("id").get<std::string>() + "/revoke";
  EXPECT_EQ(status(TestService::by_user(ask("POST", revoke), other + 1)), 404);
  EXPECT_EQ(status(TestService::by_user(ask("POST", revoke), other)), 200);
  EXPECT_EQ(seen(other), 0U);
}

TEST_F(ApiTest, RefusesPagesOfOtherSites) {
  const auto with = [this](const char* name, const char* value, std::string method = "GET") {
    Ask asked = service_.by_token(ask(std::move(method), "/v1/policy", R"({"policy": "fifo"})"),
                                  Scope::operate);
    asked.headers[name] = value;
    return asked;
  };
  EXPECT_EQ(status(with("host", "evil.example:8080")), 403);
  EXPECT_EQ(status(with("host", "127.0.0.1.evil.example")), 403);
  EXPECT_EQ(status(with("host", "127.0.0.1:8080@evil")), 403);
  EXPECT_EQ(status(with("host", "")), 403);
  EXPECT_EQ(status(with("host", "localhost:1")), 200);
  EXPECT_EQ(status(with("origin", "http://evil.example", "PUT")), 403);
  EXPECT_EQ(status(with("origin", "null", "PUT")), 403);
  EXPECT_EQ(status(with("sec-fetch-site", "cross-site", "PUT")), 403);
  EXPECT_EQ(status(with("origin", "http://127.0.0.1:8080", "PUT")), 200);
}

TEST_F(ApiTest, CarriesWhatKeepsABrowserSafe) {
  for (const char* path : {"/v1/jobs", "/", "/nothing", "/metrics", "/v1/jobs/1"}) {
    const Answer answer = service_.answer(ask("GET", path));
    for (const char* name : {"Content-Security-Policy", "X-Content-Type-Options", "Cache-Control",
                             "Referrer-Policy"}) {
      EXPECT_NE(header(answer, name), nullptr) << path << " " << name;
    }
  }
  // SHA-256 of "1", base64.
  EXPECT_THAT(*header(service_.answer(ask("GET", "/")), "Content-Security-Policy"),
              HasSubstr("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"));
}

TEST_F(ApiTest, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(status(ask("GET", "/v1/job")), 404);
  EXPECT_EQ(status(ask("GET", "/v1/jobs/1/2/3")), 404);
  EXPECT_EQ(status(ask("GET", "/v1/jobs/999999")), 404);
  EXPECT_EQ(status(ask("GET", "/v1/jobs/abc")), 400);
  EXPECT_EQ(status(ask("GET", "/v1/jobs/../token")), 404);
  EXPECT_EQ(status(ask("GET", "/v1/jobs?limit=x")), 400);
  EXPECT_EQ(status(ask("GET", "/v1/jobs?state=GREAT")), 400);
  EXPECT_EQ(status(ask("GET", "/v1/history?format=xml")), 400);
  const Answer typo = service_.answer(ask("GET", "/v1/jobs?usr=ann"));
  EXPECT_EQ(typo.status, 400);
  EXPECT_THAT(typo.body, HasSubstr("did you mean user?"));
  const Answer wrong = service_.answer(ask("DELETE", "/v1/jobs/1"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(*header(wrong, "Allow"), "GET");
  EXPECT_EQ(status(ask("HEAD", "/v1/jobs")), 200);
  Ask form = ask("POST", "/v1/jobs", TestService::held());
  form.headers["content-type"] = "text/plain";
  EXPECT_EQ(status(form), 415);
}

TEST_F(ApiTest, ShowsALogOnlyWhereItIsTheUsersOwnFile) {
  const std::string out = service_.folder().write("out", "0123456789");
  const auto log = [&](const std::string& file, const std::string& query = {}) {
    const std::int64_t number = service_.submit(R"(, "out": ")" + file + '"');
    return service_.answer(ask("GET", "/v1/jobs/" + std::to_string(number) + "/log" + query));
  };
  EXPECT_EQ(log(out).body, "0123456789");
  EXPECT_EQ(log(out, "?offset=3&limit=4").body, "3456");
  EXPECT_EQ(*header(log(out, "?offset=3&limit=4"), "X-Next-Offset"), "7");
  EXPECT_EQ(log(out, "?offset=-2").body, "89");
  EXPECT_EQ(log(out, "?offset=99").body, "");
  EXPECT_EQ(log(service_.folder() / "not-yet").status, 200);
  ASSERT_EQ(::symlink(out.c_str(), (service_.folder() / "link").c_str()), 0);
  EXPECT_NE(log(service_.folder() / "link").status, 200);
  EXPECT_NE(log("/dev/zero").status, 200);
  EXPECT_EQ(log("/dev/null").status, 200);
  EXPECT_EQ(log("/dev/null", "?offset=-65536").body, "");
  if (::geteuid() != 0) return;
  // Of a file that belongs to another user, root's service says nothing.
  ASSERT_EQ(::chown(out.c_str(), 4321, 4321), 0);
  EXPECT_EQ(log(out).status, 403);
}

TEST_F(ApiTest, SaysNothingOfFilesThatAUserMayNotSee) {
  if (::geteuid() != 0) GTEST_SKIP() << "only a service of root could see more than its users";
  constexpr std::uint32_t kUser = 4321;
  const auto log = [&](const std::string& file) {
    Ask submit = ask("POST", "/v1/jobs", TestService::held(R"(, "out": ")" + file + '"'));
    submit.peer.gid = kUser;
    const Answer made = service_.answer(TestService::by_user(submit, kUser));
    EXPECT_EQ(made.status, 201) << made.body;
    const auto number = nlohmann::json::parse(made.body).at("numbers").at(0).get<std::int64_t>();
    return service_.answer(
        TestService::by_user(ask("GET", "/v1/jobs/" + std::to_string(number) + "/log"), kUser));
  };
  const std::string folder = service_.folder() / "";
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  const std::string secret = service_.folder() / "secret";
  ASSERT_EQ(::mkdir(secret.c_str(), 0700), 0);
  service_.folder().write("secret/there", "0123456789");
  EXPECT_EQ(log(secret + "/there").status, 403);
  EXPECT_EQ(log(secret + "/missing").status, 403);
  // Even a file of their own: others closed the way to it.
  ASSERT_EQ(::chown((secret + "/there").c_str(), kUser, kUser), 0);
  EXPECT_EQ(log(secret + "/there").status, 403);
  const std::string own = service_.folder().write("own", "0123456789");
  ASSERT_EQ(::chown(own.c_str(), kUser, kUser), 0);
  EXPECT_EQ(log(own).body, "0123456789");
  EXPECT_EQ(log(service_.folder() / "not-yet").status, 200);
  // We are root again.
  EXPECT_TRUE(std::ifstream(secret + "/there").good());
}

}  // namespace
}  // namespace almanac::serve
