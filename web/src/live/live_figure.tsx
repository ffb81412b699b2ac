// SPDX-License-Identifier: Apache-2.0
// A chart of what the service says, with its table.
import {ChartView} from '../chart';
import type {Figure} from '../document';
import {TableView} from '../table';
import type {Theme} from '../theme';

export function LiveFigure({figure, theme}: {figure: Figure; theme: Theme}) {
  return (
    <figure id={`figure-${figure.id}`} aria-labelledby={`figure-${figure.id}-title`}>
      <h2 id={`figure-${figure.id}-title`}>{figure.title}</h2>
      {figure.charts.map((chart, n) => (
        <ChartView key={n} figure={figure} chart={chart} theme={theme} name={figure.id} words={{title: figure.title, below: 'Almanac'}} strict />
      ))}
      {figure.caption && <figcaption>{figure.caption}</figcaption>}
      <details><summary>Table</summary><TableView figure={figure} name={figure.id} /></details>
    </figure>
  );
}
