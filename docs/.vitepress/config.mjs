// SPDX-License-Identifier: Apache-2.0
// The pages of this clone as a website: docs/, the pages next to README.md, and the READMEs of the rooms. tools/docs builds it.
import {readdirSync, readFileSync, writeFileSync, existsSync} from 'node:fs';
import {join, dirname, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitepress';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** The first heading of a page. */
const title = (page) => /^# (.*)$/m.exec(readFileSync(join(root, page), 'utf8'))[1].replace(/`/g, '');
const item = (page, text) => ({text: text ?? title(page), link: '/' + page.replace(/\.md$/, '')});
const guide = (name, text) => item(`docs/guide/${name}.md`, text);
const pages = (folder) => readdirSync(join(root, folder)).filter((name) => name.endsWith('.md') && name !== 'index.md').sort();
const rooms = () => readdirSync(join(root, 'src')).filter((name) => existsSync(join(root, 'src', name, 'README.md')));

/** The anchors that GitHub makes, so that links work there and here; tools/links checks them. */
const slugify = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, '').replace(/ /g, '-');

/** Leaves out comments, and links to what is no page, such as sources. The overview stands in for the README. */
function adapt(md) {
  const isPage = (href) => /^([a-z]+:|#|\/)/.test(href) || /\.(md|html)(#.*)?$/.test(href);
  const isReadme = (href) => /^(\.\.\/)+README\.md/.test(href);
  md.core.ruler.before('normalize', 'hide_comments', (state) => {
    state.src = state.src.replace(/^<!--.*-->$/gm, '');
  });
  md.core.ruler.push('links_and_terminals', (state) => {
    for (const token of state.tokens) {
      // Indented code has no frame and does not wrap: it becomes a block like the others.
      if (token.type === 'code_block' || (token.type === 'fence' && /^(console|text)?(\s|$)/.test(token.info))) Object.assign(token, {type: 'fence', tag: 'code', info: 'txt', markup: '```'});
    }
    const open = [];
    for (const token of state.tokens.flatMap(({children}) => children ?? [])) {
      if (token.type === 'link_open') {
        const href = token.attrGet('href');
        open.push(isPage(href));
        if (isReadme(href)) token.attrSet('href', '/docs/index.md');
        if (!open.at(-1)) Object.assign(token, {tag: 'span', attrs: null});
      } else if (token.type === 'link_close' && !open.pop()) {
        token.tag = 'span';
      }
    }
  });
}

export default defineConfig({
  title: 'Almanac',
  description: 'Why GPU jobs wait on a cluster, and what would fix it',
  lang: 'en',
  srcDir: '.vitepress/pages',  // copies, because packages are only found below docs/
  cleanUrls: false,
  head: [['link', {rel: 'icon', href: 'data:,'}]],
  lastUpdated: false,
  markdown: {html: false, anchor: {slugify}, config: adapt},
  themeConfig: {
    search: {provider: 'local'},
    outline: [2, 3],
    logoLink: '/docs/',
    nav: [
      {text: 'Tours', link: '/docs/tour/operator', activeMatch: '/docs/tour/'},
      {text: 'Guides', link: '/docs/guide/slurm', activeMatch: '/docs/guide/'},
      {text: 'Reference', link: '/docs/reference/features', activeMatch: '/docs/(reference|glossary)'},
      {text: 'FAQ', link: '/docs/faq'},
      {text: 'Changes', link: '/CHANGELOG'},
    ],
    sidebar: [
      {text: 'Start', items: [item('docs/index.md', 'Overview'), item('docs/install.md'), item('docs/policy.md', 'The policy almanac'), item('examples/README.md'), item('docs/faq.md', 'FAQ'), item('docs/trouble.md')]},
      {
        text: 'Operator', items: [
          item('docs/tour/operator.md', 'Tour'), guide('slurm'), guide('slurm_levers'), guide('efficiency'), guide('energy'), guide('failures'), guide('fairness'),
          guide('fragmentation'), guide('capacity'),
        ],
      },
      {text: 'Kubernetes', items: [item('docs/tour/kubernetes.md', 'Tour'), guide('kubernetes'), guide('kueue')]},
      {text: 'Lab', items: [item('docs/tour/lab.md', 'Tour'), guide('live'), guide('boxes'), guide('dashboard'), guide('packaging'), guide('security'), guide('agents')]},
      {
        text: 'Researcher', items: [
          item('docs/tour/researcher.md', 'Tour'), guide('research'), guide('schedulers'), guide('python'), guide('script_policies'), guide('generator'),
          guide('report'),
        ],
      },
      {text: 'Inference', items: [item('docs/tour/inference.md', 'Tour'), guide('inference')]},
      {text: 'User', items: [item('docs/tour/user.md', 'Tour'), guide('qos'), guide('tuning'), guide('profile')]},
      {
        text: 'Developer', items: [
          item('docs/tour/developer.md', 'Tour'), item('docs/architecture.md'), item('CONTRIBUTING.md'),
          {text: 'Rooms', collapsed: true, items: rooms().map((name) => item(`src/${name}/README.md`, name))},
          {text: 'Laboratory', collapsed: true, items: [item('artifacts/README.md', 'artifacts'), item('artifacts/reproduce/README.md', 'reproduce')]},
        ],
      },
      {text: 'Models of jobs', collapsed: true, items: [guide('predict'), guide('perf'), guide('resources'), guide('network'), guide('elastic')]},
      {
        text: 'Reference', items: [
          item('docs/reference/features.md'), item('docs/reference/survey.md', 'The survey'), item('docs/reference/formats.md'), item('docs/reference/slurm.md', 'Slurm'), item('docs/reference/configuration.md'), item('docs/glossary.md'), item('docs/reference/papers.md'),
          {text: 'Commands', collapsed: true, items: [item('docs/reference/commands/index.md', 'All commands'), ...pages('docs/reference/commands').map((name) => item(`docs/reference/commands/${name}`))]},
          item('CHANGELOG.md'),
        ],
      },
      {text: 'Evidence', items: pages('docs/evidence').map((name) => item(`docs/evidence/${name}`))},
      {
        text: 'Decisions', collapsed: true,
        items: [item('docs/decisions/index.md', 'All decisions'), ...pages('docs/decisions').map((name) => item(`docs/decisions/${name}`))],
      },
    ],
  },
  // The site begins in docs/, as the clone's pages do.
  buildEnd({outDir}) {
    writeFileSync(join(outDir, 'index.html'), '<!doctype html><meta http-equiv="refresh" content="0; url=docs/"><a href="docs/">Almanac</a>\n');
  },
});
