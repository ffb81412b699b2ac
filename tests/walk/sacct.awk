# jobs.csv of a run as the text of sacct -aP with the columns of the README's commands: what a Slurm of 16 nodes would have recorded.
function date(s) { return strftime("%Y-%m-%dT%H:%M:%S", s, 1) }
function clock(s) { return sprintf("%d-%02d:%02d:%02d", s / 86400, s % 86400 / 3600, s % 3600 / 60, s % 60) }
BEGIN {
  FS = ","
  print "JobID|JobName|User|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|AllocTRES|ReqTRES|NodeList|" \
    "AllocCPUS|TotalCPU|MaxRSS|NTasks|TRESUsageInAve|TRESUsageInMax|Account|NNodes|Priority|Flags|Reason|Restarts|Reservation|" \
    "Constraints|SubmitLine"
}
NR == 1 { for (at = 1; at <= NF; ++at) column[$at] = at; next }
$column["end_s"] != "" && $column["gpus"] > 0 {
  gpus = $column["gpus"]
  run = int($column["run_s"])
  tres = "billing=" 6 * gpus ",cpu=" 6 * gpus ",gres/gpu=" gpus ",mem=" 40 * gpus "G,node=" int((gpus + 7) / 8)
  nodes = $column["nodes"]
  gsub(/:[0-9x.]+/, "", nodes)
  gsub(/;/, ",n", nodes)
  when = date($column["submit_s"]) "|" date($column["submit_s"]) "|" date($column["start_s"]) "|" date($column["start_s"] + run) "|" run
  # A limit as people ask for it: the next of 1, 4, 12, 24 and 72 hours.
  limit = run < 3600 ? 60 : run < 14400 ? 240 : run < 43200 ? 720 : run < 86400 ? 1440 : run < 259200 ? 4320 : 20160
  if (NR % 40 == 0) limit = "UNLIMITED"
  more = "|lab|" int((gpus + 7) / 8) "|1000||None|0|||"
  # Users differ in how well they use what they hold: between a fifth and nine tenths of it.
  use = 0.2 + substr($column["user"], 2) % 8 / 10
  # One job in thirty holds GPUs and never uses them.
  percent = NR % 30 == 0 ? 0 : int(100 * use * gpus)
  print NR "|" (NR % 50 == 0 ? "sweep|lr=0.1" : "train-" NR % 7) "|" $column["user"] "|gpu|normal|" when "|" limit "|" \
    $column["state"] "|" tres "|" tres "|n" nodes "|" 6 * gpus "|" clock(run * 6 * gpus * use) "||||" more
  print NR ".batch|batch||||" when "||" $column["state"] "|" tres "||n" nodes "|" 6 * gpus "|" clock(run * 6 * gpus * use) "|" \
    int(40 * gpus * use * 1024) "M|1|gres/gpuutil=" percent "|gres/gpuutil=" (percent == 0 ? 0 : 100 * gpus) more
}
