// SPDX-License-Identifier: Apache-2.0
// The table of a figure: sorted by any column, filtered, the first rows at first, the whole of it as CSV.
import {useContext, useMemo, useState} from 'preact/hooks';
import {Marks, PickedPolicies, type Pick} from './compared';
import {csv} from './csv';
import type {Column, Figure, Unit} from './document';
import {bare, cell, difference, measure, plain, type Measure} from './format';
import {useKept} from './kept';
import {matching, order, type Order} from './order';
import {copy, saveText} from './save';
import {foldable} from './words';

const kFirst = 50;
const kMore = 500;
/** Fewer rows are found without a filter. */
const kFilter = 12;

/** "avg_wait_s", or "-avg_wait_s" for the largest first. */
const parseOrder = (text: string | undefined): Order | undefined =>
  (text ? {column: text.replace(/^-/, ''), down: text.startsWith('-')} : undefined);

export function TableView({figure, name}: {figure: Figure; name: string}) {
  const pick = useContext(PickedPolicies);
  const [keptOrder, keepOrder] = useKept(`sort.${name}`);
  const [keptWords, keepWords] = useKept(`find.${name}`);
  const [keptColumns, keepColumns] = useKept(`columns.${name}`);
  const [keptRows, keepRows] = useKept(`rows.${name}`);
  const [shown, setShown] = useState(kFirst);
  const [copied, setCopied] = useState('');
  const by = useMemo(() => parseOrder(keptOrder), [keptOrder]);
  const names = figure.compared && pick ? figure.data[figure.compared] ?? [] : undefined;
  const ordered = useMemo(() => order(figure, by), [figure, by]);
  const pinned = names ? names.indexOf(pick?.baseline ?? '') : -1;
  const rows = useMemo(() => {
    const left = matching(figure, ordered, keptWords ?? '')
      .filter((row) => keptRows !== 'choices' || !pick?.cautions.has(String(names?.[row])));
    return pinned < 0 ? left : [pinned, ...left.filter((row) => row !== pinned)];
  }, [figure, ordered, keptWords, keptRows, pinned]);

  const units = new Set(figure.columns.map((column) => column.units));
  const told = figure.columns.filter((column) => !units.has(column.name));
  const some = told.filter((column) => !column.detail);
  const columns = keptColumns === 'all' ? told : some;
  const sizes = useMemo(() => new Map(figure.columns.map((column) => [column.name, sizeOf(figure, column)])), [figure]);
  const rowSize = useMemo(() => rowSizeOf(figure), [figure]);
  const sort = (column: Column) => {
    const down = by?.column === column.name ? !by.down : column.type === 'number' && column.better !== 'less';
    keepOrder(`${down ? '-' : ''}${column.name}`);
  };
  const left = rows.length - shown;
  const hasCautions = names?.some((each) => pick?.cautions.has(String(each)));
  return (
    <div class="table">
      {(ordered.length > kFilter || names || told.length > some.length) && (
        <div class="choices">
          {(ordered.length > kFilter || names) && (
            <label><span>Filter</span><input type="search" value={keptWords ?? ''} placeholder="text in a row" onInput={(event) => keepWords(event.currentTarget.value || undefined)} /></label>
          )}
          {names && pick && (
            <label>
              <span>Compare with</span>
              <select value={pick.baseline} onChange={(event) => pick.setBaseline(event.currentTarget.value)}>
                {names.map((each) => <option key={each} value={String(each)}>{each}</option>)}
              </select>
            </label>
          )}
          {hasCautions && (
            <label class="tick"><input type="checkbox" checked={keptRows === 'choices'} onChange={(event) => keepRows(event.currentTarget.checked ? 'choices' : undefined)} /><span>Deployable policies only</span></label>
          )}
          {told.length > some.length && (
            <label class="tick"><input type="checkbox" checked={keptColumns === 'all'} onChange={(event) => keepColumns(event.currentTarget.checked ? 'all' : undefined)} /><span>All {told.length} columns</span></label>
          )}
          <span class="hint" role="status">{rows.length < ordered.length ? `${plain(rows.length)} of ${plain(ordered.length)} rows` : ''}</span>
        </div>
      )}
      <div class="scroll" role="region" aria-label={`Table: ${figure.title}`} tabIndex={0}>
        <table class={names ? 'compared' : ''}>
          <thead>
            <tr>
              {columns.map((column) => {
                const mine = by?.column === column.name;
                const size = sizes.get(column.name);
                return (
                  <th key={column.name} scope="col" class={column.type === 'text' ? '' : 'number'} aria-sort={mine ? (by.down ? 'descending' : 'ascending') : 'none'}>
                    <button type="button" onClick={() => sort(column)}>
                      {foldable(column.label)}{size?.name && !column.label.includes(size.name) ? ` (${size.name})` : ''}
                      <span class="arrow" aria-hidden="true">{mine ? (by.down ? '▾' : '▴') : ''}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <tr key={row} class={row === pinned ? 'pinned' : ''}>
                {columns.map((column) => (names && pick && column.name === figure.compared
                  ? <Name key={column.name} of={String(names[row])} pick={pick} />
                  : <Cell key={column.name} figure={figure} column={column} row={row} base={row === pinned ? -1 : pinned} size={sizes.get(column.name) ?? kPlain} rowSize={rowSize(row)} />))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="tools">
        {left > 0 && <span class="hint">{plain(shown)} of {plain(rows.length)} rows</span>}
        {left > 0 && <button type="button" onClick={() => setShown(shown + kMore)}>Show {Math.min(kMore, left)} more</button>}
        <button type="button" class="save" onClick={() => void copy(csv(figure, rows)).then((done) => setCopied(done ? 'Copied' : 'Not allowed here'))}>
          {copied || 'Copy CSV'}
        </button>
        <button type="button" class="save" onClick={() => saveText(csv(figure, rows), 'text/csv', `${name}.csv`)}>Save CSV</button>
      </div>
    </div>
  );
}

/** A policy: whether figures draw it, its name and marks, and whether it is the baseline. */
function Name({of, pick}: {of: string; pick: Pick}) {
  const next = new Set(pick.drawn);
  if (!next.delete(of)) next.add(of);
  const pinned = of === pick.baseline;
  return (
    <th scope="row"><div>
      <input type="checkbox" title="Draw in figures" aria-label={`Draw ${of} in figures`} checked={pick.drawn.has(of)} onChange={() => pick.draw(next)} />
      <span class="name">{foldable(of)}</span>
      <Marks of={of} />
      <button type="button" class="pin" aria-pressed={pinned} aria-label={`${pinned ? 'baseline' : 'pin'} ${of}`} title="Use as the baseline" onClick={() => pick.setBaseline(of)}>{pinned ? 'baseline' : 'pin'}</button>
    </div></th>
  );
}

interface CellProps {
  figure: Figure;
  column: Column;
  row: number;
  /** The row that this one is set against; -1 = none. */
  base: number;
  size: Measure;
  /** Of a row that has a unit of its own. */
  rowSize: Measure;
}

/** Numbers and short texts stay on one line; the table scrolls. */
function Cell({figure, column, row, base, size, rowSize}: CellProps) {
  const value = figure.data[column.name]?.[row];
  const unit = column.units ? (String(figure.data[column.units]?.[row] ?? '') as Unit) : undefined;
  const isName = column.name === figure.columns[0]?.name && rowSize.name !== '';
  const text = unit === undefined || typeof value !== 'number' ? `${cell(value, column, size)}${isName ? ` (${rowSize.name})` : ''}`
    : rowSize.name === '' ? bare(value, {...column, unit}) : cell(value, {...column, unit}, rowSize);
  const other = base < 0 || column.type !== 'number' ? undefined : figure.data[column.name]?.[base];
  const by = difference(value, other, unit ?? column.unit);
  const gain = typeof value === 'number' && typeof other === 'number' ? (column.better === 'more' ? value - other : column.better === 'less' ? other - value : 0) : 0;
  return (
    <td class={column.type !== 'text' ? 'number' : text.length <= 20 ? 'short' : ''}>
      {text}{by && <span class={`by${gain > 0 ? ' better' : gain < 0 ? ' worse' : ''}`}>{by}</span>}
    </td>
  );
}

const kPlain: Measure = {divisor: 1, name: ''};

/** The measure of each row whose numbers have a unit of their own: its first cell names it, once. */
function rowSizeOf(figure: Figure): (row: number) => Measure {
  const columns = figure.columns.filter(({units}) => units !== '');
  const names = figure.data[columns[0]?.units ?? ''];
  if (!names) return () => kPlain;
  return (row) => measure(String(names[row] ?? '') as Unit, columns.reduce((high, {name}) => {
    const value = figure.data[name]?.[row];
    return typeof value === 'number' ? Math.max(high, Math.abs(value)) : high;
  }, 0));
}

function sizeOf(figure: Figure, column: Column) {
  const largest = (figure.data[column.name] ?? []).reduce<number>((high, value) => (typeof value === 'number' ? Math.max(high, Math.abs(value)) : high), 0);
  return measure(column.unit, largest);
}
