// SPDX-License-Identifier: Apache-2.0
// Every figure of every fixture, and of the reports in ALMANAC_REPORTS, in Chromium: wide and narrow, light and dark.
import assert from 'node:assert/strict';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {after, before, describe, test} from 'node:test';
import type {BrowserContext, Download, Locator, Page} from 'playwright-core';
import {checkPlain, env, launch, marks} from './browser';
import {fixture as fixtureIn, open as openIn, written} from './report_page';

const folder = mkdtempSync(join(tmpdir(), 'almanac-pages-'));
let browser: BrowserContext;

before(async () => {
  browser = await launch(folder);
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

const open = (file: string, width: number, colorScheme: 'light' | 'dark') => openIn(browser, file, width, colorScheme);

async function textOf(download: Promise<Download>): Promise<{name: string; text: Buffer}> {
  const done = await download;
  const path = await done.path();
  return {name: done.suggestedFilename(), text: readFileSync(path)};
}

async function checkFigures(page: Page, width: number): Promise<void> {
  const figures = await page.locator('figure').all();
  for (const figure of figures) {
    const id = (await figure.getAttribute('id')) ?? '';
    const charts = await figure.locator('.chart').all();
    for (const [n, chart] of charts.entries()) {
      const what = `${id}, chart ${n + 1}, ${width} px`;
      const sentence = chart.locator('.nothing');
      if (await sentence.count() > 0) {
        assert.match((await sentence.innerText()).trim(), /^[A-Z].*\.$/, `${what}: a chart without points says why`);
        continue;
      }
      const picture = chart.locator('.picture');
      assert.ok(await marks(picture) > 0, `${what}: blank`);
      assert.ok(await tooltip(page, picture), `${what}: no tooltip`);
    }
    for (const folded of await figure.locator('details > summary').all()) await folded.click();
  }
}

/** Moves the pointer over a picture until something is said. */
async function tooltip(page: Page, picture: Locator): Promise<boolean> {
  const box = await picture.boundingBox();
  if (!box) return false;
  const said = picture.locator('.tip');
  // First on a mark itself, then on a net of places.
  const places = await picture.evaluate((host) => {
    const grey = /^(none|transparent|#e9eaec|#2b2f35|#8a9099|#6d747e|#555b63|#a9afb8)$/;
    const frame = host.getBoundingClientRect();
    return [...host.querySelectorAll('svg path, svg rect')]
      .filter((shape) => !grey.test(shape.getAttribute('fill') ?? 'none'))
      .map((shape) => shape.getBoundingClientRect())
      .filter((mark) => mark.width > 0 && mark.width < frame.width * 0.97 && mark.height < frame.height * 0.97)
      .slice(-40)
      .map((mark) => [mark.x + mark.width / 2 - frame.x, mark.y + mark.height / 2 - frame.y] as [number, number]);
  });
  for (let x = 0.2; x < 1; x += 0.15) for (let y = 0.3; y < 0.9; y += 0.15) places.push([x * box.width, y * box.height]);
  for (const [x, y] of places) {
    await page.mouse.move(box.x + x, box.y + y);
    if (await said.count() > 0 && await said.first().isVisible()) {
      assert.doesNotMatch(await said.first().innerText(), /NaN|undefined|\bnull\b|Infinity/);
      return true;
    }
  }
  return false;
}

async function checkTables(page: Page): Promise<void> {
  for (const table of await page.locator('.table').all()) {
    const heads = await table.locator('thead th button').all();
    const last = heads[heads.length - 1];
    if (!last) continue;
    await last.click();
    const before = await table.locator('tbody tr').allInnerTexts();
    await last.click();
    const head = table.locator('thead th').last();
    assert.match((await head.getAttribute('aria-sort')) ?? '', /ascending|descending/);
    const cells = await table.locator('tbody tr td:last-child').allInnerTexts();
    if (new Set(cells.filter((cell) => cell !== '–')).size > 1) {
      assert.notDeepEqual(await table.locator('tbody tr').allInnerTexts(), before, 'sorting the other way changes the rows');
    }
  }
}

async function checkPage(file: string, width: number, scheme: 'light' | 'dark'): Promise<void> {
  const {page, faults} = await open(file, width, scheme);
  try {
    await checkFigures(page, width);
    await checkTables(page);
    await checkPlain(page, width);
    if (env('ALMANAC_SHOTS')) {
      await page.screenshot({path: join(env('ALMANAC_SHOTS'), `${basename(file, '.html')}-${width}-${scheme}.png`), fullPage: true});
    }
    assert.deepEqual(faults, []);
  } finally {
    await page.close();
  }
}

const fixtures = readdirSync(env('FIXTURES')).filter((name) => name.endsWith('.json')).sort();
const fixture = (name: string) => fixtureIn(folder, name);
const reports = env('ALMANAC_REPORTS').split(/\s+/).filter((name) => name !== '');

describe('every page', {concurrency: 2}, () => {
  for (const [width, scheme] of [[1400, 'light'], [400, 'dark']] as const) {
    for (const name of fixtures) test(`${name} at ${width} px, ${scheme}`, () => checkPage(fixture(name), width, scheme));
    for (const report of reports) test(`${report} at ${width} px, ${scheme}`, () => checkPage(report, width, scheme));
  }
});

describe('what a reader does', () => {
  test('saves a figure as SVG and as PNG, with its title and where it is from', async () => {
    const {page, faults} = await open(fixture('study.json'), 1400, 'dark');
    const figure = page.locator('#figure-helios_fig1a');
    await figure.scrollIntoViewIfNeeded();
    const svg = await Promise.all([textOf(page.waitForEvent('download')), figure.getByRole('button', {name: 'as SVG'}).click()]);
    assert.equal(svg[0].name, 'helios_fig1a.svg');
    const read = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
      return {root: parsed.documentElement.nodeName, paths: parsed.querySelectorAll('path').length, words: parsed.documentElement.textContent ?? '', error: parsed.querySelector('parsererror') !== null};
    }, svg[0].text.toString('utf8'));
    assert.equal(read.error, false);
    assert.equal(read.root, 'svg');
    assert.ok(read.paths > 3);
    for (const words of ['Half of all GPU jobs', 'GPU jobs', 'Helios, as published', 'Run time', 'venus.csv.gz', 'hash 5f0c9a17e2b84d36']) {
      assert.ok(read.words.includes(words), `the saved figure says "${words}"`);
    }
    const png = await Promise.all([textOf(page.waitForEvent('download')), figure.getByRole('button', {name: 'as PNG'}).click()]);
    assert.equal(png[0].name, 'helios_fig1a.png');
    assert.equal(png[0].text.subarray(1, 4).toString('latin1'), 'PNG');
    assert.equal(png[0].text.readUInt32BE(16), 1920);
    if (env('ALMANAC_SHOTS')) {
      writeFileSync(join(env('ALMANAC_SHOTS'), svg[0].name), svg[0].text);
      writeFileSync(join(env('ALMANAC_SHOTS'), png[0].name), png[0].text);
    }
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('zooms by dragging and by keys, and gets ticks for what is seen', async () => {
    const {page} = await open(fixture('study.json'), 1400, 'light');
    const chart = page.locator('#figure-helios_fig1a .chart');
    const picture = chart.locator('.picture');
    await marks(picture);
    const words = () => picture.locator('svg text').allTextContents();
    const all = await words();
    const box = await picture.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width * 0.3, box.y + 120);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 160, {steps: 5});
    await page.mouse.up();
    const back = chart.getByRole('button', {name: 'Show all'});
    await back.waitFor();
    const seen = await words();
    assert.notDeepEqual(seen, all);
    assert.ok(seen.filter((text) => /\d(s|m)$/.test(text)).length >= 2, `ticks: ${seen.join(', ')}`);
    await back.click();
    assert.deepEqual(await words(), all);
    await picture.focus();
    await page.keyboard.press('+');
    await back.waitFor();
    await page.keyboard.press('0');
    await back.waitFor({state: 'detached'});
    await page.keyboard.press('ArrowRight');
    await picture.locator('.tip').waitFor();
    await page.close();
  });

  test('switches series off, chooses a virtual cluster, turns the lights on', async () => {
    const {page} = await open(fixture('study.json'), 1400, 'dark');
    const chart = page.locator('#figure-philly_fig3 .chart');
    const picture = chart.locator('.picture');
    const count = await marks(picture);
    const key = chart.getByRole('button', {name: '1 GPU', exact: true});
    await key.click();
    assert.equal(await key.getAttribute('aria-pressed'), 'false');
    assert.ok(await marks(picture) < count);
    const shape = () => picture.locator('svg').innerHTML();
    const first = await shape();
    await chart.locator('select').selectOption('vcUV3');
    assert.notEqual(await shape(), first);
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await paper(), 'rgb(22, 24, 27)');
    await page.getByRole('button', {name: 'Light'}).click();
    assert.equal(await paper(), 'rgb(255, 255, 255)');
    await page.close();
  });

  test('saves a table as CSV in the order that is shown', async () => {
    const {page} = await open(fixture('study.json'), 1400, 'light');
    const figure = page.locator('#figure-helios_fig1b');
    await figure.locator('summary').click();
    await figure.getByRole('button', {name: /^Jobs/}).click();
    await figure.getByRole('button', {name: /^Jobs/}).click();
    const [csv] = await Promise.all([textOf(page.waitForEvent('download')), figure.getByRole('button', {name: 'Save CSV'}).click()]);
    assert.equal(csv.name, 'helios_fig1b.csv');
    assert.deepEqual(csv.text.toString('utf8').split('\r\n').map((line) => line.split(',')[0]), ['status', 'failed', 'canceled', 'completed', '']);
    await page.close();
  });

  test('follows a finding to its figure', async () => {
    const {page} = await open(fixture('study.json'), 1400, 'light');
    await page.locator('.findings a').first().click();
    await page.waitForFunction(() => {
      const top = document.getElementById('figure-helios_fig8')?.getBoundingClientRect().top ?? -1;
      return top >= 0 && top < 200;
    });
    await page.close();
  });

  test('prints every chart, on white', async () => {
    const {page, faults} = await open(fixture('study.json'), 1400, 'dark');
    const pdf = await page.pdf({format: 'A4', ...(env('ALMANAC_SHOTS') ? {path: join(env('ALMANAC_SHOTS'), 'study.pdf')} : {})});
    assert.ok(pdf.length > 50000);
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    const drawn = await page.evaluate(() => [...document.querySelectorAll('.picture')].map((picture) => picture.querySelectorAll('svg path').length));
    assert.ok(drawn.length > 10 && drawn.every((paths) => paths > 2), drawn.join(' '));
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('opens a large document: 20,000 rows of a table, 20,000 points, 15,000 cells', async () => {
    const many = Array.from({length: 20000}, (_, n) => n);
    const number = (name: string, unit = '') => ({name, label: name, unit, type: 'number'});
    const text = (name: string) => ({name, label: name, unit: '', type: 'text'});
    const json = JSON.stringify({schema: 1, kind: 'study', title: 'Large', sections: [{id: 's', title: 'S', figures: [
      {id: 'points', title: 'Points', columns: [number('a', 's'), number('b', 'gpu_s'), text('vc')],
       data: {a: many.map((n) => (n * 7919) % 100003), b: many.map((n) => (n * n) % 99991), vc: many.map((n) => `vc${n % 5}`)},
       charts: [{kind: 'points', x: 'a', y: ['b'], by: 'vc', x_scale: 'log', y_scale: 'log'}, {kind: 'step', x: 'a', y: ['b']}]},
      {id: 'cells', title: 'Cells', columns: [number('t', 's'), text('node'), number('v', 'fraction')],
       data: {t: many.slice(0, 15000).map((n) => (n % 150) * 3600), node: many.slice(0, 15000).map((n) => `node${Math.floor(n / 150)}`), v: many.slice(0, 15000).map((n) => (n % 97) / 97)},
       charts: [{kind: 'heatmap', x: 't', y: ['node'], value: 'v'}]},
      {id: 'spans', title: 'Spans', columns: [number('from', 's'), number('to', 's'), text('node'), text('user')],
       data: {from: many.map((n) => (n % 200) * 100), to: many.map((n) => (n % 200) * 100 + 60), node: many.map((n) => `node${Math.floor(n / 200)}`), user: many.map((n) => `u${n % 40}`)},
       charts: [{kind: 'gantt', x: 'from', end: 'to', y: ['node'], by: 'user'}]},
    ]}]});
    const begin = Date.now();
    const {page, faults} = await open(written(folder, 'large', json), 1400, 'light');
    for (const [n, picture] of (await page.locator('.picture').all()).entries()) assert.ok(await marks(picture) > 0, `chart ${n + 1}: blank`);
    await page.locator('summary').first().click();
    assert.equal(await page.locator('.table').first().locator('tbody tr').count(), 50);
    await page.getByRole('button', {name: 'Show 500 more'}).first().click();
    assert.equal(await page.locator('.table').first().locator('tbody tr').count(), 550);
    assert.ok(Date.now() - begin < 60000);
    assert.deepEqual(faults, []);
    await page.close();
  });
});
