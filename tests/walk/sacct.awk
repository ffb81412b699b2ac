# jobs.csv of a run as the text of the sacct command of the README: what a Slurm of 16 nodes would have recorded.
function date(s) { return strftime("%Y-%m-%dT%H:%M:%S", s, 1) }
BEGIN {
  FS = ","
  print "JobID|JobName|User|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|AllocTRES|ReqTRES|NodeList"
}
NR == 1 { for (at = 1; at <= NF; ++at) column[$at] = at; next }
$column["end_s"] != "" && $column["gpus"] > 0 {
  gpus = $column["gpus"]
  run = int($column["run_s"])
  tres = "billing=" 6 * gpus ",cpu=" 6 * gpus ",gres/gpu=" gpus ",mem=" 40 * gpus "G,node=" int((gpus + 7) / 8)
  nodes = $column["nodes"]
  gsub(/:[0-9x.]+/, "", nodes)
  gsub(/;/, ",n", nodes)
  # A limit as people ask it: the next of 1, 4, 12, 24, 72 hours.
  limit = run < 3600 ? 60 : run < 14400 ? 240 : run < 43200 ? 720 : run < 86400 ? 1440 : run < 259200 ? 4320 : 20160
  print NR "|" (NR % 50 == 0 ? "sweep|lr=0.1" : "train-" NR % 7) "|" $column["user"] "|gpu|normal|" date($column["submit_s"]) "|" date($column["submit_s"]) "|" \
    date($column["start_s"]) "|" date($column["start_s"] + run) "|" run "|" (NR % 40 == 0 ? "UNLIMITED" : limit) "|" \
    $column["state"] "|" tres "|" tres "|n" nodes
}
