// SPDX-License-Identifier: Apache-2.0
// The dashboard in Chromium, of a service that is made up here; how it looks also of the real one that ALMANAC_LIVE names.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, describe, test, type TestContext} from 'node:test';
import type {BrowserContext, Page} from 'playwright-core';
import type {Job} from '../../web/src/live/service';
import {checkPlain, env, launch, marks, watch} from './browser';
import {kToken, Mock} from './live_mock';
import {makeSlurm, makeWide, makeWorld} from './live_world';

const folder = mkdtempSync(join(tmpdir(), 'almanac-live-'));
let browser: BrowserContext;
before(async () => {
  browser = await launch(folder);
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

/** A service for as long as the test goes on. */
async function served(t: Pick<TestContext, 'after'> | undefined, waiting = 24): Promise<Mock> {
  const mock = new Mock(makeWorld(waiting), env('PAGE'));
  await mock.start();
  t?.after(() => mock.stop());
  return mock;
}

interface Opened {
  page: Page;
  faults: string[];
}

async function open(t: Pick<TestContext, 'after'> | undefined, url: string, view: string, width = 1400, colorScheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  const page = await browser.newPage();
  page.setDefaultTimeout(20000);
  t?.after(() => page.close());
  const faults = watch(page, (asked) => asked.startsWith(url));
  await page.setViewportSize({width, height: 900});
  await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
  await page.goto(`${url}/#/${view}`);
  await page.waitForSelector('h1', {state: 'attached'});
  return {page, faults};
}

/** As it is read, spaces that tie words included. */
const said = (text: string) => text.replace(/[^\S\n]/gu, ' ');

/** A view with all that it shows on it. */
async function settled(page: Page, view: string): Promise<void> {
  const first: Record<string, string> = {
    now: '.node', queue: '.jobs', sweeps: '.jobs, .sweeps, .nothing', history: '.jobs', use: '.picture, .nothing', tenants: '.comparison td, .nothing', policy: '.policies li:nth-child(2)', job: '.course svg', slurm: '.levers li',
  };
  await page.locator(first[view.split('/')[0] as string] ?? 'h1').first().waitFor();
  for (const picture of await page.locator('.picture').all()) assert.ok(await marks(picture) > 0, `${view}: a blank chart`);
  await page.evaluate(() => window.scrollTo(0, 0));
}

async function giveToken(page: Page, text: string): Promise<void> {
  await page.getByRole('button', {name: 'Token'}).click();
  await page.getByLabel('Token', {exact: true}).last().fill(text);
  await page.keyboard.press('Enter');
}

const real = env('ALMANAC_LIVE').replace(/\/$/, '');
const kViews = ['now', 'queue', 'sweeps', ...(real ? [] : ['sweeps/mnist']), 'history', 'use', 'tenants', 'policy'];

describe('every view', () => {
  let mock: Mock | undefined;
  let url = real;
  const jobs: string[] = [];
  before(async () => {
    if (!real) {
      mock = await served(undefined);
      url = mock.url;
      const {world} = mock;
      jobs.push(...[world.jobs[0], world.jobs[4], world.jobs[8], world.ended[3]].map((job) => `job/${job?.job_id}`));
    } else {
      const {page} = await open(undefined, real, 'queue');
      const links = await page.locator('.jobs .row a').evaluateAll((all) => all.slice(0, 2).map((link) => link.getAttribute('href') ?? ''));
      jobs.push(...links.map((link) => link.replace(/^#\//, '')));
      await page.close();
    }
  });
  after(async () => mock?.stop());
  // Each width and each scheme once; all four in a long run.
  const sights = [[1400, 'light'], [400, 'dark'], [1400, 'dark'], [400, 'light']] as const;
  for (const [width, scheme] of sights.slice(0, env('ALMANAC_LONG') === '1' ? 4 : 2)) {
    test(`at ${width} px, ${scheme}`, async (t) => {
      for (const view of [...kViews, ...jobs]) {
        const {page, faults} = await open(t, url, view, width, scheme);
        await settled(page, view);
        if (env('ALMANAC_SHOTS')) {
          await page.screenshot({path: join(env('ALMANAC_SHOTS'), `live-${view.replace('/', '-')}-${width}-${scheme}.png`), fullPage: true});
        }
        await checkPlain(page, width);
        assert.deepEqual(faults, [], view);
        await page.close();
      }
    });
  }
});

describe('of a Slurm, its view', {skip: real ? 'a real service has its own' : false}, () => {
  for (const [width, scheme] of [[1400, 'light'], [400, 'dark']] as const) {
    test(`at ${width} px, ${scheme}`, async (t) => {
      const mock = await served(t);
      mock.world = makeSlurm(24);
      const {page, faults} = await open(t, mock.url, 'slurm', width, scheme);
      await settled(page, 'slurm');
      if (env('ALMANAC_SHOTS')) await page.screenshot({path: join(env('ALMANAC_SHOTS'), `live-slurm-${width}-${scheme}.png`), fullPage: true});
      await checkPlain(page, width);
      assert.deepEqual(faults, []);
    });
  }
});

describe('of a real service, a reader', {skip: real ? false : 'ALMANAC_LIVE names none'}, () => {
  test('holds a job, releases and cancels it, and finds it in the history', async (t) => {
    const {page, faults} = await open(t, real, 'queue?state=waiting');
    await page.getByRole('button', {name: 'Pending', exact: false}).first().waitFor();
    await giveToken(page, env('ALMANAC_TOKEN'));
    const release = page.getByRole('button', {name: 'Release'});
    let id = '';
    // The widest job waits longest. Any may start meanwhile, and one that runs cannot be held; at times none waits.
    const isHeld = async () => {
      const {jobs} = await (await fetch(`${real}/v1/jobs?state=PENDING`)).json() as {jobs: {job_id: string; gpus: number}[]};
      if (jobs.length === 0) return false;
      id = jobs.reduce((widest, job) => job.gpus > widest.gpus ? job : widest).job_id;
      await page.goto(`${real}/#/job/${id}`);
      await page.getByRole('button', {name: 'Hold'}).click({timeout: 3000});
      await release.waitFor({timeout: 3000});
      return true;
    };
    for (const end = Date.now() + 120_000; !await isHeld().catch(() => false);) {
      assert.ok(Date.now() < end, 'no job waits that can be held');
      await page.waitForTimeout(1000);
      faults.length = 0;
    }
    await release.click();
    await release.waitFor({state: 'detached'});
    await page.getByRole('button', {name: 'Cancel job'}).click();
    await page.getByRole('button', {name: 'Cancel job'}).click();
    await page.getByText(/cancelled by/).first().waitFor();
    await page.goto(`${real}/#/history`);
    await page.locator(`.jobs a[href$="job/${id}"]`).first().waitFor();
    assert.deepEqual(faults, []);
  });

  test('has the service study its own log, in a page whose policy forbids it nothing that it needs', async (t) => {
    const {page, faults} = await open(t, real, 'history');
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', {name: 'Study'}).click();
    const study = await opened;
    t.after(() => study.close());
    const own = watch(study, (asked) => asked.startsWith(real));
    await study.getByRole('heading', {name: 'Jobs of the last 7 days'}).waitFor();
    const pictures = study.locator('.picture');
    for (const picture of (await pictures.all()).slice(0, 6)) assert.ok(await marks(picture) > 0, 'a blank chart');
    assert.ok(await pictures.count() > 6);
    assert.deepEqual([...faults, ...own], []);
  });

  test('sees when a job that runs is expected to end', async (t) => {
    const {page, faults} = await open(t, real, 'queue?state=running');
    // Forecasts are played when no other process wants the machine.
    await page.getByText(/^ends /).first().waitFor({timeout: 180_000});
    assert.deepEqual(faults, []);
  });
});

describe('what a reader does', {skip: real ? 'a real service has other jobs' : false}, () => {
  test('sees which job has which GPU, what is broken, and names that are no HTML', async (t) => {
    const mock = await served(t);
    const {page, faults} = await open(t, mock.url, 'now');
    await settled(page, 'now');
    const words = await page.locator('main').innerText();
    for (const said of ['13 of 16', 'out of service: Xid 79', 'llm-7b-sft', 'eval <img src=x onerror=alert(1)>', '50 % of the GPU', 'not delegated']) {
      assert.ok(words.replace(/\s/gu, ' ').includes(said), `the map says "${said}"`);
    }
    assert.equal(await page.locator('.gpu').first().evaluate((piece) => getComputedStyle(piece).gridColumnStart), 'span 4');
    await page.getByRole('link', {name: /llm-7b-sft/}).first().click();
    await page.getByRole('heading', {name: /llm-7b-sft/}).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'content', 'the new view has the focus');
    assert.deepEqual(faults, []);
  });

  test('reads a queue of 5,000: a page of it at a time, filters, order, keys', async (t) => {
    const mock = await served(t, 5000);
    const {page, faults} = await open(t, mock.url, 'queue');
    await page.locator('.jobs .row a').first().waitFor();
    const table = page.getByRole('table');
    assert.equal(await table.getAttribute('aria-rowcount'), '5010');
    const shown = () => page.locator('.jobs [role="rowgroup"]:not(.heads) .row');
    assert.equal(await shown().count(), 50);
    await page.getByRole('button', {name: 'Last'}).click();
    await page.waitForFunction(() => document.querySelector('.jobs [role="rowgroup"]:not(.heads) .row:last-child')?.getAttribute('aria-rowindex') === '5010');
    assert.match(page.url(), /page=101/);
    assert.match(await shown().last().innerText(), /maybe-later/);

    await page.getByRole('button', {name: /^Pending/}).click();
    await page.getByLabel('User').selectOption('grace');
    const count = Number(await table.getAttribute('aria-rowcount')) - 1;
    assert.equal(count, mock.world.jobs.filter((job) => job.user === 'grace' && job.state === 'PENDING' && !job.held).length);
    assert.match(page.url(), /state=waiting&user=grace/);
    assert.doesNotMatch(page.url(), /page=/, 'what is chosen anew begins with its first page');
    await page.getByRole('button', {name: /^GPUs/}).click();
    await page.getByRole('button', {name: /^GPUs/}).click();
    assert.equal(await shown().first().locator('.c-gpus').innerText(), '8');
    await page.getByRole('searchbox').fill('no such job');
    await page.getByText('No job matches.').waitFor();
    await page.getByRole('searchbox').fill('');

    await shown().first().locator('a').focus();
    for (let n = 0; n < 60; ++n) await page.keyboard.press('ArrowDown');
    assert.equal(await table.locator('[aria-sort="descending"]').innerText(), 'GPUs ▾');
    const row = await page.evaluate(() => document.activeElement?.closest('.row')?.getAttribute('aria-rowindex'));
    assert.equal(row, '62');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', {name: 'Reason', exact: true}).waitFor();
    assert.deepEqual(faults, []);
  });

  test('turns the pages of a history of 2,000, and finds the same page again', async (t) => {
    const mock = await served(t);
    const [some] = mock.world.ended as [Job];
    mock.world.ended = Array.from({length: 2000}, (_, n) => ({...some, job_id: `${9000 + n}`, number: 9000 + n, name: `run-${n}`}));
    for (const width of [1400, 400]) {
      const {page, faults} = await open(t, mock.url, 'history', width);
      await page.locator('.jobs .row a').first().waitFor();
      const rows = () => page.locator('.jobs [role="rowgroup"]:not(.heads) .row');
      assert.equal(await rows().count(), 50);
      const high = await page.evaluate(() => document.documentElement.scrollHeight);
      assert.ok(high < 6000, `${high} px`);
      assert.ok(await page.getByRole('button', {name: 'Previous'}).isDisabled());
      await page.getByRole('button', {name: 'Next'}).click();
      await page.getByText('51 to 100 of 2,000').waitFor();
      assert.match(await rows().first().innerText(), /run-50\b/);
      await page.reload();
      await page.getByText('51 to 100 of 2,000').waitFor();
      // Up from the first row of a page is the last of the one before.
      await rows().first().locator('a').focus();
      await page.keyboard.press('ArrowUp');
      await page.getByText('1 to 50 of 2,000').waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.closest('.row')?.getAttribute('aria-rowindex')), '51');
      assert.deepEqual(faults, []);
      await page.close();
    }
  });

  test('hears of a job what other numbers of GPUs would bring, where that is known', async (t) => {
    const mock = await served(t);
    const [scales, does] = [mock.world.jobs[8], mock.world.jobs[9]].map((job) => job?.job_id as string);
    const {page, faults} = await open(t, mock.url, `job/${scales}`);
    await page.getByText(/^With 2 GPUs, the job ends by /).waitFor();
    await page.goto(`${mock.url}/#/job/${does}`);
    await page.getByRole('heading', {name: new RegExp(`^${does}`)}).waitFor();
    assert.equal(await page.getByRole('heading', {name: 'With other GPUs'}).count(), 0);
    assert.deepEqual(faults, []);
  });

  test('sees many nodes as tiles, and the one that is chosen whole', async (t) => {
    const mock = await served(t);
    mock.world = makeWide(6);
    for (const width of [1400, 400]) {
      const {page, faults} = await open(t, mock.url, 'now', width);
      await page.getByRole('heading', {name: 'speech'}).waitFor();
      if (env('ALMANAC_SHOTS')) await page.screenshot({path: join(env('ALMANAC_SHOTS'), `live-wide-${width}.png`), fullPage: true});
      await checkPlain(page, width);
      assert.equal(await page.locator('.grid li').count(), 40);
      assert.equal(await page.locator('.cell').count(), 320);
      assert.equal(await page.locator('.cell.broken').getAttribute('title'), 'GPU 2: out of service');
      assert.match(await page.getByRole('region', {name: 'Nodes of vision'}).locator('li').nth(7).innerText(), /gpu-7\s+drained/);
      assert.equal(await page.locator('.node').count(), 0);
      await page.getByRole('link', {name: 'gpu-a', exact: true}).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('article', {name: 'Node gpu-a'}).getByText('llm-7b-sft').waitFor();
      assert.equal(await page.locator('.node').count(), 1);
      assert.deepEqual(faults, []);
    }
  });

  test('sees why a job runs as fast as it does, by its model', async (t) => {
    const mock = await served(t);
    const [, bert, notebook] = mock.world.jobs.map((job) => job.job_id);
    const {page, faults} = await open(t, mock.url, `job/${bert}`);
    await page.getByText(/^The job runs at 61\.4\s% of its requested speed, mainly because of its cores\. Its GPUs wait for data 30\s% of the time\.$/).waitFor();
    const parts = page.getByRole('region', {name: 'Speed'});
    assert.match(said(await parts.innerText()), /Cores per GPU\s× 0\.66/);
    assert.match(said(await parts.innerText()), /GPU utilization measured\s87 %\s[^]*Busy cores measured\s7\.2 of 8/);
    // Of a model that is not known what is measured is said, and that it is no more.
    await page.goto(`${mock.url}/#/job/${notebook}`);
    await parts.getByText('No speed model for this job').waitFor();
    assert.match(said(await parts.innerText()), /Busy cores measured\s7\.2 of 8/);
    assert.ok(!(await parts.innerText()).includes('×'));
    assert.deepEqual(faults, []);
  });

  test('has the service study what has ended, with one click', async (t) => {
    const mock = await served(t);
    const {page, faults} = await open(t, mock.url, 'history?days=30');
    const study = page.waitForEvent('popup');
    await page.getByRole('link', {name: 'Study'}).click();
    await (await study).getByText('of 30 days').waitFor();
    await page.getByRole('button', {name: 'All'}).click();
    assert.equal(await page.getByRole('link', {name: 'Study'}).getAttribute('href'), '/v1/study?days=366');
    mock.world.ended = [];
    await page.getByRole('button', {name: '24 hours'}).click();
    await page.getByText('No job matches.').waitFor();
    assert.equal(await page.getByRole('link', {name: 'Study'}).count(), 0, 'there is nothing to study');
    assert.deepEqual(faults, []);
  });

  test('of a Slurm sees how it does, what is done to it, and whether that does it good', async (t) => {
    const mock = await served(t);
    const {page: machine} = await open(t, mock.url, 'now');
    await settled(machine, 'now');
    assert.equal(await machine.getByRole('link', {name: 'Slurm'}).count(), 0, 'there is none');
    mock.world = makeSlurm(24);
    const {page, faults} = await open(t, mock.url, 'now');
    await page.getByRole('link', {name: 'Slurm'}).click();
    await page.getByText('Waits and failures of its jobs are within the limits.').waitFor();
    const words = said(await page.locator('main').innerText());
    for (const each of ['answers', '34ms', '12 planned, 1,840 done, 2 failed, 31 blocked by guards', 'Paused: Slurm has no SuspendProgram', 'Off.', 'gpu-a']) {
      assert.ok(words.replace(/\s/gu, ' ').includes(each), `it says "${each}"`);
    }
    const manager = mock.world.manager as NonNullable<typeof mock.world.manager>;
    manager.error = 'connection refused';
    (manager.canary as NonNullable<typeof manager.canary>).avg_wait_s = 4000;
    ++mock.world.overview.revision;
    await page.getByText('All levers are paused: connection refused').waitFor();
    await page.getByText('Its jobs wait longer than expected.').waitFor();
    // Of its jobs there are neither notes nor logs here.
    const [runs] = mock.world.jobs as [Job];
    mock.world.notes.clear();
    await page.goto(`${mock.url}/#/job/${runs.job_id}`);
    await page.getByText(`scontrol show job ${runs.job_id}`).waitFor();
    assert.match(said(await page.getByRole('region', {name: 'Events'}).innerText()), /submitted[^]*started gpu-a 0–3$/);
    assert.deepEqual(faults, []);
  });

  test('is shown what changed, and nothing is asked again that did not', async (t) => {
    const mock = await served(t, 3);
    const {page, faults} = await open(t, mock.url, 'queue');
    await page.getByRole('button', {name: /^Pending 3/}).waitFor();
    const asked = (what: string) => mock.answered.filter((line) => line === what).length;
    while (asked('GET /v1/overview 304') < 2) await page.waitForTimeout(200);
    assert.ok(asked('GET /v1/overview 200') <= 1 + asked('GET /v1/overview 304') / 4, 'the whole is asked for now and then');
    assert.equal(asked('GET /v1/jobs 200'), 1);
    mock.world.jobs = mock.world.jobs.filter((job) => job.place !== 1);
    mock.world.overview.revision += 1;
    await page.getByRole('button', {name: /^Pending 2/}).waitFor();
    assert.equal(asked('GET /v1/jobs 200'), 2);
    assert.deepEqual(faults, []);
  });

  test('changes nothing without the token, and is told why', async (t) => {
    const mock = await served(t);
    const id = mock.world.jobs[9]?.job_id as string;
    const {page, faults} = await open(t, mock.url, `job/${id}`);
    const cancel = page.getByRole('button', {name: 'Cancel job'});
    assert.equal(await cancel.getAttribute('aria-disabled'), 'true');
    const why = await cancel.evaluate((button) => document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent);
    assert.match(why ?? '', /need a token/);
    await cancel.click({force: true});
    assert.deepEqual(mock.changes, []);

    await giveToken(page, kToken);
    await page.getByRole('button', {name: 'Hold'}).click();
    await page.getByRole('button', {name: 'Release'}).waitFor();
    await cancel.click();
    await page.getByRole('button', {name: 'No', exact: true}).click();
    await cancel.click();
    await page.getByRole('button', {name: 'Cancel job'}).click();
    await page.getByText('cancelled by user 0').first().waitFor();
    assert.deepEqual(mock.changes.map(({method, path}) => `${method} ${path}`), [`POST /v1/jobs/${id}/hold`, `POST /v1/jobs/${id}/cancel`]);
    assert.equal(await page.evaluate(() => sessionStorage.getItem('almanac-token')), kToken);
    assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes('token-of')), false);
    await page.getByRole('button', {name: 'Forget token'}).click();
    assert.equal(await page.evaluate(() => sessionStorage.getItem('almanac-token')), null);
    assert.deepEqual(faults, []);
  });

  test('is told when the token is wrong, and it is dropped', async (t) => {
    const mock = await served(t);
    const {page} = await open(t, mock.url, 'policy');
    await giveToken(page, 'nonsense');
    await page.getByRole('button', {name: 'Stop comparing'}).click();
    await page.getByText("this is not the service's token").waitFor();
    await page.getByRole('button', {name: 'Token'}).waitFor();
    assert.equal(mock.world.overview.shadow, 'fifo');
  });

  test('sets the policy, and what it is compared with', async (t) => {
    const mock = await served(t);
    const {page, faults} = await open(t, mock.url, 'policy');
    await page.getByText(/21m\s50s under fifo, 6m\s42s under qssf \(3\.3 times as long under fifo\)/).waitFor();
    await giveToken(page, kToken);
    const tiresias = page.locator('.policies li').filter({hasText: 'tiresias'});
    await tiresias.getByRole('button', {name: 'Compare'}).click();
    await tiresias.getByText('compared').waitFor();
    await tiresias.getByRole('button', {name: 'Activate'}).click();
    await tiresias.getByRole('button', {name: 'Activate'}).click();
    await tiresias.getByText('active', {exact: true}).waitFor();
    assert.deepEqual(mock.changes.map(({path, body}) => `${path} ${body}`), ['/v1/shadow {"policy":"tiresias"}', '/v1/policy {"policy":"tiresias"}']);
    assert.deepEqual(faults, []);
  });

  test('follows a log as a terminal would show it', async (t) => {
    const mock = await served(t);
    const {page, faults} = await open(t, mock.url, `job/${mock.world.jobs[0]?.job_id}`);
    await page.getByText('The log needs a token').waitFor();
    await giveToken(page, kToken);
    const log = page.getByRole('region', {name: 'Output'});
    await log.getByText('epoch 3: 100%').waitFor();
    const text = await log.innerText();
    assert.ok(!text.includes('epoch 3:  55%') && text.includes('<script>alert(1)</script>') && !text.includes('\u001b'), text.slice(-200));
    const number = mock.world.jobs[0]?.number as number;
    mock.world.logs.set(number, `${mock.world.logs.get(number)}one line more ✓\n`);
    await log.getByText('one line more ✓').waitFor();
    assert.ok(await log.evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 2), 'the end is in sight');
    assert.deepEqual(faults, []);
  });

  test('compares what a job was told with what came true', async (t) => {
    const mock = await served(t);
    const late = mock.world.ended.find((job) => job.gpus > 0);
    assert.ok(late && late.start_s !== undefined);
    const told = mock.world.told.get(late.number)?.[0];
    assert.ok(told);
    [told.start_from_s, told.start_to_s] = [late.start_s - 1200, late.start_s - 600];
    const {page} = await open(t, mock.url, `job/${late.job_id}`);
    await page.getByText(/^Forecast at submission: start .*\(90\s% interval\)\. Actual start: .*, 10m\s00s late\.$/).waitFor();
  });

  test('is told when the service goes, and when it is back', async (t) => {
    const mock = await served(t);
    const {page} = await open(t, mock.url, 'now');
    await settled(page, 'now');
    await mock.stop();
    await page.getByText(/has not answered since/).waitFor();
    assert.ok(await page.locator('.node').count() === 2, 'what was known is still there');
    await mock.start();
    await page.getByText(/has not answered since/).waitFor({state: 'detached'});
  });

  test('goes everywhere by keys alone', async (t) => {
    const mock = await served(t);
    const {page, faults} = await open(t, mock.url, 'now');
    await settled(page, 'now');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content');
    for (const title of ['Almanac', 'Now', 'Queue']) {
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), title);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', {name: 'Queue'}).waitFor();
    await page.goBack();
    await page.locator('.node').first().waitFor();
    // A chart is read, and zoomed, by keys too.
    await page.goto(`${mock.url}/#/use`);
    const picture = page.locator('.picture').first();
    await marks(picture);
    await picture.focus();
    await page.keyboard.press('ArrowRight');
    await picture.locator('.tip').waitFor();
    await page.keyboard.press('+');
    await page.getByRole('button', {name: 'Show all'}).first().waitFor();
    assert.deepEqual(faults, []);
  });
});
