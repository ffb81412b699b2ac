// SPDX-License-Identifier: Apache-2.0
// What every kind of chart is given, and what it gives back.
import type {EChartsCoreOption} from 'echarts/core';
import type {Chart} from '../document';
import {style, type Style, type Theme} from '../theme';
import type {Rows} from './rows';

export interface Input {
  chart: Chart;
  rows: Rows;
  width: number;  // pixels
  theme: Theme;
  /** Whether it is the picture of a finding: at most six bars. */
  small?: boolean;
  /** Names of series that the reader has switched off. */
  hidden: ReadonlySet<string>;
  /** Places among colours and marks by name: elsewhere a series takes its own number. */
  places?: ReadonlyMap<string, number>;
  /** What is to be known of a name beside it: it gets a star, and a word below. */
  cautions?: ReadonlyMap<string, string>;
}

/** How the n-th series looks, called `name` where it is one of those that the whole page compares. */
export function styleOf(input: Input, name: string, n: number): Style {
  return style(input.theme, input.places?.get(name) ?? n);
}

/** A line of the legend. */
export interface Key extends Style {
  name: string;
  mark: 'line' | 'area';
}

export interface Drawing {
  /** An ECharts option: grid, axes, series, tooltip; titles of axes are in `title`. */
  option: EChartsCoreOption;
  height: number;  // pixels
  /** Whether the height grows with what is drawn. */
  tall?: boolean;
  /** How many marks there are: many are painted on a canvas. */
  marks: number;
  /** Which axes can be zoomed, and their ticks within what is seen (places on the axis). */
  zoom: {axis: 'x' | 'y'; ticks?: (low: number, high: number) => number[]}[];
  keys: Key[];
  /** What is not in the picture though it is in the table. */
  left_out: string;
}

/** Why there is nothing to draw, as a sentence. */
export interface Nothing {
  nothing: string;
}

export function hasNothing(drawn: Drawing | Nothing): drawn is Nothing {
  return 'nothing' in drawn;
}

const kEscapes: Record<string, string> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/** Names come from logs; a tooltip is HTML. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => kEscapes[letter] as string);
}

export interface TipLine {
  style?: Style;
  name: string;
  value: string;
}

/** A tooltip: a heading, then names and values, at most a dozen. */
export function tip(heading: string, lines: TipLine[]): string {
  const shown = lines.slice(0, 12).map(({style, name, value}) => {
    // A strict policy of a page allows no style attribute here.
    const mark = style ? `<svg width="8" height="8" aria-hidden="true"><rect width="8" height="8" fill="${style.colour}"/></svg>` : '<i></i>';
    return `<tr><td>${mark}${escape(name)}</td><td>${escape(value)}</td></tr>`;
  });
  if (lines.length > 12) shown.push(`<tr><td><i></i>and ${lines.length - 12} more</td><td></td></tr>`);
  return `<div class="tip"><b>${escape(heading)}</b><table role="presentation">${shown.join('')}</table></div>`;
}

/** Paper does not wait for a picture that is painted in portions. */
export const kAtOnce = {progressive: 0, progressiveThreshold: Infinity};

/** What all charts have in common. */
export function frame(input: Input, tooltip: object, parts: EChartsCoreOption): EChartsCoreOption {
  const {theme} = input;
  return {
    animation: false,
    useUTC: true,
    backgroundColor: 'transparent',
    textStyle: {color: theme.soft},
    tooltip: {
      confine: true,
      appendTo: undefined,
      backgroundColor: theme.paper,
      borderColor: theme.line,
      borderWidth: 1,
      borderRadius: 2,
      padding: [6, 9],
      transitionDuration: 0,
      extraCssText: 'box-shadow:0 2px 10px rgba(0,0,0,.14)',
      textStyle: {color: theme.ink, fontSize: 12.5},
      ...tooltip,
    },
    ...parts,
  };
}
