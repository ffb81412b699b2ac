// SPDX-License-Identifier: Apache-2.0
// The page: findings, sections of figures, what could not be shown, where it all comes from.
import {useEffect, useState} from 'preact/hooks';
import {PickedPolicies, usePick} from './compared';
import type {Document, Provenance, Section} from './document';
import {FigureView} from './figure';
import {Findings} from './findings';
import {plain, prose} from './format';
import {KeptChoices, useFragment} from './kept';
import {copy} from './save';
import {kDark, kLight} from './theme';
import {useThemeName} from './theme_switch';
import {Tiles} from './tiles';
import {Words} from './words';

const kKinds: Record<Document['kind'], string> = {
  study: 'Cluster study', run: 'Simulation', sweep: 'Sweep', traces: 'Comparison of traces',
  prediction: 'Prediction', runs: 'Comparison of runs',
  energy: 'Energy', fill: 'Cluster fill', service: 'Inference service', trials: 'Tuning run', capacity: 'Capacity', advice: 'Policy advice',
};

const entryOf = ({id, title}: Section) => ({id: `section-${id}`, title});

/** The page, with the reader's choices in its address. */
export function Page({content}: {content: Document}) {
  return <KeptChoices.Provider value={useFragment()}><Report content={content} /></KeptChoices.Provider>;
}

function Report({content}: {content: Document}) {
  const pick = usePick(content.compared);
  const [copied, setCopied] = useState('');
  const [themeName, switchTheme] = useThemeName();
  const theme = themeName === 'dark' ? kDark : kLight;
  const leading = content.sections.filter(({leads}) => leads);
  const following = content.sections.filter(({leads}) => !leads);
  const figures = [...leading, ...following].flatMap((section) => section.figures);
  const numbers = new Map(figures.map((figure, n) => [figure.id, n + 1]));
  const parts = [
    ...leading.map(entryOf),
    ...(content.findings.length > 0 ? [{id: 'findings', title: 'Findings'}] : []),
    ...following.map(entryOf),
    ...(content.absent.length > 0 ? [{id: 'absent', title: 'Missing figures'}] : []),
    {id: 'about', title: 'About this report'},
  ];
  const here = useHere(parts.map((part) => part.id));
  const sectionView = (section: Section) => (
    <section key={section.id} id={`section-${section.id}`} aria-labelledby={`section-${section.id}-title`}>
      <h2 id={`section-${section.id}-title`}>{section.title}</h2>
      {section.text.split(/\n\s*\n/).filter((text) => text.trim() !== '').map((text, n) => <p key={n} class="text"><Words of={text} /></p>)}
      {section.figures.map((figure) => (
        <FigureView key={figure.id} figure={figure} number={numbers.get(figure.id) ?? 0} provenance={content.provenance} theme={theme} />
      ))}
    </section>
  );
  return (
    <PickedPolicies.Provider value={pick}>
      <a class="skip" href="#content">Skip to the report</a>
      <header class="top">
        <p class="kind">{kKinds[content.kind] ?? 'Report'}</p>
        <h1>{content.title}</h1>
        {content.subtitle && <p class="subtitle">{prose(content.subtitle)}</p>}
        {content.facts.length > 0 && (
          <dl class="facts">
            {content.facts.map((fact, n) => <div key={n}><dt>{fact.label}</dt><dd>{prose(fact.value)}</dd></div>)}
          </dl>
        )}
        <div class="page-tools">
          <button type="button" title="Copy the address of this page, with your choices" onClick={() => void copy(location.href).then((done) => setCopied(done ? 'Copied' : 'Copy the address bar instead'))}>
            <span aria-live="polite">{copied || 'Copy link'}</span>
          </button>
          <button type="button" onClick={switchTheme}>{themeName === 'dark' ? 'Light' : 'Dark'}</button>
        </div>
      </header>
      <nav aria-label="Contents">
        <ol>
          {parts.map((part) => (
            <li key={part.id}><a href={`#${part.id}`} aria-current={here === part.id ? 'true' : undefined}>{part.title}</a></li>
          ))}
        </ol>
      </nav>
      <main id="content">
        {content.tiles.length > 0 && <Tiles tiles={content.tiles} />}
        {leading.map(sectionView)}
        {content.findings.length > 0 && <Findings findings={content.findings} figures={figures} theme={theme} />}
        {following.map(sectionView)}
        {content.absent.length > 0 && (
          <section id="absent" aria-labelledby="absent-title">
            <h2 id="absent-title">Missing figures</h2>
            <p class="text">The input lacks the data for these figures.</p>
            <dl class="absent">
              {content.absent.map((figure) => <div key={figure.id}><dt>{figure.title}</dt><dd>{figure.needs}</dd></div>)}
            </dl>
          </section>
        )}
      </main>
      <footer id="about" aria-labelledby="about-title">
        <h2 id="about-title">About this report</h2>
        {content.notes.length > 0 && <ul class="notes">{content.notes.map((note, n) => <li key={n}><Words of={note} /></li>)}</ul>}
        <Origin of={content.provenance} />
        <p class="keys">
          In a chart, drag or press + and − to zoom, 0 to reset, ← and → to read points. Select a legend entry to hide it. The address of this page keeps your choices, so a copied link shows the same view.
        </p>
      </footer>
    </PickedPolicies.Provider>
  );
}

function Origin({of}: {of: Provenance}) {
  const lines: [string, string][] = [
    ['Trace', of.trace],
    ['SHA-256', of.sha256],
    ['Filter', of.filter],
    ['Jobs', of.jobs === null ? '' : plain(of.jobs)],
    ['Configuration hash', of.hash],
    ['Version', of.version && `Almanac ${of.version.replace(/^almanac\s+/i, '')}`],
    ['Command', of.command],
  ];
  return (
    <dl class="provenance">
      {lines.filter(([, value]) => value !== '').map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

/** The part that is being read. */
function useHere(ids: string[]): string {
  const [here, setHere] = useState(ids[0] ?? '');
  useEffect(() => {
    const look = () => {
      const passed = ids.filter((id) => (document.getElementById(id)?.getBoundingClientRect().top ?? Infinity) < window.innerHeight * 0.3);
      setHere(passed[passed.length - 1] ?? ids[0] ?? '');
    };
    look();
    window.addEventListener('scroll', look, {passive: true});
    return () => window.removeEventListener('scroll', look);
  }, [ids.join()]);
  return here;
}
