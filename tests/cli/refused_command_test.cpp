// SPDX-License-Identifier: Apache-2.0

/// \file
/// Files, addresses and lists that commands refuse: one line says what was found, and no password.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/run_program.h"

namespace almanac {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class RefusedCommand : public testing::Test {
 protected:
  /// A key as join wants it.
  std::string key() {
    const std::string path = folder_.write("key", "secret-of-the-box\n");
    ::chmod(path.c_str(), 0600);
    return path;
  }
  /// What `almanac join` says of the certificate authorities in `ca`. No head listens there.
  ProgramRun join(const std::string& ca) {
    return run_program({"join", "https://127.0.0.1:1", "--key", key(), "--ca", ca, "--gpus", "1",
                        "--state", folder_ / "state"});
  }

  TemporaryFolder folder_;
};

// To open a FIFO would wait for a writer for ever.
TEST_F(RefusedCommand, SubmitTakesNoScriptFromAFifo) {
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const ProgramRun refused = run_program({"submit", "--dry-run", fifo});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "almanac: " + fifo +
                             ": is no regular file, so it cannot be a script (write the script to "
                             "a file first)\n");
}

// A mistyped folder looks like NAMESPACE/NAME of a workload.
TEST_F(RefusedCommand, ExplainSaysThatItFoundNeitherRunNorWorkload) {
  const std::string socket = folder_ / "none.sock";
  const ProgramRun refused = run_program({"explain", "out/typo", "--socket", socket});
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(refused.err,
            "almanac: out/typo is no run directory, and as a workload it cannot be found: no "
            "service answers at " +
                socket + " (start one with `almanac serve`)\n");
}

// The user has typed options, and may not know the fields of the API.
TEST_F(RefusedCommand, SubmitNamesTheOptionsAtFault) {
  const auto refusal = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"submit", "--dry-run"});
    options.insert(options.end(), {"--", "true"});
    const ProgramRun refused = run_program(options);
    EXPECT_EQ(refused.status, 2);
    return refused.err;
  };
  EXPECT_EQ(refusal({"--gpu-mem", "20G"}), "almanac: --gpu-mem requires --gpus\n");
  EXPECT_EQ(refusal({"--gpus", "2", "--gpu-share", "0.5"}),
            "almanac: --gpu-share requires --gpus = 1\n");
  EXPECT_EQ(refusal({"--gpus", "1..2", "--gpu-share", "0.5"}),
            "almanac: --gpu-share is a part of one GPU: a job of 1 to 2 GPUs cannot have it\n");
  EXPECT_EQ(refusal({"--gpus", "4", "--max-gpus", "2"}),
            "almanac: --max-gpus must be 4 or more, not 2\n");
  EXPECT_EQ(refusal({"--max-gpus", "2"}), "almanac: --max-gpus requires --gpus of 1 or more\n");
  EXPECT_EQ(refusal({"--worthless-at", "now+2hours"}),
            "almanac: --worthless-at requires --deadline, and must not come before it\n");
  EXPECT_EQ(refusal({"--gpus", "6", "--nvlink-gpus", "4"}),
            "almanac: --gpus must be a multiple of --nvlink-gpus, the GPUs that share an NVLink "
            "domain: found 6 in groups of 4\n");
}

TEST_F(RefusedCommand, JoinEndsWhereTheAuthoritiesCannotBeRead) {
  const std::string none = folder_ / "none.pem";
  ProgramRun refused = join(none);
  EXPECT_EQ(refused.status, 66);
  EXPECT_EQ(refused.err, "almanac: " + none +
                             ": cannot read certificates: No such file or directory (use --ca with "
                             "a file in PEM)\n");
  refused = join(folder_ / "");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("it is a directory"));
  refused = join(folder_.write("text.pem", "no certificate\n"));
  EXPECT_EQ(refused.status, 65);
  EXPECT_THAT(refused.err, HasSubstr("text.pem: cannot read certificates: expected a line "
                                     "-----BEGIN CERTIFICATE-----, found none"));
  refused = join(folder_.write("key.pem", "-----BEGIN X-----\nAAAA\n-----END X-----\n"));
  EXPECT_EQ(refused.status, 65);
  EXPECT_THAT(refused.err, HasSubstr("key.pem: cannot read certificates: expected a line "
                                     "-----BEGIN CERTIFICATE-----, found none"));
}

