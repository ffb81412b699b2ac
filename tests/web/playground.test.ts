// SPDX-License-Identifier: Apache-2.0
// The folder that packaging/playground writes (PLAYGROUND), opened from the disk and from a web server.
import assert from 'node:assert/strict';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import type {BrowserContext, Page} from 'playwright-core';
import {checkPlain, env, launch, watch} from './browser';

const kViews = ['now', 'queue', 'sweeps', 'history', 'use', 'tenants', 'policy'];
const profile = mkdtempSync(join(tmpdir(), 'playground-'));
const home = pathToFileURL(`${env('PLAYGROUND')}/`).href;
// As simple as a web server can be: each path is a page of the folder.
const server = createServer((ask, answer) => {
  answer.setHeader('Content-Type', 'text/html; charset=utf-8');
  answer.end(readFileSync(join(env('PLAYGROUND'), new URL(ask.url ?? '', 'http://any').pathname)));
});
let browser: BrowserContext;
before(async () => {
  browser = await launch(profile);
  await new Promise<void>((listens) => { server.listen(0, '127.0.0.1', listens); });
});
after(async () => {
  await browser.close();
  server.close();
  rmSync(profile, {recursive: true, force: true});
});

async function opened(name: string, width: number, from = home): Promise<{page: Page; faults: string[]}> {
  const page = await browser.newPage();
  const faults = watch(page, (asked) => asked.startsWith(from));
  await page.setViewportSize({width, height: 900});
  await page.goto(from + name);
  await page.waitForSelector('h1');
  return {page, faults};
}

for (const width of [1400, 400]) {
  test(`the first page leads to every other, at ${width} px`, async () => {
    const {page, faults} = await opened('index.html', width);
    await checkPlain(page, width);
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    assert.deepEqual(links, ['run.html', 'advise.html', 'study.html', 'inference.html', 'dashboard.html']);
    for (const link of links) {
      await page.click(`a[href="${link}"]`);
      await page.waitForSelector('h1');
      assert.ok(page.url().startsWith(home + link), page.url());
      await page.goBack();
    }
    assert.deepEqual(faults, []);
    await page.close();
  });
}

for (const place of ['disk', 'web server']) {
  test(`each view of the dashboard shows what was recorded, from a ${place}`, async () => {
    const from = place === 'disk' ? home : `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const {page, faults} = await opened('dashboard.html', 1400, from);
    for (const view of kViews) {
      await page.goto(`${from}dashboard.html#/${view}`);
      await page.waitForFunction(() => !document.body.innerText.includes('Loading'));
      if (view === 'now') await page.getByText('the clock stands still').waitFor();
      const words = await page.locator('body').innerText();
      assert.doesNotMatch(words, /has no answer|does not answer/, view);
    }
    for (const report of ['index', 'run', 'advise', 'study', 'inference']) {
      await page.goto(`${from}${report}.html`);
      await page.waitForSelector('h1');
    }
    assert.deepEqual(faults, []);
    await page.close();
  });
}

for (const state of ['Running', 'Pending']) {
  test(`a ${state.toLowerCase()} job has its page, and its clock stands still`, async () => {
    const {page, faults} = await opened('dashboard.html#/queue', 1400);
    await page.locator('button', {hasText: state}).click();
    await page.locator('a[href^="#/job/"]').first().click();
    await page.locator('h2', {hasText: 'Timeline'}).waitFor();
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(1000);  // what is asked after the job: events, explanation, forecast
    const first = await page.locator('body').innerText();
    assert.doesNotMatch(first, /has no answer/);
    await page.waitForTimeout(2500);  // longer than the page waits before it asks again
    assert.equal(await page.locator('body').innerText(), first);
    assert.deepEqual(faults, []);
    await page.close();
  });
}

test('the study and the job log of the history are there', async () => {
  const {page, faults} = await opened('dashboard.html#/history', 1400);
  const [log] = await Promise.all([page.waitForEvent('download'), page.click('text=Job log (CSV)')]);
  assert.equal(log.suggestedFilename(), 'history.csv');
  await page.locator('a.button', {hasText: 'Study'}).click();
  await page.waitForURL(`${home}study.html`);
  assert.deepEqual(faults, []);
  await page.close();
});
