// SPDX-License-Identifier: Apache-2.0
// Draws the document that lies in the page.
import {render} from 'preact';
import {parseFragment} from './address';
import {parse} from './document';
import {Page} from './page';
import './style.css';

const place = document.getElementById('page') as HTMLElement;
try {
  const content = parse(document.getElementById('document')?.textContent ?? '');
  document.title = content.title;
  render(<Page content={content} />, place);
  // The browser looked for the figure of the address before it was there.
  const {anchor} = parseFragment(location.hash);
  if (anchor !== '') document.getElementById(anchor)?.scrollIntoView();
} catch (error) {
  render(<main><p class="nothing">{error instanceof Error ? error.message : String(error)}</p></main>, place);
}