TEST_F(RefusedCommand, NoMessageHasThePasswordOfAnAddress) {
  const std::string url = "https://ann:hunter2@127.0.0.1:1";
  ::setenv("ALMANAC_SOCKET", url.c_str(), 1);
  const ProgramRun by_socket = run_program({"queue"});
  ::unsetenv("ALMANAC_SOCKET");
  EXPECT_EQ(by_socket.status, 69);
  EXPECT_THAT(by_socket.err, HasSubstr("https://***@127.0.0.1:1"));
  ::setenv("ALMANAC_URL", url.c_str(), 1);
  const ProgramRun shown = run_program({"config", "show"});
  ::unsetenv("ALMANAC_URL");
  EXPECT_THAT(shown.out, HasSubstr("https://***@127.0.0.1:1"));
  EXPECT_THAT(shown.out, Not(HasSubstr("hunter2")));
  const std::string file = folder_.write(
      "almanac.toml", "connection = {socket = \"" + url + "\", ca = \"" + url +
                          "\"}\nagent.daemon = \"" + url + "\"\nslurm.agents = \"" + url + "\"\n");
  const ProgramRun all = run_program({"config", "show", "--config", file});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("https://***@127.0.0.1:1"));
  EXPECT_THAT(all.out, Not(HasSubstr("hunter2")));
  const std::vector<std::vector<std::string>> commands{
      {"join", url, "--key", key(), "--state", folder_ / "state"},
      {"queue", "--url", url},
      {"queue", "--url", "ann:hunter2@127.0.0.1:1"},
      {"serve", "--state", folder_ / "state", "--listen", "ann:hunter2@127.0.0.1:8317"},
      {"serve", "--state", folder_ / "state", "--listen", "ann:hunter2@127.0.0.1"},
      {"queue", "--url", url, "--url", url},
      {"queue", url},
      {url},
      {"--config", url, "config", "show"},
      {"simulate", url},
      {"inference", "profile", url, "--out", folder_ / "x.csv"}};
  for (const std::vector<std::string>& words : commands) {
    const ProgramRun refused = run_program(words);
    EXPECT_NE(refused.status, 0) << words[0];
    EXPECT_THAT(refused.err, HasSubstr("***@127.0.0.1")) << words[0];
    EXPECT_THAT(refused.err + refused.out, Not(HasSubstr("hunter2"))) << words[0];
  }
}

TEST_F(RefusedCommand, ListsOfNamesHaveNoEmptyOne) {
  for (const char* const list : {"a,,b", "a,", ",a", "a, b", "a,\tb"}) {
    for (const char* const option : {"--backfill", "--canary", "--exempt"}) {
      const ProgramRun refused = run_program(
          {"serve", "--engine", "kubernetes", "--state", folder_ / "state", option, list});
      EXPECT_EQ(refused.status, 2) << list;
      EXPECT_THAT(refused.err, HasSubstr("must be Kubernetes names")) << list;
    }
  }
}

TEST_F(RefusedCommand, ServeTakesNoPolicyThatItCannotRun) {
  for (const char* const option : {"--policy", "--shadow"}) {
    const ProgramRun refused = run_program({"serve", "--state", folder_ / "state", option, "gaia"});
    EXPECT_NE(refused.status, 0) << option;
    EXPECT_THAT(refused.err, HasSubstr("policy gaia reads signals")) << option;
  }
}

TEST_F(RefusedCommand, ErrorsNameTheOptionThatTheCommandHas) {
  const std::string jobs = folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,9,8\n");
  const std::string requests = folder_.write("requests.csv", "when,in,out\n1,2,3\n");
  const ProgramRun with = run_program({"simulate", jobs, "--cluster", "1x8", "--policy", "fifo",
                                       "--with", requests, "--service", "model=llama-3.1-8b"});
  EXPECT_NE(with.status, 0);
  EXPECT_THAT(with.err, HasSubstr("map other names with --with-columns FILE"));
  const ProgramRun compared = run_program({"compare-traces", jobs, requests});
  EXPECT_EQ(compared.status, 65);
  EXPECT_THAT(compared.err, EndsWith("(give the format with --format-b, or map the columns with "
                                     "--columns-b)\n"));
}

