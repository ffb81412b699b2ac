// SPDX-License-Identifier: Apache-2.0
// A table of jobs of any length: only the rows that are seen are on the page.
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {plain} from '../format';
import {useIsNarrow} from './narrow';
import {jobLink} from './route';
import type {Job} from './service';

export interface JobColumn {
  name: string;
  label: string;
  /** Of CSS grid: "4rem", "minmax(6rem, 1fr)". */
  width: string;
  right?: boolean;
  cell(job: Job): ComponentChildren;
  /** What it is sorted by; absent = it is not. */
  key?(job: Job): number | string;
}

export interface Sorted {
  column: string;
  down: boolean;
}

const kNames = new Intl.Collator('en', {numeric: true});

/** `jobs` by a column; equal ones keep their order, and what has no number comes last. */
export function sorted(jobs: Job[], columns: JobColumn[], by: Sorted | undefined): Job[] {
  const key = columns.find((column) => column.name === by?.column)?.key;
  if (!by || !key) return jobs;
  const sign = by.down ? -1 : 1;
  return jobs.map((job) => ({job, key: key(job)})).sort((a, b) => {
    if (typeof a.key === 'number' && typeof b.key === 'number') {
      const lacking = Number(Number.isNaN(a.key)) - Number(Number.isNaN(b.key));
      return lacking || sign * (a.key - b.key) || 0;
    }
    return sign * kNames.compare(String(a.key), String(b.key));
  }).map(({job}) => job);
}

interface Props {
  label: string;
  jobs: Job[];
  columns: JobColumn[];
  by: Sorted | undefined;
  onSort(by: Sorted): void;
}

// Pixels; live.css makes rows as high.
const kRow = 34;
const kNarrowRow = 62;
const kMargin = 12;  // rows beyond what is seen

export function JobTable({label, jobs, columns, by, onSort}: Props) {
  const narrow = useIsNarrow();
  const high = narrow ? kNarrowRow : kRow;
  const body = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({from: 0, to: 60});
  useLayoutEffect(() => {
    const look = () => {
      if (!body.current) return;
      const top = -body.current.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor(top / high) - kMargin);
      const to = Math.max(0, Math.ceil((top + window.innerHeight) / high)) + kMargin;
      setSeen((before) => (before.from === from && before.to === to ? before : {from, to}));
    };
    look();
    window.addEventListener('scroll', look, {passive: true});
    window.addEventListener('resize', look);
    return () => {
      window.removeEventListener('scroll', look);
      window.removeEventListener('resize', look);
    };
  }, [high, jobs.length]);

  const from = Math.min(seen.from, Math.max(0, jobs.length - 1));
  const to = Math.min(jobs.length, seen.to);
  const step = (event: KeyboardEvent) => {
    const move = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const row = (event.target as HTMLElement).closest('[role="row"]');
    const other = move > 0 ? row?.nextElementSibling : move < 0 ? row?.previousElementSibling : null;
    const link = other?.querySelector('a');
    if (!link) return;
    event.preventDefault();
    link.focus();
  };
  const sort = (column: JobColumn) => onSort(by?.column === column.name ? {...by, down: !by.down} : {column: column.name, down: false});
  const tracks = columns.map((column) => column.width).join(' ');
  return (
    <div class="jobs">
      <div role="table" aria-label={label} aria-rowcount={jobs.length + 1}>
        <div role="rowgroup" class="heads">
          <div role="row" class="row" aria-rowindex={1} style={narrow ? undefined : {gridTemplateColumns: tracks}}>
            {columns.map((column) => {
              const mine = by?.column === column.name;
              return (
                <div key={column.name} role="columnheader" class={`h-${column.name}${column.right ? ' right' : ''}`} {...(column.key ? {'aria-sort': mine ? (by.down ? 'descending' : 'ascending') : 'none'} as const : {})}>
                  {column.key ? <button type="button" onClick={() => sort(column)}>{column.label}<span aria-hidden="true">{mine ? (by.down ? ' ▾' : ' ▴') : ''}</span></button> : column.label}
                </div>
              );
            })}
          </div>
        </div>
        <div role="rowgroup" ref={body} onKeyDown={step} style={{paddingTop: `${from * high}px`, paddingBottom: `${(jobs.length - to) * high}px`}}>
          {jobs.slice(from, to).map((job, n) => (
            <div key={job.number} role="row" class="row" aria-rowindex={from + n + 2} style={narrow ? undefined : {gridTemplateColumns: tracks}}>
              {columns.map((column, place) => (
                <div key={column.name} role="cell" class={`c-${column.name}${column.right ? ' right' : ''}`}>
                  {place === 0 ? <a href={jobLink(job.job_id)}>{column.cell(job)}</a> : column.cell(job)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
      {jobs.length === 0 && <p class="nothing">No job is like that.</p>}
      {jobs.length > 100 && <p class="unseen">{plain(jobs.length)} rows; arrow keys go from row to row.</p>}
    </div>
  );
}
