// SPDX-License-Identifier: Apache-2.0
// The page: findings, sections of figures, what could not be shown, where it all comes from.
import {useEffect, useMemo, useState} from 'preact/hooks';
import type {Document, Provenance} from './document';
import {FigureView} from './figure';
import {Findings} from './findings';
import {plain, prose} from './format';
import {highlights} from './highlights';
import {kDark, kLight} from './theme';
import {useThemeName} from './theme_switch';

const kKinds: Record<Document['kind'], string> = {
  study: 'Cluster study', run: 'Simulation', sweep: 'Sweep', traces: 'Comparison of traces',
  prediction: 'Prediction',
  energy: 'Energy',
};

export function Page({content}: {content: Document}) {
  const [themeName, switchTheme] = useThemeName();
  const theme = themeName === 'dark' ? kDark : kLight;
  const figures = content.sections.flatMap((section) => section.figures);
  const numbers = new Map(figures.map((figure, n) => [figure.id, n + 1]));
  const parts = [
    ...(content.findings.length > 0 ? [{id: 'findings', title: 'Findings'}] : []),
    ...content.sections.map(({id, title}) => ({id: `section-${id}`, title})),
    ...(content.absent.length > 0 ? [{id: 'absent', title: 'Not shown'}] : []),
    {id: 'about', title: 'About this report'},
  ];
  const first = useMemo(() => highlights(content), [content]);
  const here = useHere(parts.map((part) => part.id));
  return (
    <>
      <a class="skip" href="#content">To the report</a>
      <header class="top">
        <p class="kind">{kKinds[content.kind] ?? 'Report'}</p>
        <h1>{content.title}</h1>
        {content.subtitle && <p class="subtitle">{prose(content.subtitle)}</p>}
        {content.facts.length > 0 && (
          <dl class="facts">
            {content.facts.map((fact, n) => <div key={n}><dt>{fact.label}</dt><dd>{prose(fact.value)}</dd></div>)}
          </dl>
        )}
        <button class="theme" type="button" onClick={switchTheme}>{themeName === 'dark' ? 'Light' : 'Dark'}</button>
      </header>
      <nav aria-label="Contents">
        <ol>
          {parts.map((part) => (
            <li key={part.id}><a href={`#${part.id}`} aria-current={here === part.id ? 'true' : undefined}>{part.title}</a></li>
          ))}
        </ol>
      </nav>
      <main id="content">
        {content.findings.length > 0 && <Findings findings={content.findings} numbers={numbers} />}
        {content.sections.map((section) => (
          <section key={section.id} id={`section-${section.id}`} aria-labelledby={`section-${section.id}-title`}>
            <h2 id={`section-${section.id}-title`}>{section.title}</h2>
            {section.text.split(/\n\s*\n/).filter((text) => text.trim() !== '').map((text, n) => <p key={n} class="text">{prose(text)}</p>)}
            {section.figures.map((figure) => (
              <FigureView key={figure.id} figure={figure} number={numbers.get(figure.id) ?? 0} provenance={content.provenance} theme={theme} first={first} />
            ))}
          </section>
        ))}
        {content.absent.length > 0 && (
          <section id="absent" aria-labelledby="absent-title">
            <h2 id="absent-title">Not shown</h2>
            <p class="text">These figures need what the input does not have.</p>
            <dl class="absent">
              {content.absent.map((figure) => <div key={figure.id}><dt>{figure.title}</dt><dd>{figure.needs}</dd></div>)}
            </dl>
          </section>
        )}
      </main>
      <footer id="about" aria-labelledby="about-title">
        <h2 id="about-title">About this report</h2>
        {content.notes.length > 0 && <ul class="notes">{content.notes.map((note, n) => <li key={n}>{prose(note)}</li>)}</ul>}
        <Origin of={content.provenance} />
        <p class="keys">
          In a chart: drag, or + and −, to zoom; 0 to see all; ← and → to read points; a name of the legend to switch it off.
        </p>
      </footer>
    </>
  );
}

function Origin({of}: {of: Provenance}) {
  const lines: [string, string][] = [
    ['Trace', of.trace],
    ['SHA-256', of.sha256],
    ['Filter', of.filter],
    ['Jobs', of.jobs === null ? '' : plain(of.jobs)],
    ['Hash', of.hash],
    ['Made by', of.version && `Almanac ${of.version.replace(/^almanac\s+/i, '')}`],
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
