// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "process/job.h"
#include "shepherd/end_all.h"
#include "shepherd/remote.h"
#include "shepherd/runs.h"

namespace almanac::shepherd {
namespace {

using testing::HasSubstr;

TEST(EndTest, TellsHowACommandEnded) {
  const Runs runs;
  const Exit exit = runs.result(runs.shell("echo hello; echo there >&2; exit 3"));
  EXPECT_EQ(process::to_string(exit.ending), "exit status 3");
  EXPECT_EQ(exit.cause, Cause::by_itself);
  EXPECT_LE(exit.start, exit.end);
  EXPECT_EQ(runs.text(), "hello\nthere\n");
  EXPECT_EQ(shepherd::Run::look(runs.path("1.1")), shepherd::Run::Found::ended);
  EXPECT_THAT(runs.text("1.1/exit.json"), HasSubstr("\"cause\": \"by_itself\""));
  // A service that comes later hears the same.
  shepherd::Run again = shepherd::Run::adopt(runs.path("1.1")).value();
  EXPECT_EQ(Runs::exit_of(again).ending.status, 3);

  Spec killed = runs.shell("kill -9 $$");
  killed.id = "1.2";
  EXPECT_EQ(runs.result(killed).ending.signal, SIGKILL);
}

TEST(EndTest, ToldToEndACommandMayEndInGoodOrder) {
  const Runs runs;
  shepherd::Run run =
      runs.start(runs.shell("trap 'echo bye; exit 0' TERM; touch $HERE/ready; "
                            "while :; do sleep 0.01; done"));
  ASSERT_TRUE(runs.comes("ready"));
  EXPECT_EQ(shepherd::Run::look(run.folder()), shepherd::Run::Found::lives);
  EXPECT_EQ(run.exited().kind, Outcome::Kind::lives);
  run.end();
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::told);
  EXPECT_TRUE(exit.ending.good());
  EXPECT_THAT(runs.text(), HasSubstr("bye"));
}

TEST(EndTest, WhatACommandStartsInOrderToEndWellIsNotDisturbed) {
  const Runs runs;
  // It saves its work by another program, while others of it end.
  shepherd::Run run = runs.start(
      runs.shell("sleep 1000 & trap 'echo a; sh -c \"sleep 0.3; echo saved\"; exit 0' TERM; "
                 "touch $HERE/ready; while :; do sleep 0.01; done"));
  ASSERT_TRUE(runs.comes("ready"));
  run.end();
  EXPECT_TRUE(Runs::exit_of(run).ending.good());
  EXPECT_THAT(runs.text(), HasSubstr("saved\n"));
}

TEST(EndTest, WhatAShellStartsAsItDiesIsAskedToo) {
  const Runs runs;
  // Asked, it leaves a process behind that its own death makes an orphan.
  shepherd::Run run =
      runs.start(runs.shell("trap 'sleep 1000 & exit 0' TERM; touch $HERE/ready; "
                            "while :; do sleep 0.01; done"));
  ASSERT_TRUE(runs.comes("ready"));
  run.end();
  EXPECT_TRUE(Runs::exit_of(run).ending.good());
}

TEST(EndTest, WhatIgnoresSigtermIsKilledAfterTheGrace) {
  const Runs runs;
  Spec spec = runs.shell("trap '' TERM; touch $HERE/ready; while :; do sleep 1; done");
  spec.grace = 50ms;
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(runs.comes("ready"));
  run.end();
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::told);
  EXPECT_EQ(exit.ending.signal, SIGKILL);
  EXPECT_GE(exit.ran, spec.grace);
}

TEST(EndTest, AnOrderThatComesBeforeTheCommandRunsIsHeard) {
  const Runs runs;
  shepherd::Run run = runs.start(runs.shell("exec sleep 1000"));
  run.end();
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::told);
  EXPECT_EQ(exit.ending.signal, SIGTERM);
}

