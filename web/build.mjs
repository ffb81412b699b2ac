// SPDX-License-Identifier: Apache-2.0
// Bundles a page of src/ into one HTML file: node build.mjs report|live OUT.html
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [name, out] = process.argv.slice(2);
const pages = {
  // A place for the document; what ECharts draws as SVG has styles of its own.
  report: {folder: 'src', policy: (script) => `default-src 'none'; script-src '${script}'; style-src 'unsafe-inline'; img-src data: blob:`},
  // Asks the service that it came from, and nobody else.
  live: {folder: 'src/live', policy: (script, style) =>
    `default-src 'none'; script-src '${script}'; style-src '${style}'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'`},
};
const page = pages[name];
if (!page || !out) throw new Error(`usage: node build.mjs ${Object.keys(pages).join('|')} OUT.html`);

const bundle = await build({
  absWorkingDir: here,
  entryPoints: [`${page.folder}/main.tsx`],
  bundle: true,
  minify: true,
  write: false,
  outdir: 'out',
  target: ['es2020'],
  charset: 'utf8',
  legalComments: 'none',
  define: {'process.env.NODE_ENV': '"production"'},
  logLevel: 'warning',
});
const text = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending)).text;
const hash = (part) => `sha256-${createHash('sha256').update(part).digest('base64')}`;

// Inside an HTML file a script ends at the first "</script", wherever that stands.
const script = text('.js').replaceAll('</script', '<\\/script');
const style = text('.css');

// Functions as replacements: a text may hold "$&".
const html = readFileSync(join(here, page.folder, 'template.html'), 'utf8')
  .replace('@policy@', () => page.policy(hash(script), hash(style)))
  .replace('@style@', () => style)
  .replace('@script@', () => script);
const places = html.split('@document@').length - 1;
if (places !== (name === 'report' ? 1 : 0)) throw new Error(`the page ${name} has ${places} places for a document`);
writeFileSync(out, html);
