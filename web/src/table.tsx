// SPDX-License-Identifier: Apache-2.0
// The table of a figure: sorted by any column, the first rows at first, the whole of it as CSV. That of policies can be
// filtered, and one of them pinned on top.
import {useMemo, useState} from 'preact/hooks';
import {csv} from './csv';
import type {Column, Figure} from './document';
import {cell, measure} from './format';
import {kCompared} from './highlights';
import {arranged, order, type Order} from './order';
import {copy, saveText} from './save';

const kFirst = 50;
const kMore = 500;

export function TableView({figure, name}: {figure: Figure; name: string}) {
  const [by, setBy] = useState<Order>();
  const [shown, setShown] = useState(kFirst);
  const [copied, setCopied] = useState('');
  const [find, setFind] = useState('');
  const [pinned, setPinned] = useState<number>();
  const isCompared = figure.id === kCompared;
  const named = figure.columns.find((column) => column.type === 'text')?.name ?? '';
  const rows = useMemo(() => arranged(figure, order(figure, by), find, pinned), [figure, by, find, pinned]);
  const sizes = useMemo(() => new Map(figure.columns.map((column) => [column.name, sizeOf(figure, column)])), [figure]);
  const sort = (column: Column) =>
    setBy(by?.column === column.name ? {...by, down: !by.down} : {column: column.name, down: column.type === 'number'});
  const left = rows.length - shown;
  return (
    <div class="table">
      {isCompared && rows.length + find.length > 1 && (
        <label class="find">Find <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} /></label>
      )}
      <div class="scroll" role="region" aria-label={`Table: ${figure.title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {figure.columns.map((column) => {
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
                {figure.columns.map((column) => (
                  <Cell
                    key={column.name} column={column} text={cell(figure.data[column.name]?.[row], column, sizes.get(column.name) ?? {divisor: 1, name: ''})}
                    pin={isCompared && column.name === named ? {on: row === pinned, turn: () => setPinned(row === pinned ? undefined : row)} : undefined}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="tools">
        {left > 0 && <span class="hint">{shown.toLocaleString('en-US')} of {rows.length.toLocaleString('en-US')} rows</span>}
        {left > 0 && <button type="button" onClick={() => setShown(shown + kMore)}>Show {Math.min(kMore, left)} more</button>}
        <button type="button" class="save" onClick={() => void copy(csv(figure, rows)).then((done) => setCopied(done ? 'Copied' : 'Not allowed here'))}>
          {copied || 'Copy CSV'}
        </button>
        <button type="button" class="save" onClick={() => saveText(csv(figure, rows), 'text/csv', `${name}.csv`)}>Save CSV</button>
      </div>
    </div>
  );
}

/** Names of files and columns may be broken where they have a joint. */
function foldable(text: string) {
  return text.split(/(?<=_)/).map((part, n) => (n === 0 ? part : <><wbr />{part}</>));
}

/** Numbers and short texts stay on one line; the table scrolls. */
function Cell({column, text, pin}: {column: Column; text: string; pin: {on: boolean; turn: () => void} | undefined}) {
  return (
    <td class={column.type !== 'text' ? 'number' : text.length <= 28 ? 'short' : ''}>
      {text}
      {pin && <button type="button" class="pin" aria-pressed={pin.on} aria-label={`Keep ${text} on top`} onClick={pin.turn}>{pin.on ? '●' : '○'}</button>}
    </td>
  );
}

function sizeOf(figure: Figure, column: Column) {
  const largest = (figure.data[column.name] ?? []).reduce<number>((high, value) => (typeof value === 'number' ? Math.max(high, Math.abs(value)) : high), 0);
  return measure(column.unit, largest);
}
