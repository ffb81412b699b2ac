// SPDX-License-Identifier: Apache-2.0
// A figure: its number and title, charts, caption with where it comes from, and its table.
import {ChartView} from './chart';
import type {Figure, Provenance} from './document';
import {plain} from './format';
import {TableView} from './table';
import type {Theme} from './theme';
import {Words} from './words';

/** A server of reports may forbid what a file allows itself: style attributes. */
export const kIsServed = location.protocol.startsWith('http');

interface Props {
  figure: Figure;
  number: number;
  provenance: Provenance;
  theme: Theme;
}

export function anchor(id: string): string {
  return `figure-${id}`;
}

export function FigureView({figure, number, provenance, theme}: Props) {
  const rows = Math.max(0, ...figure.columns.map((column) => figure.data[column.name]?.length ?? 0));
  const origin = [
    figure.n === null ? '' : `n\u00a0=\u00a0${plain(figure.n)}`,
    provenance.trace.replace(/^.*\//, ''),
    provenance.filter,
    provenance.hash && `hash ${provenance.hash}`,
  ].filter((part) => part !== '');
  return (
    <figure id={anchor(figure.id)} class={figure.compared ? 'wide' : figure.charts.length > 0 ? '' : figure.columns.length > 5 ? 'wide' : 'narrow'} aria-labelledby={`${anchor(figure.id)}-title`}>
      <div class="plate">
        <h3 id={`${anchor(figure.id)}-title`}>
          <a class="number" href={`#${anchor(figure.id)}`}>Figure {number}</a> {figure.title}
        </h3>
        {figure.compared && rows > 0 && <TableView figure={figure} name={figure.id} />}
        {figure.charts.map((chart, n) => (
          <ChartView
            key={n} figure={figure} chart={chart} theme={theme} strict={kIsServed}
            name={figure.charts.length > 1 ? `${figure.id}_${n + 1}` : figure.id}
            words={{
              title: [figure.title, chart.title].filter((part) => part !== '').join(': '),
              below: [figure.source && `After ${figure.source}`, ...origin].filter((part) => part !== '').join(' · '),
            }}
          />
        ))}
      </div>
      <figcaption>
        {figure.caption && <p><Words of={figure.caption} /></p>}
        {figure.source && <p class="source">After {figure.source}.</p>}
        {origin.length > 0 && <p class="origin">{origin.map((part, n) => <span key={n}>{part}</span>)}</p>}
      </figcaption>
      {figure.compared && rows > 0 ? null : rows === 0 ? figure.charts.length === 0 && <p class="nothing">There are no rows.</p> : figure.charts.length === 0
        ? <TableView figure={figure} name={figure.id} />
        : (
          <details>
            <summary>Table <span class="hint">{plain(rows)} {rows === 1 ? 'row' : 'rows'}</span></summary>
            <TableView figure={figure} name={figure.id} />
          </details>
        )}
    </figure>
  );
}
