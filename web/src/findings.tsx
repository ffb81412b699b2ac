// SPDX-License-Identifier: Apache-2.0
// What the reader should take home: a sentence with its number, why, and what to do.
import type {Finding} from './document';
import {anchor} from './figure';
import {prose} from './format';

export function Findings({findings, numbers}: {findings: Finding[]; numbers: Map<string, number>}) {
  return (
    <section id="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">Findings</h2>
      <ol class="findings">
        {findings.map((finding, n) => {
          const number = numbers.get(finding.figure);
          return (
            <li key={n}>
              <h3>{emphasised(prose(finding.headline))}</h3>
              <div>
                {finding.detail && <p>{prose(finding.detail)}</p>}
                {finding.advice && <p class="advice"><b>What to do</b> {prose(finding.advice)}</p>}
                {number !== undefined && <a href={`#${anchor(finding.figure)}`}>Figure {number}</a>}
              </div>
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
