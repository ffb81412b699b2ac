// SPDX-License-Identifier: Apache-2.0
// Draws the document that lies in the page.
import {render} from 'preact';
import {parse} from './document';
import {Page} from './page';
import './style.css';

const place = document.getElementById('page') as HTMLElement;
try {
  const content = parse(document.getElementById('document')?.textContent ?? '');
  document.title = content.title;
  render(<Page content={content} />, place);
  // The browser looked for the figure of the address before it was there.
  if (location.hash.length > 1) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
} catch (error) {
  render(<main><p class="nothing">{error instanceof Error ? error.message : String(error)}</p></main>, place);
}