TEST_F(RefusedCommand, AdviseMakesNoStoreWhereThereIsNone) {
  const std::string folder = folder_ / "";
  const ProgramRun refused = run_program({"advise", "--history", folder});
  EXPECT_EQ(refused.status, 66);
  EXPECT_THAT(refused.err, HasSubstr("is no state directory: it has no almanac.db"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(RefusedCommand, AServiceHasEachKeyOnce) {
  const std::string jobs = folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,9,8\n");
  const std::string requests =
      folder_.write("requests.csv", "arrival_s,prompt_tokens,output_tokens\n1,2,3\n");
  const ProgramRun twice =
      run_program({"simulate", jobs, "--cluster", "1x8", "--policy", "fifo", "--with", requests,
                   "--service", "model=llama-3.1-8b,model=llama-3.1-70b"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_EQ(twice.err, "almanac: --service: model is given twice (give it once)\n");
}

TEST_F(RefusedCommand, ParametersOfPoliciesAreDescribedByPolicyDescribe) {
  const std::string jobs = folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,9,8\n");
  const auto refusal = [&](const char* policy) {
    return run_program({"simulate", jobs, "--cluster", "1x8", "--policy", policy}).err;
  };
  EXPECT_THAT(refusal("easy+easy:0"),
              HasSubstr("found \"0\" (almanac policy describe +easy shows its parameters)"));
  EXPECT_THAT(refusal("themis:left_out=7"),
              HasSubstr("found \"7\" (almanac policy describe themis shows its parameters)"));
  for (const char* const described : {"+easy", "themis"}) {
    EXPECT_THAT(run_program({"policy", "describe", described}).out, HasSubstr("(default "));
  }
}

TEST_F(RefusedCommand, FillLeavesOutWideJobsAndSaysNoNan) {
  const std::string jobs =
      folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,9,4\n2,0,9,4\n3,0,9,16\n");
  const ProgramRun filled =
      run_program({"cluster", "fill", jobs, "--cluster", "2x8", "--placements", "fgd"});
  ASSERT_EQ(filled.status, 0) << filled.err;
  EXPECT_THAT(filled.out, Not(HasSubstr("nan")));
  EXPECT_THAT(filled.out, HasSubstr("3 jobs in the log"));
  EXPECT_THAT(filled.err, HasSubstr("1 job is left out because no node has room for it."));
}

TEST_F(RefusedCommand, DependenciesThatAreNotFollowedAreNoted) {
  const std::string jobs = folder_.write("log.csv",
                                         "job_id,submit_s,run_s,gpus,after\n"
                                         "1,0,9,8,2\n2,1,9,8,\n3,2,9,8,77\n4,3,9,8,2\n");
  const ProgramRun done = run_program({"simulate", jobs, "--cluster", "1x8", "--policy", "fifo"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr(jobs + ": 1 job does not wait for the job in column after, "
                                         "because it is not in the log (first: job 3)"));
  EXPECT_THAT(done.err, HasSubstr("because it is submitted later"));
  EXPECT_THAT(done.err, HasSubstr("(first: job 1)"));
}

TEST_F(RefusedCommand, OptionsThatWouldHaveNoEffect) {
  const std::string jobs =
      folder_.write("log.csv", "job_id,submit_s,run_s,gpus\n1,0,9,4\n2,3600,9,4\n");
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", jobs, "--cluster", "1x8"});
    const ProgramRun run = run_program(more);
    EXPECT_EQ(run.status, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({"--timeline", "10"}), HasSubstr("--timeline requires --out"));
  EXPECT_THAT(refusal({"--out", ""}), HasSubstr("--out must not be empty"));
  EXPECT_THAT(refusal({"--warm-up", "1e30"}), HasSubstr("at most 36,500 days, found \"1e30\""));
  EXPECT_THAT(refusal({"--warm-up", "3601"}),
              HasSubstr("the last one is submitted 01:00:00 after the first"));
  EXPECT_EQ(run_program({"simulate", jobs, "--cluster", "1x8", "--warm-up", "3600"}).status, 0);
  EXPECT_THAT(refusal({"--policy", "oasis:600:5:1"}),
              HasSubstr("least (5) must not be greater than most (1)"));
  for (const char* const only_of_runs : {"--replay", "--policy=fifo"}) {
    const ProgramRun explain = run_program({"explain", "17", only_of_runs});
    EXPECT_EQ(explain.status, 2) << explain.err;
    EXPECT_THAT(explain.err, HasSubstr("requires a run and its job")) << only_of_runs;
  }
  EXPECT_THAT(run_program({"explain", "out", "17", "--what-if", "--replay"}).err,
              HasSubstr("cannot be used with"));
}

TEST_F(RefusedCommand, JobsThatCannotBeInTime) {
  const auto refusal = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"submit", "--dry-run"});
    more.insert(more.end(), {"--", "true"});
    const ProgramRun run = run_program(more);
    EXPECT_EQ(run.status, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({"--deadline", "now+1hour", "--begin", "now+2hours"}),
              HasSubstr("--begin must be earlier than --deadline"));
  EXPECT_THAT(refusal({"--after-ok", "1", "--after-not-ok", "1"}),
              HasSubstr("job 1 cannot be in both --after-ok and --after-not-ok"));
  EXPECT_THAT(refusal({"--after", "1", "--dependency", "afterok:2"}),
              HasSubstr("cannot be used with"));
  EXPECT_THAT(refusal({"--dependency", "aftercorr:1"}), HasSubstr("is not supported here"));
}

TEST_F(RefusedCommand, APolicyThatReadsSignalsIsOnlyForSimulations) {
  const std::string out = run_program({"policy", "describe", "gaia"}).out;
  EXPECT_THAT(out, HasSubstr("Only for simulations: policy gaia reads signals"));
  EXPECT_THAT(out, Not(HasSubstr("In live use")));
  EXPECT_THAT(run_program({"policy", "describe", "fifo"}).out, HasSubstr("In live use"));
  EXPECT_THAT(run_program({"policy", "describe", "fifo+follow_load"}).out,
              Not(HasSubstr("Only for simulations")))
      << "a Slurm cluster can power nodes down";
}

}  // namespace
}  // namespace almanac
