// SPDX-License-Identifier: Apache-2.0
// `almanac mcp` as agents use it: by the public clients of both kinds of protocol versions, on a service with two GPUs,
// one job that runs and one that waits for it.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';

const almanac = process.env.ALMANAC_PROGRAM;
const folder = mkdtempSync(join(tmpdir(), 'almanac-mcp-'));
const env = {PATH: process.env.PATH, HOME: folder, ALMANAC_SOCKET: process.env.ALMANAC_SOCKET};
const run = (...words) => execFileSync(almanac, words, {encoding: 'utf8', env, cwd: folder, stdio: ['ignore', 'pipe', 'ignore']}).trim();

const kReading = ['cluster_status', 'queue', 'show_job', 'explain_job', 'forecast_job', 'what_if', 'usage',
  'run_summary', 'explain_run_job', 'log_summary', 'simulate_log'];
const kChanging = ['preview_submit', 'submit', 'preview_cancel', 'cancel'];

async function connected(...options) {
  const client = new Client({name: 'test', version: '1'});
  await client.connect(new StdioClientTransport({command: almanac, args: ['mcp', ...options], env, cwd: folder}));
  return client;
}
/** Calls a tool, whose result must be good. */
async function ask(client, name, args = {}) {
  const result = await client.callTool({name, arguments: args});
  assert.ok(!result.isError, result.content[0].text);
  assert.equal(result.content[0].text, result.structuredContent.sentence);
  assert.deepEqual(JSON.parse(result.content[1].text), result.structuredContent.data);
  return result.structuredContent;
}
async function refusal(client, name, args) {
  const result = await client.callTool({name, arguments: args});
  assert.equal(result.isError, true);
  return result.content[0].text;
}

let runs;
let waits;
let reader;
before(async () => {
  runs = run('submit', '--parsable', '--gpus=2', '--name=holder', '--time=1:00:00', '--', 'sleep', '600');
  waits = run('submit', '--parsable', '--gpus=1', '--name=waiter', '--time=1:00:00', '--', 'sleep', '1');
  writeFileSync(join(folder, 'log.csv'),
    'job_id,user,submit_s,run_s,gpus,time_limit_s\n1,ann,0,1000,4,1000\n2,bob,10,1000,8,1000\n3,ann,20,10,4,60\n');
  run('simulate', 'log.csv', '--cluster=1x8', '--policy=fifo,easy', '--out=run');
  reader = await connected();
});
after(async () => {
  await reader?.close();
  run('cancel', '--now', runs, waits);
  rmSync(folder, {recursive: true, force: true});
});

test('a reader has no tool that changes a job', async () => {
  const {tools} = await reader.listTools();
  assert.deepEqual(tools.map((each) => each.name), kReading);
  assert.ok(tools.every((each) => each.annotations.readOnlyHint));
  await assert.rejects(reader.callTool({name: 'cancel', arguments: {token: 'x'}}), /no such tool/);
  assert.equal(reader.getServerVersion().name, 'almanac');
  await reader.ping();
});

test('the service is read', async () => {
  const status = await ask(reader, 'cluster_status', {nodes: true});
  assert.match(status.sentence, /^2 of 2 GPUs are allocated; 1 job runs and 1 waits under policy fifo/);
  assert.equal(status.data.nodes.length, 1);
  const queue = await ask(reader, 'queue', {limit: 1});
  assert.equal(queue.sentence, '1 job running, 1 waiting. Only the first 1 are listed.');
  assert.deepEqual(queue.data.jobs.map((each) => each.name), ['holder']);
  assert.equal(queue.data.left_off, 1);
  assert.match((await ask(reader, 'show_job', {job: runs})).sentence, /^Job \d+ \(holder\) of \S+ is RUNNING/);
  assert.match((await ask(reader, 'explain_job', {job: waits})).sentence, /GPU/);
  assert.match((await ask(reader, 'forecast_job', {job: waits})).sentence, /^Job \d+ \(waiter\) of \S+ starts /);
  const what = await ask(reader, 'what_if', {gpus: [1, 2], time: ['10:00']});
  assert.deepEqual(what.data.alternatives.map((each) => each.gpus), [1, 2]);
  assert.match((await ask(reader, 'usage')).sentence, /used the most/);
});

