// SPDX-License-Identifier: Apache-2.0
// A series as its legend shows it: colour, and dash, mark or hatch.
import type {Key} from './charts/drawing';

/** Lines across a filled mark, as charts draw them (theme.ts). */
const kHatchLines = [
  '', 'M-1 13 L13 -1 M-7 13 L7 -1 M5 13 L19 -1', 'M3 3h.01 M9 3h.01 M6 8h.01 M0 8h.01 M12 8h.01', 'M-1 -1 L13 13 M-7 -1 L7 13 M5 -1 L19 13',
  'M0 3 H12 M0 9 H12', 'M3 0 V12 M9 0 V12', 'M2 2h2v2h-2z M8 2h2v2h-2z M5 7h2v2h-2z',
];

export function Swatch({of}: {of: Key}) {
  if (of.mark === 'area') {
    return (
      <svg width="12" height="12" aria-hidden="true">
        <rect width="12" height="12" fill={of.colour} />
        <path d={kHatchLines[of.hatch]} fill="none" stroke="var(--paper)" stroke-width={of.hatch === 2 ? 2.6 : 1.3} stroke-linecap={of.hatch === 2 ? 'round' : 'butt'} />
      </svg>
    );
  }
  const dash = of.dash === 'solid' ? undefined : of.dash.join(' ');
  const hollow = of.symbol.startsWith('empty');
  const paint = hollow ? {fill: 'var(--paper)', stroke: of.colour, 'stroke-width': 1.5} : {fill: of.colour};
  const shape = of.symbol.replace('empty', '').toLowerCase();
  return (
    <svg width="26" height="12" aria-hidden="true">
      <line x1="0" y1="6" x2="26" y2="6" stroke={of.colour} stroke-width="2" stroke-dasharray={dash} />
      {shape === 'circle' && <circle cx="13" cy="6" r="3.2" {...paint} />}
      {shape === 'rect' && <rect x="10" y="3" width="6" height="6" {...paint} />}
      {shape === 'triangle' && <path d="M13 2.2 L16.8 9 L9.2 9 Z" {...paint} />}
      {shape === 'diamond' && <path d="M13 2 L16.6 6 L13 10 L9.4 6 Z" {...paint} />}
    </svg>
  );
}
