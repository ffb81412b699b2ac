// SPDX-License-Identifier: Apache-2.0
// What every test in Chromium needs: the browser, and eyes that see what people without eyes or mice meet.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {chromium, type BrowserContext, type Locator, type Page} from 'playwright-core';

export const env = (name: string) => process.env[name] ?? '';
const kFlags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export function launch(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: env('CHROMIUM'), args: kFlags, headless: true, acceptDownloads: true, viewport: null,
  });
}

/** Gathers what the browser complains about, and what is asked of an address that is not `own`. */
export function watch(page: Page, own: (url: string) => boolean): string[] {
  const faults: string[] = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!own(request.url()) && !/^(data|blob):/.test(request.url())) faults.push(`request: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return faults;
}

/** A chart is drawn as it comes near; its marks are SVG shapes, or pixels of a canvas. */
export async function marks(picture: Locator): Promise<number> {
  await picture.scrollIntoViewIfNeeded();
  await picture.locator('svg, canvas').first().waitFor({timeout: 10000});
  return picture.evaluate(async (host) => {
    await new Promise(requestAnimationFrame);
    const layers = [...host.querySelectorAll('canvas')];
    if (layers.length === 0) {
      // Shapes that are painted in a colour: neither frame, nor grid, nor words, nor greys.
      return [...host.querySelectorAll('svg path, svg rect, svg circle, svg polyline')].filter((shape) => {
        const box = shape.getBoundingClientRect();
        const paint = [shape.getAttribute('fill'), shape.getAttribute('stroke')].join(' ');
        const grey = (colour: string) => {
          const parts = /^#(..)(..)(..)$/.exec(colour) ?? /^rgba?\((\d+), ?(\d+), ?(\d+)/.exec(colour);
          if (!parts) return true;
          const base = colour.startsWith('#') ? 16 : 10;
          const [r, g, b] = parts.slice(1).map((part) => parseInt(part, base)) as [number, number, number];
          return Math.max(r, g, b) - Math.min(r, g, b) < 18;
        };
        return box.width + box.height > 1 && paint.split(' ').some((colour) => !grey(colour));
      }).length;
    }
    let painted = 0;
    for (const layer of layers) {
      const {data} = (layer.getContext('2d') as CanvasRenderingContext2D).getImageData(0, 0, layer.width, layer.height);
      for (let at = 0; at < data.length; at += 4) {
        const [r, g, b, a] = [data[at], data[at + 1], data[at + 2], data[at + 3]] as [number, number, number, number];
        if (a > 40 && Math.max(r, g, b) - Math.min(r, g, b) > 30) ++painted;
      }
    }
    return painted;
  });
}

/** Nothing serious by axe, nothing wider than the window, no value that is none. */
export async function checkPlain(page: Page, width: number): Promise<void> {
  const words = await page.locator('body').innerText();
  assert.doesNotMatch(words, /\bNaN\b|\bundefined\b|(?<!\/)\bnull\b|\bInfinity\b|\[object/);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${over} px wider than ${width}`);
  // The policy of the page forbids scripts of others; the debugger's are not the page's.
  await page.evaluate(axe);
  const faults = await page.evaluate(async () => {
    // The rows of a table are all alike: six of them tell, and the rest take most of the time.
    const where = {include: ['html'], exclude: ['tbody tr:nth-child(n + 7)', '[role="rowgroup"] > .row:nth-child(n + 7)']};
    const {violations} = await (window as unknown as {axe: {run(where: object, how: object): Promise<{violations: {id: string; impact: string; nodes: {html: string}[]}[]}>}}).axe.run(where, {resultTypes: ['violations']});
    return violations.filter(({impact}) => impact === 'serious' || impact === 'critical')
      .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
  });
  assert.deepEqual(faults, []);
}
