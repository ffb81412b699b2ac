// SPDX-License-Identifier: Apache-2.0
// node tools/shoot.mjs URL OUT.png WIDTH HEIGHT [SELECTOR]: a picture of a page once SELECTOR is on it; prints its headings
// and the heads of its tables, one a line.
import {createRequire} from 'node:module';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const require = createRequire(new URL('../tests/web/package.json', import.meta.url));
const {chromium} = require('playwright-core');
const [url, out, width, height, selector = 'h1'] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), 'shoot-'));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'],
  viewport: {width: Number(width), height: Number(height)}, colorScheme: 'light', reducedMotion: 'reduce',
});
try {
  const page = await browser.newPage();
  await page.goto(url);
  await page.locator(selector).first().waitFor({timeout: 120000});
  await page.waitForTimeout(500);
  await page.screenshot({path: out});
  const texts = await page.locator('h1, h2, h3, th, nav a, [role="tab"], [role="columnheader"]').locator('visible=true').allInnerTexts();
  console.log([...new Set(texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text && !/\d/.test(text)))].join('\n'));
} finally {
  await browser.close();
  rmSync(profile, {recursive: true, force: true});
}
