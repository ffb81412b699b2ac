// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into one HTML file with a place for the document: node build.mjs OUT.html
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? 'report.html';

const bundle = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.tsx'],
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

// Inside an HTML file a script ends at the first "</script", wherever that stands.
const script = text('.js').replaceAll('</script', '<\\/script');
const style = text('.css');
const hash = createHash('sha256').update(script).digest('base64');

// Functions as replacements: a text may hold "$&".
const page = readFileSync(join(here, 'src/template.html'), 'utf8')
  .replace('@policy@', () =>
    `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data: blob:`)
  .replace('@style@', () => style)
  .replace('@script@', () => script);
if (page.split('@document@').length !== 2) throw new Error('the template needs @document@ exactly once');
writeFileSync(out, page);