bool is_dead(pid_t process) {
  const std::string stat = content("/proc/" + std::to_string(process) + "/stat");
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

/// As a machine that is switched off ends its processes: command and shepherd, in some order.
TEST(EndTest, AnOrderThatIsHeardWithTheEndOfTheCommandIsWhyItEnded) {
  for (const bool command_first : {true, false}) {
    for (const char* const script :
         {"touch $HERE/ready; exec sleep 1000",
          "trap 'exit 143' TERM; touch $HERE/ready; while :; do sleep 0.01; done"}) {
      const Runs runs;
      shepherd::Run run = runs.start(runs.shell(script));
      ASSERT_TRUE(runs.comes("ready") && comes_true([&] { return run.process() > 0; }));
      const pid_t command = run.process();
      const pid_t shepherd = Runs::shepherd_of(command);
      ::kill(shepherd, SIGSTOP);
      ::kill(command_first ? command : shepherd, SIGTERM);
      ::kill(command_first ? shepherd : command, SIGTERM);
      ASSERT_TRUE(comes_true([&] { return is_dead(command); }));
      ::kill(shepherd, SIGCONT);
      EXPECT_EQ(Runs::exit_of(run).cause, Cause::told) << script;
    }
  }
}

TEST(EndTest, AnOrderThatComesBehindTheEndOfTheCommandIsHeard) {
  const Runs runs;
  bool was_told = false;
  // A busy machine may let it come too late, but not each time.
  for (int at = 0; at < 20 && !was_told; ++at) {
    Spec spec = runs.shell("touch $HERE/ready" + std::to_string(at) + "; exec sleep 1000");
    spec.id = std::to_string(at);
    shepherd::Run run = runs.start(spec);
    ASSERT_TRUE(runs.comes("ready" + spec.id) && comes_true([&] { return run.process() > 0; }));
    const pid_t command = run.process();
    const pid_t shepherd = Runs::shepherd_of(command);
    ::kill(command, SIGTERM);
    while (::kill(command, 0) == 0) std::this_thread::yield();  // it is waited for
    ::kill(shepherd, SIGTERM);
    was_told = Runs::exit_of(run).cause == Cause::told;
  }
  EXPECT_TRUE(was_told);
}

TEST(EndTest, ASigtermOfSomebodyElseIsNoOrder) {
  const Runs runs;
  const Exit exit = runs.result(runs.shell("kill -TERM $$"));
  EXPECT_EQ(exit.cause, Cause::by_itself);
  EXPECT_EQ(exit.ending.signal, SIGTERM);
}

TEST(EndTest, AllRunsAreEndedInGoodOrder) {
  const Runs runs;
  for (const char* const id : {"1.1", "2.1"}) {
    Spec spec = runs.shell(
        "trap 'echo bye; exit 0' TERM; touch $HERE/ready$0; "
        "while :; do sleep 0.01; done");
    spec.argv.push_back(id);
    spec.id = id;
    spec.out = std::string("out") + id;
    runs.start(spec);
    ASSERT_TRUE(runs.comes(std::string("ready") + id));
  }
  EXPECT_EQ(end_all({runs.path("absent"), runs.path("")}), 0);
  for (const char* const id : {"1.1", "2.1"}) {
    EXPECT_EQ(shepherd::Run::look(runs.path(id)), shepherd::Run::Found::ended);
    EXPECT_THAT(runs.text(std::string("out") + id), HasSubstr("bye"));
  }
}

TEST(EndTest, RunsOnBoxesGoOnWhenTheMachineOfTheirHeadIsSwitchedOff) {
  const Runs runs;
  const auto run = shepherd::Run::start_on_boxes(runs.path("1.1"), {{"a", runs.shell("true")}});
  ASSERT_TRUE(run);
  EXPECT_EQ(end_all({runs.path("")}), 0);
  EXPECT_FALSE(std::filesystem::exists(runs.path("1.1") + kOrderFile));
  EXPECT_EQ(shepherd::Run::look(runs.path("1.1")), shepherd::Run::Found::lives);
}

TEST(EndTest, ALaterOrderMayTakeTheGraceAway) {
  const Runs runs;
  shepherd::Run run =
      runs.start(runs.shell("trap 'touch $HERE/heard' TERM; touch $HERE/ready; "
                            "while :; do sleep 0.01; done"));
  ASSERT_TRUE(runs.comes("ready"));
  run.end();
  ASSERT_TRUE(runs.comes("heard"));
  run.end_now();
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::told);
  EXPECT_EQ(exit.ending.signal, SIGKILL);
}

