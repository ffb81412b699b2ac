// SPDX-License-Identifier: Apache-2.0
// A job along the clock: what it was told when it came, what is expected now, and what was true.
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {duration, percent} from '../format';
import {dateTicks} from '../ticks';
import {clock, moved, stretch} from './clock';
import type {Expected, Job, Told} from './service';

const kLabel = 92;   // pixels of what stands before the lanes
const kLane = 30;

const kKeys: [string, string][] = [['start', 'start (90 %)'], ['end', 'end (90 %)'], ['waited', 'pending'], ['ran', 'running']];

interface Span {
  from: number;
  to: number;
  kind: string;
  words: string;
}

export function Course({job, told, now}: {job: Job; told: Told[]; now: number}) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!place.current) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  const first = told[0];
  const expected = job.end_s === undefined ? job.expected : undefined;
  const lanes = [
    ...(first ? [{name: 'first forecast', spans: stretches(first, now)}] : []),
    ...(expected ? [{name: 'forecast', spans: stretches(expected, now, job.state === 'RUNNING')}] : []),
    {name: job.end_s === undefined ? 'so far' : 'actual', spans: truth(job, now)},
  ];
  const marks = [...lanes.flatMap((lane) => lane.spans.flatMap((span) => [span.from, span.to])), job.submit_s, ...(job.end_s === undefined ? [now] : [])];
  if (job.deadline_s !== undefined && job.deadline_s < Math.max(...marks) + 2 * (Math.max(...marks) - job.submit_s) + 3600) marks.push(job.deadline_s);
  const low = Math.min(...marks);
  const high = Math.max(...marks, low + 1);
  const room = Math.max(50, width - kLabel - 8);
  const x = (at: number) => kLabel + ((at - low) / (high - low)) * room;
  const due = job.deadline_s !== undefined && job.deadline_s <= high ? job.deadline_s : undefined;
  const top = due === undefined ? 0 : 14;  // the deadline's word stands above the lanes
  const height = top + lanes.length * kLane + 24;
  // Ticks stand at whole hours of the reader's clock.
  const shift = moved(low) - low;
  const ticks = dateTicks(low + shift, high + shift, Math.max(3, Math.floor(room / 90))).map((at) => at - shift);
  const verdicts = verdict(job, first, now);
  return (
    <section class="course" aria-labelledby="course-title">
      <h2 id="course-title">Timeline</h2>
      <div ref={place}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={[...lanes.flatMap((lane) => lane.spans.map((span) => `${lane.name}: ${span.words}`)), ...verdicts].join('. ')}>
            {ticks.map((at) => (
              <g key={at}>
                <line class="tick" x1={x(at)} x2={x(at)} y1={top} y2={height - 18} />
                <text class="label" x={x(at)} y={height - 5} text-anchor={x(at) > width - 40 ? 'end' : 'middle'}>{clock(at, now, at % 60 !== 0)}</text>
              </g>
            ))}
            {lanes.map((lane, n) => (
              <g key={lane.name}>
                <text class="label" x="0" y={top + n * kLane + 20}>{lane.name}</text>
                {lane.spans.map((span, m) => (
                  <rect key={m} class={span.kind} x={x(span.from)} width={Math.max(2, x(span.to) - x(span.from))} y={top + n * kLane + (span.kind === 'waited' ? 14 : 8)} height={span.kind === 'waited' ? 3 : 15} rx="1.5">
                    <title>{span.words}</title>
                  </rect>
                ))}
              </g>
            ))}
            {due !== undefined && (
              <g>
                <line class="deadline" x1={x(due)} x2={x(due)} y1="0" y2={height - 20} />
                <text class="label deadline-word" x={x(due) - 4} y="10" text-anchor="end">deadline</text>
              </g>
            )}
            {job.end_s === undefined && <line class="present" x1={x(now)} x2={x(now)} y1={top} y2={height - 20} />}
          </svg>
        )}
      </div>
      <p class="key">
        {kKeys.filter(([kind]) => lanes.some((lane) => lane.spans.some((span) => span.kind === kind)))
          .map(([kind, words]) => <Key key={kind} kind={kind} words={words} />)}
      </p>
      {verdicts.map((line) => <p key={line} class="verdict">{line}</p>)}
    </section>
  );
}

function Key({kind, words}: {kind: string; words: string}) {
  return (
    <span>
      <svg width="18" height="10" aria-hidden="true"><rect class={kind} y={kind === 'waited' ? 4 : 0} width="18" height={kind === 'waited' ? 3 : 10} rx="1.5" /></svg>
      {words}
    </span>
  );
}

function stretches(of: Told | Expected, now: number, runs = false): Span[] {
  const spans: Span[] = [];
  const add = (from: number | undefined, to: number | undefined, kind: string) => {
    if (from !== undefined && to !== undefined) spans.push({from, to, kind, words: `${kind}s ${stretch(from, to, now)}`});
  };
  if (!runs) add(of.start_from_s, of.start_to_s, 'start');
  add(of.end_from_s, of.end_to_s, 'end');
  return spans;
}

function truth(job: Job, now: number): Span[] {
  const until = job.end_s ?? now;
  const waits = (from: number, to: number): Span => ({from, to, kind: 'waited', words: `pending ${duration(Math.max(0, to - from))}`});
  if (job.start_s === undefined) return [waits(job.submit_s, until)];
  const spans = [waits(job.submit_s, job.start_s)];
  // Of earlier runs only the first start and the sum are known.
  if (job.state === 'PENDING') {
    return [...spans, {from: job.start_s, to: job.start_s + job.attained_s, kind: 'ran', words: `ran ${duration(job.attained_s)} before`}, waits(job.since_s, now)];
  }
  return [...spans, {from: job.start_s, to: until, kind: 'ran', words: `ran from ${clock(job.start_s, now)} to ${job.end_s === undefined ? 'now' : clock(job.end_s, now)}`}];
}

/** How the first forecast compares with what happened, in words. */
function verdict(job: Job, told: Told | undefined, now: number): string[] {
  if (!told) return [];
  const lines: string[] = [];
  const judge = (what: string, at: number | undefined, from: number | undefined, to: number | undefined) => {
    if (from === undefined || to === undefined) return;
    const said = `Forecast at submission: ${what} ${stretch(from, to, now)} (${percent(told.share)} interval)`;
    if (at === undefined) {
      if (now > to && job.end_s === undefined) lines.push(`${said}. Now ${duration(now - to)} late.`);
      else if (job.end_s === undefined) lines.push(`${said}.`);
      return;
    }
    const off = at < from ? `${duration(from - at)} early` : at > to ? `${duration(at - to)} late` : 'within the interval';
    lines.push(`${said}. Actual ${what}: ${clock(at, now)}, ${off}.`);
  };
  judge('start', job.start_s, told.start_from_s, told.start_to_s);
  judge('end', job.end_s, told.end_from_s, told.end_to_s);
  return lines;
}
