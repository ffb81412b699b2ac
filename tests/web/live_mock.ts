// SPDX-License-Identifier: Apache-2.0
// A service that answers as src/serve does, from a world that does nothing by itself.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {World} from './live_world';

export const kToken = 'the-token-of-these-tests';

export interface Change {
  method: string;
  path: string;
  body: string;
}

/** As src/serve/page_policy.cpp makes it: own scripts and styles by hash, nothing else. */
function policyOf(html: string): string {
  const hashes = (tag: string) => [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))]
    .map(([, inside]) => `'sha256-${createHash('sha256').update(inside as string).digest('base64')}'`).join(' ');
  return `default-src 'none'; script-src ${hashes('script')}; style-src ${hashes('style')}; img-src data: blob:; connect-src 'self'; `
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

export class Mock {
  /** Requests that were answered, as "GET /v1/overview 304". */
  readonly answered: string[] = [];
  readonly changes: Change[] = [];
  private server: Server | undefined;
  private port = 0;
  private readonly html: string;

  constructor(public world: World, page: string) {
    this.html = readFileSync(page, 'utf8');
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.server = createServer((ask, answer) => void this.answer(ask, answer));
    await new Promise<void>((done) => this.server?.listen(this.port, '127.0.0.1', done));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const {server} = this;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  }

  private async answer(ask: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(ask.url ?? '/', this.url);
    const say = (status: number, body: string, type = 'application/json', headers: Record<string, string> = {}) => {
      this.answered.push(`${ask.method} ${url.pathname} ${status}`);
      answer.writeHead(status, {'Content-Type': type, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers});
      answer.end(body);
    };
    const json = (value: unknown) => say(200, JSON.stringify(value));
    const refuse = (status: number, message: string, hint = '') => say(status, JSON.stringify({error: {code: 'x', message, ...(hint ? {hint} : {})}}));
    if (url.pathname === '/') return say(200, this.html, 'text/html; charset=utf-8', {'Content-Security-Policy': policyOf(this.html)});
    const has = ask.headers.authorization === `Bearer ${kToken}`;
    if (ask.method !== 'GET') {
      let body = '';
      for await (const part of ask) body += String(part);
      if (!has) return refuse(401, "this is not the service's token");
      this.changes.push({method: ask.method ?? '', path: url.pathname, body});
      return this.change(url.pathname, body, json, refuse);
    }
    this.look(url, has, json, refuse, say);
  }

  private change(path: string, body: string, json: (value: unknown) => void, refuse: (status: number, message: string) => void): void {
    const [, id, verb] = /^\/v1\/jobs\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    const {world} = this;
    ++world.overview.revision;
    if (path === '/v1/policy') world.overview.policy = (JSON.parse(body) as {policy: string}).policy;
    if (path === '/v1/shadow') world.overview.shadow = (JSON.parse(body) as {policy: string}).policy;
    const job = world.jobs.find((each) => each.job_id === id);
    if (id !== undefined && !job) return refuse(409, `job ${id} has ended`);
    if (job && verb === 'hold') job.held = true;
    if (job && verb === 'release') job.held = false;
    if (job && verb === 'cancel') {
      world.jobs = world.jobs.filter((each) => each !== job);
      world.ended.unshift({...job, state: 'CANCELLED', held: false, end_s: Math.floor(Date.now() / 1000), reason: 'cancelled by user 0', holds: []});
    }
    json({numbers: job ? [job.number] : []});
  }

  private look(url: URL, has: boolean, json: (value: unknown) => void, refuse: (status: number, message: string, hint?: string) => void,
      say: (status: number, body: string, type?: string, headers?: Record<string, string>) => void): void {
    const {world} = this;
    const {revision} = world.overview;
    const find = (id: string) => [...world.jobs, ...world.ended].find((each) => each.job_id === id || String(each.number) === id);
    const [, id, part] = /^\/v1\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    if (id !== undefined) {
      const job = find(decodeURIComponent(id));
      if (!job) return refuse(404, `there is no job ${decodeURIComponent(id)}`);
      if (part === undefined) return json(job);
      if (part === 'events') return json({events: world.notes.get(job.number) ?? [], forecasts: world.told.get(job.number) ?? []});
      if (part === 'forecast') return job.expected ? json(job.expected) : say(204, '');
      if (part === 'explain') return json({job_id: job.job_id, lines: [`job ${job.job_id} waits under ${world.overview.policy}: ${job.why ?? ''}`]});
      if (!has) return refuse(401, "a log needs the service's token");
      const whole = Buffer.from(url.searchParams.get('stream') === 'err' ? '' : world.logs.get(job.number) ?? '');
      const asked = Number(url.searchParams.get('offset'));
      const from = asked < 0 ? Math.max(0, whole.length + asked) : Math.min(asked, whole.length);
      const piece = whole.subarray(from, from + Number(url.searchParams.get('limit')));
      return say(200, piece.toString(), 'text/plain; charset=utf-8', {'X-Next-Offset': String(from + piece.length), 'X-Log-Size': String(whole.length)});
    }
    switch (url.pathname) {
      case '/v1/overview':
        return url.searchParams.get('revision') === String(revision) ? say(304, '') : json({...world.overview, now_s: Date.now() / 1000});
      case '/v1/nodes': return json({nodes: world.nodes});
      case '/v1/jobs': {
        const state = url.searchParams.get('state');
        const place = Number(url.searchParams.get('place') ?? 0);
        return json({revision, jobs: world.jobs.filter((job) => (state === null || job.state === state) && (place === 0 || (job.place !== undefined && job.place <= place)))});
      }
      case '/v1/manager': return world.manager ? json(world.manager) : say(204, '');
      case '/v1/study': return say(200, `<!doctype html><title>Study</title><p>of ${url.searchParams.get('days')} days</p>`, 'text/html; charset=utf-8');
      case '/v1/history': return json({revision, jobs: world.ended.slice(0, Number(url.searchParams.get('limit') ?? 10000))});
      case '/v1/timeline': return json({moments: world.moments.filter((moment) => moment.at_s >= Number(url.searchParams.get('since') ?? 0))});
      case '/v1/tenants': return json(world.tenancy);
      case '/v1/sweeps': return json({sweeps: [{name: world.sweep.name, user: 'ada', trials: world.sweep.trials.length, waiting: 3, running: 4, first_submit_s: world.overview.now_s - 7200}]});
      case `/v1/sweeps/${world.sweep.name}`: return json(world.sweep);
      case '/v1/policies': return json({policies: world.policies});
      case '/v1/shadow': return json({policy: world.overview.shadow ?? '', ...(world.comparison ? {comparison: world.comparison} : {})});
      default: return refuse(404, `no route ${url.pathname}`);
    }
  }
}
