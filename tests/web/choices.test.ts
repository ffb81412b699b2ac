// SPDX-License-Identifier: Apache-2.0
// What a reader chooses in a report that compares policies, and how that report tells them apart.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, describe, test} from 'node:test';
import type {BrowserContext, Locator, Page} from 'playwright-core';
import {launch, marks} from './browser';
import {fixture, open as openIn, written, type Opened} from './report_page';

const folder = mkdtempSync(join(tmpdir(), 'almanac-choices-'));
let browser: BrowserContext;
before(async () => {
  browser = await launch(folder);
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

const open = (fragment = '', width = 1400): Promise<Opened> => openIn(browser, fixture(folder, 'compared.json'), width, 'light', fragment);
const table = (page: Page) => page.locator('#figure-run_comparison .table');
const legend = async (figure: Locator) => (await figure.locator('.legend button > span:first-of-type').allInnerTexts()).map((name) => name.trim());
const names = async (page: Page) => (await table(page).locator('tbody th .name').allInnerTexts()).map((name) => name.replaceAll('\u200b', ''));
/** The words of a picture, spaces that tie them as plain ones. */
const words = async (figure: Locator) => (await figure.locator('.picture svg text').allTextContents()).map((text) => text.replace(/[^\S\n]/gu, ' '));

describe('a table of policies', () => {
  test('stands open, marks oracles, and leaves them out on request', async () => {
    const {page, faults} = await open();
    assert.equal(await page.locator('#figure-run_comparison details .table').count(), 0, 'not folded');
    assert.equal((await names(page)).length, 19);
    const marked = table(page).locator('tbody tr', {hasText: 'oracle'});
    assert.deepEqual((await marked.locator('.name').allInnerTexts()).map((name) => name.replaceAll('\u200b', '')), ['sjf', 'srtf', 'srtf+noisy', 'sjf+noisy']);
    await page.getByLabel('Deployable policies only').check();
    assert.equal((await names(page)).length, 15);
    assert.equal(await table(page).getByRole('status').innerText(), '15 of 19 rows');
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('is sorted and filtered, by keys alone too, below a baseline that stays', async () => {
    const {page} = await open();
    const head = table(page).locator('th', {hasText: 'Wait, average'});
    await head.locator('button').focus();
    await page.keyboard.press('Enter');
    assert.equal(await head.getAttribute('aria-sort'), 'ascending', 'the least wait is the best');
    assert.deepEqual((await names(page)).slice(0, 3), ['fifo', 'srtf', 'srtf+noisy']);
    await page.getByRole('searchbox', {name: 'Filter'}).fill('best_fit');
    assert.deepEqual(await names(page), ['fifo', 'las+best_fit', 'drf+best_fit', 'easy+best_fit']);
    await page.close();
  });

  test('sets every policy against the one that is pinned', async () => {
    const {page} = await open();
    const cell = (policy: string, column: number) => table(page).locator('tbody tr').filter({has: page.getByRole('rowheader', {name: new RegExp(`Draw ${policy} in figures`)})}).locator('td').nth(column);
    assert.match(await cell('qssf', 0).innerText(), /4h\s15m\s*−63\s%/u);
    await table(page).getByRole('button', {name: 'pin qssf'}).click();
    assert.equal((await names(page))[0], 'qssf');
    assert.equal((await cell('qssf', 0).innerText()).trim().replace(/\s/gu, ' '), '4h 15m', 'it is not set against itself');
    assert.match(await cell('fifo', 0).innerText(), /\+168\s%/u);
    assert.match(await cell('fifo', 2).innerText(), /points/, 'shares differ in points');
    assert.equal(await table(page).locator('.choices select').inputValue(), 'qssf');
    await page.close();
  });

  test('shows what tells most at first, and all columns when asked', async () => {
    const {page} = await open();
    const heads = () => table(page).locator('thead th').count();
    const few = await heads();
    await table(page).getByLabel('All 8 columns').check();
    assert.equal(await heads(), few + 2);
    await page.close();
  });
});

describe('figures of policies', () => {
  test('draw baseline, best and best that a cluster can run, then what the reader picks', async () => {
    const {page, faults} = await open();
    const figure = page.locator('#figure-run_wait_cdf');
    await marks(figure.locator('.picture'));
    assert.deepEqual(await legend(figure), ['fifo', 'srtf', 'qssf']);
    await figure.locator('.picker summary').click();
    await figure.getByRole('checkbox', {name: /^gittins/}).check();
    assert.deepEqual(await legend(figure), ['fifo', 'srtf', 'gittins', 'qssf']);
    const groups = page.locator('#figure-run_sizes');
    await marks(groups.locator('.picture'));
    assert.deepEqual(await legend(groups), ['fifo', 'srtf', 'gittins', 'qssf'], 'one choice for the page');
    await table(page).getByRole('checkbox', {name: 'Draw srtf in figures'}).uncheck();
    assert.deepEqual(await legend(groups), ['fifo', 'gittins', 'qssf']);
    await figure.getByRole('button', {name: 'All', exact: true}).click();
    assert.equal((await legend(groups)).length, 19);
    assert.equal(await page.locator('#figure-run_timeline select').inputValue(), 'qssf', 'of one policy the best is shown first');
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('tell 19 policies apart by more than colour: lines by dash and mark, bars by hatch', async () => {
    const {page} = await open();
    await page.locator('#figure-run_wait_cdf .picker summary').click();
    await page.locator('#figure-run_wait_cdf').getByRole('button', {name: 'All', exact: true}).click();
    for (const [id, codes] of [['run_wait_cdf', 'svg line, svg circle, svg rect, svg path'], ['run_sizes', 'svg rect, svg path']] as const) {
      const looks = await page.locator(`#figure-${id} .legend button`).evaluateAll((keys, parts) => keys.map((key) => {
        const shapes = [...key.querySelectorAll(parts)];
        const colour = shapes[0]?.getAttribute('stroke') ?? shapes[0]?.getAttribute('fill') ?? '';
        return {colour, code: shapes.map((shape) => [shape.tagName, shape.getAttribute('stroke-dasharray'), shape.getAttribute('d')].join()).join(';')};
      }), codes);
      assert.equal(looks.length, 19);
      assert.ok(new Set(looks.map(({colour}) => colour)).size <= 8, 'colours do come again');
      assert.equal(new Set(looks.map(({colour, code}) => `${colour} ${code}`)).size, 19, `${id}: two look alike`);
    }
    const bars = page.locator('#figure-run_sizes .picture');
    await marks(bars);
    assert.ok(await bars.locator('svg pattern').count() >= 6, 'bars are hatched in the picture, not in the legend alone');
    await page.close();
  });

  test('sort bars, put numbers at them, and star oracles', async () => {
    const {page} = await open();
    const figure = page.locator('#figure-run_comparison');
    await marks(figure.locator('.picture'));
    const said = await words(figure);
    const order = said.filter((text) => /^(srtf ?\*|qssf|fifo|conservative)$/u.test(text));
    assert.deepEqual(order.map((text) => text.replace(/\s*\*/u, '*')), ['srtf*', 'qssf', 'conservative', 'fifo']);
    assert.ok(said.includes('4h 15m'), 'a bar has its number');
    assert.match(await figure.locator('.left-out').innerText(), /\* oracle/);
    await page.close();
  });

  test('draw a range as a band, and no lines of its ends', async () => {
    const {page} = await open();
    const figure = page.locator('#figure-run_timeline');
    await marks(figure.locator('.picture'));
    assert.deepEqual(await legend(figure), ['GPUs taken', 'GPUs in service']);
    assert.equal(await figure.locator('.picture svg [fill-opacity="0.18"], .picture svg [opacity="0.18"]').count(), 1);
    const box = await figure.locator('.picture').boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    assert.match((await figure.locator('.tip').innerText()).replace(/\s/gu, ' '), /\(\d+ GPUs to \d+ GPUs\)/);
    await page.close();
  });

  test('write the job into its bar', async () => {
    const {page} = await open();
    const figure = page.locator('#figure-run_gantt');
    await marks(figure.locator('.picture'));
    const said = await words(figure);
    for (const job of ['4700', '4701', '4707']) assert.ok(said.includes(job), `${job} in ${said.join(', ')}`);
    await page.close();
  });

  test('keep ratios and differences apart, each value in its unit', async () => {
    const {page} = await open();
    const rows = async (id: string) => {
      const figure = page.locator(`#figure-${id}`);
      await figure.locator('details > summary').last().click();
      return (await figure.locator('tbody tr').allInnerTexts()).map((row) => row.replace(/\s+/gu, ' '));
    };
    assert.deepEqual(await rows('changes'), [
      'GPU jobs a day 120 240 2× 1.7× 2.4× more', 'GPU time a day (GPU-hours) 2,000 1,000 0.5× 0.4× 0.62× less',
      'Mean duration 3h 37m 3h 38m 1.01× 0.9× 1.1× within chance']);
    assert.deepEqual(await rows('changed_shares'), ['Jobs with one GPU +3.1 points −1 point +7 points', 'Jobs that fail −12 points −15 points −9 points']);
    const figure = page.locator('#figure-changes');
    await marks(figure.locator('.picture'));
    assert.ok((await words(figure)).includes('no change'));
    assert.deepEqual(await rows('prediction_estimators'), ['learned 0.535', 'history 0.41'], 'a correlation is no ratio');
    await page.close();
  });
});

describe('a report leads with', () => {
  const led = JSON.stringify({
    schema: 1, kind: 'run', title: 'log.csv', tiles: [{label: 'Recommended policy', value: 'las', detail: 'Requires checkpoints.'}],
    compared: {policies: [{name: 'fifo', caution: ''}, {name: 'las', caution: ''}, {name: 'srtf', caution: 'oracle'}], baseline: 'fifo', best: 'srtf', best_choice: 'las'},
    findings: [{headline: 'Half of the jobs wait under fifo.', figure: 'waits'}, {headline: 'Fewer wait under las.', figure: 'waits'}],
    sections: [
      {id: 'times', title: 'Times', figures: [{
        id: 'waits', title: 'Waits', columns: [{name: 'policy', label: 'Policy', type: 'text'}, {name: 'wait', label: 'Wait', unit: 's'}, {name: 'share', label: 'Share', unit: 'fraction'}],
        data: {policy: ['fifo', 'fifo', 'fifo', 'las', 'las', 'las'], wait: [0, 10, 1000, 0, 0, 1000], share: [0.5, 0.75, 1, 0.8, 0.9, 1]},
        charts: [{kind: 'line', x: 'wait', y: ['share'], by: 'policy', x_scale: 'log', zeros: 'Jobs that did not wait'}],
      }]},
      {id: 'policies', title: 'Policies', leads: true, figures: [{
        id: 'tradeoff', title: 'Waits and what they cost', columns: [
          {name: 'policy', label: 'Policy', type: 'text'}, {name: 'role', label: 'Role', type: 'text'}, {name: 'oracle', label: 'Oracle', type: 'text'},
          {name: 'wait', label: 'Mean wait', unit: 's'}, {name: 'worst', label: 'Worst wait', unit: 's'}],
        data: {policy: ['fifo', 'las', 'srtf'], role: ['Baseline', 'Best', 'Oracles'], oracle: ['', '', 'oracle'], wait: [900, 300, 200], worst: [4000, 5000, 3000]},
        charts: [{kind: 'points', x: 'wait', y: ['worst'], by: 'role', labels: 'policy', hollow: 'oracle'}],
      }]},
    ],
  });

  test('tiles, then a picture of all policies by name, then findings with a picture each', async () => {
    const {page, faults} = await openIn(browser, written(folder, 'led', led), 1400, 'light');
    assert.match((await page.locator('.tiles').innerText()).replace(/\s+/g, ' '), /Recommended policy las Requires checkpoints\./);
    const order = await page.locator('main section').evaluateAll((all) => all.map((section) => section.id || section.className));
    assert.deepEqual(order, ['tiles', 'section-policies', 'findings', 'section-times']);
    const scatter = page.locator('#figure-tradeoff');
    await marks(scatter.locator('.picture'));
    assert.equal(await scatter.locator('h3 .number').innerText(), 'Figure 1');
    for (const name of ['fifo', 'las', 'srtf']) assert.ok((await words(scatter)).includes(name), name);
    assert.ok(await scatter.locator('.picture svg path[fill="#fff"], .picture svg path[fill="#ffffff"]').count() >= 1, 'an oracle is hollow');
    await page.locator('.findings').scrollIntoViewIfNeeded();
    await page.locator('.small-chart svg').first().waitFor();
    assert.equal(await page.locator('.small-chart').count(), 1, 'the picture of two findings is shown once');
    assert.deepEqual(faults, []);
    await page.close();
  });

  test('curves that begin at the left edge where a logarithmic axis has no 0, and says so', async () => {
    const {page} = await openIn(browser, written(folder, 'zeros', led), 1400, 'light', '?policies=fifo,las');
    const figure = page.locator('#figure-waits');
    await marks(figure.locator('.picture'));
    assert.equal((await figure.locator('.left-out').innerText()).replace(/\s/gu, ' '),
      'Jobs that did not wait (50 % under fifo, 90 % under las) are at the left edge: a logarithmic axis has no 0.');
    await page.close();
  });

  test('a table of policies that fits the window, or shows that it goes on', async () => {
    for (const width of [1400, 400]) {
      const {page} = await openIn(browser, fixture(folder, 'run.json'), width, 'light');
      for (const box of await page.locator('.scroll').all()) {
        const [inner, outer] = await box.evaluate((each) => [each.scrollWidth, each.clientWidth]) as [number, number];
        if (inner > outer) assert.match(await box.evaluate((each) => getComputedStyle(each).backgroundImage), /gradient/);
      }
      await page.close();
    }
  });
});

describe('the address', () => {
  test('keeps what was chosen, and shows it to whom it is sent', async () => {
    const {page} = await open();
    await page.locator('#figure-run_wait_cdf .picker summary').click();
    await page.locator('#figure-run_wait_cdf').getByRole('checkbox', {name: /^easy\+gpu_time/}).check();
    await table(page).getByRole('button', {name: 'pin las', exact: true}).click();
    await table(page).locator('th', {hasText: 'Wait, average'}).locator('button').click();
    await page.getByRole('searchbox', {name: 'Filter'}).fill('a');
    await page.locator('#figure-run_timeline select').selectOption('drf');
    await marks(page.locator('#figure-run_timeline .picture'));
    await page.locator('#figure-run_timeline').getByRole('button', {name: 'GPUs in service'}).click();
    await page.locator('#figure-run_timeline .picture').focus();
    await page.keyboard.press('+');
    await page.waitForFunction(() => location.hash.includes('zoom.run_timeline'));
    const state = async (of: Page) => ({
      legend: await legend(of.locator('#figure-run_wait_cdf')), names: await names(of), find: await of.getByRole('searchbox', {name: 'Filter'}).inputValue(),
      policy: await of.locator('#figure-run_timeline select').inputValue(),
      off: await of.locator('#figure-run_timeline .legend [aria-pressed="false"]').count(),
    });
    const chosen = await state(page);
    assert.deepEqual(chosen.legend, ['fifo', 'srtf', 'qssf', 'easy+gpu_time']);
    assert.equal(chosen.names[0], 'las');
    assert.equal(chosen.off, 1);
    const address = page.url();
    await page.close();
    const sent = await open(address.split('#')[1]);
    await marks(sent.page.locator('#figure-run_timeline .picture'));
    assert.deepEqual(await state(sent.page), chosen);
    await sent.page.locator('#figure-run_timeline').getByRole('button', {name: 'Show all'}).waitFor();
    assert.deepEqual(sent.faults, []);
    await sent.page.close();
  });

  test('goes to a figure and keeps the choices; a link alone does as well', async () => {
    const {page} = await open('?baseline=qssf');
    await page.locator('.findings a').click();
    assert.match(page.url(), /#figure-run_wait_cdf\?baseline=qssf$/);
    const top = (of: Page) => of.waitForFunction(() => {
      const at = document.getElementById('figure-run_wait_cdf')?.getBoundingClientRect().top ?? -1;
      return at >= 0 && at < 200;
    });
    await top(page);
    assert.equal((await names(page))[0], 'qssf');
    const address = page.url();
    await page.close();
    const sent = await open(address.split('#')[1]);
    await top(sent.page);
    await sent.page.close();
  });

  test('that names what is not there is no harm', async () => {
    const {page, faults} = await open('nowhere?policies=gone,fifo&baseline=gone&sort.run_comparison=gone&show.run_timeline=policy%3Dgone&zoom.run_timeline=9-x,%');
    assert.deepEqual(await legend(page.locator('#figure-run_wait_cdf')), ['fifo']);
    assert.equal((await names(page)).length, 19);
    assert.ok(await marks(page.locator('#figure-run_timeline .picture')) > 0);
    assert.deepEqual(faults, []);
    await page.close();
  });
});