test('files are read', async () => {
  assert.match((await ask(reader, 'log_summary', {log: 'log.csv'})).sentence, /^The log has 3 jobs of 2 users/);
  // Waits: fifo 0, 990 and 1980 s; under easy job 3 runs before job 2, on the GPUs that job 1 leaves.
  const kept = await ask(reader, 'run_summary', {run: 'run'});
  assert.equal(kept.sentence, 'Of 2 policies, easy has the shortest mean wait: 5m 30s (fifo 16m 30s).');
  const again = await ask(reader, 'simulate_log', {log: 'log.csv', cluster: '1x8', policies: ['fifo', 'easy']});
  assert.ok(again.sentence.startsWith(kept.sentence), again.sentence);
  assert.match((await ask(reader, 'explain_run_job', {run: 'run', job: '2', policy: 'fifo'})).sentence,
    /^Under fifo it waited 16m 30s/);
});

test('what is wrong is said to the model', async () => {
  assert.match(await refusal(reader, 'show_job', {job: '../tokens'}), /must be a job id/);
  assert.match(await refusal(reader, 'show_job', {job: '999'}), /999/);
  assert.match(await refusal(reader, 'show_job', {}), /`job` is missing/);
  assert.match(await refusal(reader, 'log_summary', {log: '--help'}), /--help/);
  assert.match(await refusal(reader, 'explain_run_job', {run: 'run', job: '--replay'}), /--replay/);
  assert.match(await refusal(reader, 'simulate_log', {log: 'log.csv', policies: ['nosuch']}), /no policy is named nosuch/);
});

test('jobs are changed after a preview only', async () => {
  const agent = await connected('--allow-submit');
  const {tools} = await agent.listTools();
  assert.deepEqual(tools.map((each) => each.name), [...kReading, ...kChanging]);
  assert.deepEqual(tools.filter((each) => !each.annotations.readOnlyHint).map((each) => each.name), ['submit', 'cancel']);

  const before = (await ask(agent, 'queue')).data.jobs.length;
  const preview = await ask(agent, 'preview_submit', {command: ['sleep', '5'], gpus: '1', name: 'asked', hold: true});
  assert.match(preview.sentence, /^Would submit `sleep 5` with 1 GPU in /);
  assert.ok(!JSON.stringify(preview.data).includes(`"HOME=`), 'the environment is not shown');
  assert.equal((await ask(agent, 'queue')).data.jobs.length, before, 'a preview submits nothing');
  assert.match(await refusal(agent, 'submit', {token: 'f'.repeat(32)}), /belongs to no preview/);
  assert.match(await refusal(agent, 'cancel', {token: preview.data.token}), /belongs to no preview/);
  const done = await ask(agent, 'submit', {token: preview.data.token});
  const number = String(done.data.numbers[0]);
  assert.match((await ask(agent, 'show_job', {job: number})).sentence, /\(asked\) of \S+ is PENDING, held/);
  assert.match(await refusal(agent, 'submit', {token: preview.data.token}), /belongs to no preview/);
  assert.match(await refusal(agent, 'preview_submit', {command: ['sleep', '5'], gpus: '64'}), /GPU/);

  const ending = await ask(agent, 'preview_cancel', {jobs: [number, '999']});
  assert.match(ending.sentence, /^Would cancel job \d+; not job 999: /);
  assert.match((await ask(agent, 'show_job', {job: number})).sentence, /PENDING/, 'a preview cancels nothing');
  assert.equal((await ask(agent, 'cancel', {token: ending.data.token})).sentence, `Cancelled job ${number}.`);
  assert.match((await ask(agent, 'show_job', {job: number})).sentence, /CANCELLED/);
  await agent.close();
});

const isOld = parseInt(process.versions.node) < 20;
test('clients of 2026-07-28 need no initialize', {skip: isOld && 'that client needs Node.js 20'}, async () => {
  const {Client: Modern} = await import('@modelcontextprotocol/client');
  const {StdioClientTransport: Stdio} = await import('@modelcontextprotocol/client/stdio');
  const client = new Modern({name: 'test', version: '1'}, {versionNegotiation: {mode: {pin: '2026-07-28'}}});
  await client.connect(new Stdio({command: almanac, args: ['mcp'], env, cwd: folder}));
  assert.deepEqual((await client.listTools()).tools.map((each) => each.name), kReading);
  const result = await client.callTool({name: 'explain_job', arguments: {job: waits}});
  assert.match(result.structuredContent.sentence, /GPU/);
  await client.close();
});
