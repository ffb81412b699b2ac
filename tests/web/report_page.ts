// SPDX-License-Identifier: Apache-2.0
// A report with a document in it, as C++ makes it, opened in Chromium.
import {readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {BrowserContext, Page} from 'playwright-core';
import {env, watch} from './browser';

export interface Opened {
  page: Page;
  /** What the browser complained about, and what it asked of a network. */
  faults: string[];
}

/** A file of `folder` that holds the page and a document. */
export function written(folder: string, name: string, json: string): string {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, readFileSync(env('PAGE'), 'utf8').replace('@document@', () => json.replaceAll('<', '\\u003c')));
  return file;
}

/** Likewise, of a document of tests/web/fixtures. */
export function fixture(folder: string, name: string): string {
  return written(folder, basename(name, '.json'), readFileSync(join(env('FIXTURES'), name), 'utf8'));
}

/** `fragment`: what follows "#" in the address. */
export async function open(browser: BrowserContext, file: string, width: number, colorScheme: 'light' | 'dark', fragment = ''): Promise<Opened> {
  const page = await browser.newPage();
  const url = pathToFileURL(file).href;
  const faults = watch(page, (asked) => asked.split('#')[0] === url);
  await page.setViewportSize({width, height: 900});
  await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
  await page.goto(fragment ? `${url}#${fragment}` : url);
  await page.waitForSelector('h1');
  return {page, faults};
}