TEST(EndTest, AShepherdThatObeysNobodyIsKilledWithItsRun) {
  const Runs runs;
  shepherd::Run run = runs.start(runs.shell("touch $HERE/ready; exec sleep 1000"));
  ASSERT_TRUE(runs.comes("ready") && comes_true([&] { return run.process() > 0; }));
  ::kill(Runs::shepherd_of(run.process()), SIGSTOP);
  run.end_now();
  run.kill();
  EXPECT_EQ(Runs::end_of(run).kind, Outcome::Kind::lost);
  EXPECT_TRUE(runs.alive().empty());
}

TEST(EndTest, ThatTheMachineIsShortOfSomethingIsNoEnd) {
  const Runs runs;
  const std::string program = std::getenv("ALMANAC_SHEPHERD");
  const std::string wrapper = runs.path("shepherd");
  // As many descriptors as it needs to begin, but not to start a command.
  std::ofstream(wrapper) << "#!/bin/sh\nulimit -n 8\nexec " << program << " \"$1\"\n";
  ::chmod(wrapper.c_str(), 0755);
  ::setenv("ALMANAC_SHEPHERD", wrapper.c_str(), 1);
  shepherd::Run run = runs.start(runs.shell("touch $HERE/ran"));
  ::setenv("ALMANAC_SHEPHERD", program.c_str(), 1);
  EXPECT_EQ(Runs::end_of(run).kind, Outcome::Kind::never_started);
  EXPECT_FALSE(runs.has("ran"));
}

TEST(EndTest, ADaemonOfTheCommandIsEndedWhenTheCommandHasEnded) {
  const Runs runs;
  // Two forks and a session of its own: it hears SIGTERM, and is waited for.
  shepherd::Run run = runs.start(
      runs.shell("setsid sh -c '(trap \"echo >$HERE/heard; exit 0\" TERM; echo >$HERE/ready; "
                 "while :; do sleep 0.01; done) &' & "
                 "while [ ! -e $HERE/ready ]; do sleep 0.01; done; exit 5"));
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.ending.status, 5);
  EXPECT_EQ(exit.cause, Cause::by_itself);
  EXPECT_TRUE(runs.has("heard"));
  EXPECT_TRUE(runs.alive().empty());
}

TEST(EndTest, ADaemonThatIgnoresSigtermIsKilled) {
  const Runs runs;
  Spec spec = runs.shell(
      "setsid sh -c '(trap \"\" TERM; echo >$HERE/ready; "
      "while :; do sleep 1; done) &' & "
      "while [ ! -e $HERE/ready ]; do sleep 0.01; done");
  spec.grace = 50ms;
  const Exit exit = runs.result(spec);
  EXPECT_TRUE(exit.ending.good());
  EXPECT_TRUE(runs.alive().empty());
}

TEST(EndTest, TheTimeLimitHoldsWithoutAnybodyWatching) {
  const Runs runs;
  Spec spec = runs.shell("exec sleep 1000");
  spec.time_limit = 100ms;
  { const shepherd::Run run = runs.start(spec); }  // let go of at once
  shepherd::Run run = shepherd::Run::adopt(runs.path("1.1")).value();
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::time_limit);
  EXPECT_EQ(exit.ending.signal, SIGTERM);
  EXPECT_GE(exit.ran, spec.time_limit);
}

TEST(EndTest, ASignalOfItsOwnWarnsItBeforeItsTimeLimit) {
  const Runs runs;
  Spec spec =
      runs.shell("trap 'echo warned' USR1; touch $HERE/ready; while :; do sleep 0.01; done");
  spec.time_limit = 1h;
  spec.grace = 0s;
  spec.signal = SIGUSR1;
  spec.signal_before = 1h - 300ms;
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(runs.comes("ready"));
  while (runs.text().find("warned\n") == std::string::npos) ::usleep(5000);
  EXPECT_EQ(run.exited().kind, Outcome::Kind::lives);
  // A limit that is made shorter holds from then on.
  ASSERT_TRUE(run.resize({}, {}, {}, 1ms));
  const Exit exit = Runs::exit_of(run);
  EXPECT_EQ(exit.cause, Cause::time_limit);
  const std::string text = runs.text();
  EXPECT_EQ(text.find("warned\n"), text.rfind("warned\n")) << "once";
}

