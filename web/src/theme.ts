// SPDX-License-Identifier: Apache-2.0
// Colours and marks of charts, for paper and for the dark.

export interface Theme {
  name: 'light' | 'dark';
  paper: string;
  ink: string;
  soft: string;  // labels
  line: string;  // axes
  grid: string;
  grey: string;  // what others published
  colours: string[];
  /** From little to much, for heat maps. */
  ramp: string[];
}

// Neighbours differ in hue as colour-blind people see it and in lightness, so that print keeps them
// apart; dashes and marks say it a third time.
export const kLight: Theme = {
  name: 'light',
  paper: '#ffffff',
  ink: '#1c1e21',
  soft: '#555b63',
  line: '#8a9099',
  grid: '#e9eaec',
  grey: '#8a9099',
  colours: ['#17497f', '#d9761a', '#7a2f62', '#3d9bcf', '#0f7a66', '#c99a12', '#5b4a3f', '#d1728f'],
  ramp: ['#f4f6f8', '#cddbe8', '#93b7d5', '#4f8abb', '#215f96', '#0c2f57'],
};

export const kDark: Theme = {
  name: 'dark',
  paper: '#16181b',
  ink: '#e8e9eb',
  soft: '#a9afb8',
  line: '#6d747e',
  grid: '#2b2f35',
  grey: '#8f97a1',
  colours: ['#7fb3e6', '#f0a04c', '#cf8ab8', '#bfe3f7', '#45b89f', '#e3c766', '#b49a86', '#f2b3c4'],
  ramp: ['#1f2429', '#1f3e5c', '#2b6595', '#4f95c6', '#9cc7e4', '#d6ecfb'],
};

// Single quotes: saved pictures have it between double ones.
export const kFont = "system-ui, -apple-system, 'Segoe UI', Inter, Roboto, 'Helvetica Neue', Arial, sans-serif";

const kDashes: (number[] | 'solid')[] = ['solid', [7, 3], [2, 2.5], [10, 3, 2, 3]];
const kSymbols = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle', 'emptyDiamond'];

/** Lines across a filled mark: so long, so far apart, turned so; none at all for the first. */
interface Hatch {
  symbol: string;
  dashArrayX: number[] | number;
  dashArrayY: number[];
  rotation: number;
  symbolSize: number;
}

const kHatches: (Hatch | undefined)[] = [
  undefined,
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 5], rotation: -Math.PI / 4, symbolSize: 1},
  {symbol: 'circle', dashArrayX: [[6, 6], [0, 6, 6, 0]] as unknown as number[], dashArrayY: [6, 0], rotation: 0, symbolSize: 0.5},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 5], rotation: Math.PI / 4, symbolSize: 1},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 5], rotation: 0, symbolSize: 1},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 5], rotation: Math.PI / 2, symbolSize: 1},
  {symbol: 'rect', dashArrayX: [[5, 5], [0, 5, 5, 0]] as unknown as number[], dashArrayY: [5, 0], rotation: 0, symbolSize: 0.7},
];

/** How a series looks: the same wherever it stands on the page. */
export interface Style {
  colour: string;
  dash: number[] | 'solid';
  symbol: string;
  /** Of filled marks. */
  hatch: number;
}

/** The paint of a filled mark: its colour, and lines of paper across that tell it in grey too. */
export function filled(style: Style, theme: Theme): Record<string, unknown> {
  const hatch = kHatches[style.hatch];
  return {color: style.colour, ...(hatch ? {decal: {...hatch, color: theme.paper, symbolKeepAspect: true}} : {})};
}

/** How a mark is painted; hollow ones are of paper inside. */
export function marker(style: Style, theme: Theme) {
  if (!style.symbol.startsWith('empty')) return {symbol: style.symbol, itemStyle: {color: style.colour}};
  const symbol = style.symbol.slice(5).toLowerCase();
  return {symbol, itemStyle: {color: theme.paper, borderColor: style.colour, borderWidth: 1.5}};
}

/** The style of the n-th series: where a colour comes again, its dash, mark and hatch are others. */
export function style(theme: Theme, n: number): Style {
  const round = Math.floor(n / theme.colours.length);
  return {
    colour: theme.colours[n % theme.colours.length] as string,
    dash: kDashes[(n + round) % kDashes.length] as number[] | 'solid',
    symbol: kSymbols[(n + round) % kSymbols.length] as string,
    hatch: n % kHatches.length,
  };
}
