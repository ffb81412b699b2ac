// SPDX-License-Identifier: Apache-2.0
// A table of jobs, one page at a time; order and page are in the address.
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';
import {plain} from '../format';
import {useIsNarrow} from './narrow';
import {jobLink, refine, type Route} from './route';
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

/** The order that the address names: "gpus", or "-gpus" for the largest first. */
export function sortedBy(route: Route): Sorted | undefined {
  const text = route.query.get('sort') ?? '';
  return text === '' ? undefined : {column: text.replace(/^-/, ''), down: text.startsWith('-')};
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
  route: Route;
}

const kPage = 50;

export function JobTable({label, jobs, columns, route}: Props) {
  const narrow = useIsNarrow();
  const top = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  /** Which end of the page the keyboard goes to once it is there. */
  const enter = useRef<'first' | 'last' | undefined>(undefined);
  const by = sortedBy(route);
  const pages = Math.max(1, Math.ceil(jobs.length / kPage));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(route.query.get('page'))) || 1));
  const from = (page - 1) * kPage;
  const to = Math.min(jobs.length, from + kPage);
  const turn = (next: number) => refine(route, {page: next === 1 ? '' : String(next)});
  const before = useRef(page);
  useLayoutEffect(() => {
    if (before.current === page) return;
    before.current = page;
    const links = body.current?.querySelectorAll<HTMLElement>('[role="row"] a');
    if (enter.current) links?.[enter.current === 'first' ? 0 : links.length - 1]?.focus();
    else top.current?.scrollIntoView();
    enter.current = undefined;
  }, [page]);

  const step = (event: KeyboardEvent) => {
    const move = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const row = (event.target as HTMLElement).closest('[role="row"]');
    if (move === 0 || !row) return;
    const link = (move > 0 ? row.nextElementSibling : row.previousElementSibling)?.querySelector('a');
    if (!link && (page + move < 1 || page + move > pages)) return;
    event.preventDefault();
    if (link) {
      link.focus();
      return;
    }
    enter.current = move > 0 ? 'first' : 'last';
    turn(page + move);
  };
  const sort = (column: JobColumn) => refine(route, {sort: by?.column === column.name && !by.down ? `-${column.name}` : column.name});
  const tracks = columns.map((column) => column.width).join(' ');
  return (
    <div class="jobs" ref={top}>
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
        <div role="rowgroup" ref={body} onKeyDown={step}>
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
      {jobs.length === 0 && <p class="nothing">No job matches.</p>}
      {pages > 1 && (
        <nav class="pages" aria-label={`Pages of: ${label}`}>
          <button type="button" disabled={page === 1} onClick={() => turn(1)}>First</button>
          <button type="button" disabled={page === 1} onClick={() => turn(page - 1)}>Previous</button>
          <span role="status">{plain(from + 1)} to {plain(to)} of {plain(jobs.length)}</span>
          <button type="button" disabled={page === pages} onClick={() => turn(page + 1)}>Next</button>
          <button type="button" disabled={page === pages} onClick={() => turn(pages)}>Last</button>
        </nav>
      )}
    </div>
  );
}