TEST(EndTest, ALimitThatIsMadeLongerHoldsLater) {
  const Runs runs;
  Spec spec = runs.shell("touch $HERE/ready; sleep 1.5");
  spec.time_limit = 1s;
  shepherd::Run run = runs.start(spec);
  ASSERT_TRUE(run.resize({}, {}, {}, 1h));
  EXPECT_EQ(Runs::exit_of(run).cause, Cause::by_itself);
}

TEST(EndTest, AScriptsShellIsNotWarnedUnlessItAlone) {
  for (const bool shell : {false, true}) {
    const Runs runs;
    Spec spec = runs.shell("");
    spec.argv.clear();
    spec.script =
        "#!/bin/bash\n"
        "trap 'echo shell' USR1\n"
        "bash -c \"trap 'echo child' USR1; touch $HERE/ready; for i in {1..100}; do sleep 0.02; "
        "done\" &\n"
        "wait; wait; wait\n";
    spec.signal = SIGUSR1;
    spec.signal_shell = shell;
    shepherd::Run run = runs.start(spec);
    ASSERT_TRUE(runs.comes("ready"));
    run.make_room();
    EXPECT_EQ(Runs::exit_of(run).cause, Cause::told);
    EXPECT_EQ(runs.text().find("shell\n") != std::string::npos, shell);
    EXPECT_EQ(runs.text().find("child\n") != std::string::npos, !shell);
  }
}

TEST(EndTest, AStoppedCommandHearsSigtermToo) {
  const Runs runs;
  shepherd::Run run = runs.start(runs.shell("touch $HERE/ready; kill -STOP $$; sleep 1000"));
  ASSERT_TRUE(runs.comes("ready"));
  run.end();
  EXPECT_EQ(Runs::exit_of(run).ending.signal, SIGTERM);
}

TEST(EndTest, SaysWhyItCannotStart) {
  const Runs runs;
  auto why = [&, id = 0](Spec spec) mutable {
    spec.id = std::to_string(++id);
    const Exit exit = runs.result(spec);
    EXPECT_EQ(exit.cause, Cause::cannot_start);
    EXPECT_EQ(shepherd::Run::look(runs.path(spec.id)), shepherd::Run::Found::ended);
    return exit.message;
  };
  Spec none = runs.shell("");
  none.argv = {"no-such-program-here"};
  EXPECT_EQ(why(none),
            "cannot run no-such-program-here: No such file or directory (check that it is "
            "installed and in PATH)");
  Spec nowhere = runs.shell("");
  nowhere.directory = "/no/such/folder";
  EXPECT_EQ(why(nowhere), "cannot enter /no/such/folder: No such file or directory");
  Spec no_program = runs.shell("");
  no_program.argv = {"/etc/passwd"};
  EXPECT_EQ(why(no_program), "cannot run /etc/passwd: Permission denied");
  Spec no_log = runs.shell("touch $HERE/ran");
  no_log.out = "logs/out";
  EXPECT_EQ(why(no_log),
            "cannot open the log logs/out: No such file or directory (create its folder first)");
  Spec no_cpu = runs.shell("touch $HERE/ran");
  no_cpu.cores = {4000};
  EXPECT_THAT(why(no_cpu), HasSubstr("cannot bind to the processors"));
  EXPECT_FALSE(runs.has("ran"));
}

TEST(EndTest, AFolderThatIsThereIsNotTouched) {
  const Runs runs;
  const Spec spec = runs.shell("echo once");
  EXPECT_TRUE(runs.result(spec).ending.good());
  const auto twice = shepherd::Run::start(runs.path("1.1"), spec);
  ASSERT_FALSE(twice);
  EXPECT_THAT(to_string(twice.error()), HasSubstr("File exists"));
  EXPECT_EQ(shepherd::Run::look(runs.path("1.1")), shepherd::Run::Found::ended);
  EXPECT_EQ(runs.text(), "once\n");
  EXPECT_EQ(shepherd::Run::look(runs.path("1.2")), shepherd::Run::Found::never_started);
  EXPECT_EQ(shepherd::Run::adopt(runs.path("1.2")).error().code, Code::not_found);
}

}  // namespace
}  // namespace almanac::shepherd
