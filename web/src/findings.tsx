// SPDX-License-Identifier: Apache-2.0
// What the reader should take home: a sentence with its number, why, what to do, and its picture.
import type {Figure, Finding} from './document';
import {anchor, kIsServed} from './figure';
import {prose} from './format';
import {SmallChart, smallChartOf} from './small_chart';
import type {Theme} from './theme';
import {Words} from './words';

interface Props {
  findings: Finding[];
  figures: Figure[];
  theme: Theme;
}

export function Findings({findings, figures, theme}: Props) {
  return (
    <section id="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      <ol class="findings">
        {findings.map((finding, n) => {
          const at = figures.findIndex((figure) => figure.id === finding.figure);
          const figure = figures[at];
          // A picture is shown once, where it comes first.
          const isFirst = findings.findIndex((other) => other.figure === finding.figure) === n;
          const chart = isFirst ? smallChartOf(figure) : undefined;
          return (
            <li key={n}>
              <div>
                <h3>{emphasised(prose(finding.headline))}</h3>
                {finding.detail && <p><Words of={finding.detail} /></p>}
                {finding.advice && <p class="advice"><b>What to do</b> <Words of={finding.advice} /></p>}
                {figure && <a href={`#${anchor(figure.id)}`}>Figure {at + 1}</a>}
              </div>
              {figure && chart && <SmallChart figure={figure} chart={chart} theme={theme} strict={kIsServed} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

// A number with its unit, standing alone: not the 6 of "vc6" nor the parts of a date.
const kNumber =
  /(^|[\s(~≈<>])(\d[\d,]*[dhm]\s\d\d[hms]|[−-]?\d[\d,]*(?:[.:]\d+)?(?:\s?(?:%|×|ms|s|min|m|h|d|hours?|days?|GPU-(?:hours?|days?)|GPUs?|MW|kW|W))?)(?=$|[\s).,;:!?])/g;

/** A headline whose numbers stand out. */
function emphasised(text: string) {
  return text.split(kNumber).map((part, n) => (n % 3 === 2 ? <strong key={n}>{part}</strong> : part));
}
