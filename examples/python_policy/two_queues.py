# Small jobs first, each queue in order of submission. README.md runs it.
import almanac


class TwoQueues(almanac.Policy):
    def decide(self, events, view, plan):
        for queue in view.queues():
            for job in sorted(queue, key=lambda each: each.gpus > 2):
                if not plan.start(job):
                    break


run = almanac.simulate("out/log.csv", ["fifo", TwoQueues()], cluster="out/cluster.toml", out="out/python")
for name, wait in zip(run.summary["policy"], run.summary["avg_wait_s"]):
    print(f"{name:10} mean wait {wait:10,.0f} s")
