// SPDX-License-Identifier: Apache-2.0
// The parts of the page that need no browser.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {fragment, joined, parted, parseFragment} from '../../web/src/address';
import {drawBar} from '../../web/src/charts/bar';
import {hasNothing} from '../../web/src/charts/drawing';
import {placeLabels} from '../../web/src/charts/labels';
import {allRows, split} from '../../web/src/charts/rows';
import {csv} from '../../web/src/csv';
import {chartOf, parse, type Chart, type Column, type Figure} from '../../web/src/document';
import {cell, dateTick, difference, duration, measure, percent, plain, prose, quantity, short, shortDuration, time} from '../../web/src/format';
import {matching, order} from '../../web/src/order';
import {kDark, kLight, style} from '../../web/src/theme';
import {dateTicks, ticks} from '../../web/src/ticks';

/** Narrow and other spaces are all one to these tests. */
const said = (text: string) => text.replace(/\s/gu, ' ');

function equal(pairs: [string, string][]): void {
  for (const [found, expected] of pairs) assert.equal(said(found), expected);
}

test('plain numbers keep all digits when whole, three when not', () => {
  equal([
    [plain(103467), '103,467'], [plain(0), '0'], [plain(1.7464), '1.75'], [plain(28329.41), '28,329'],
    [plain(0.01234), '0.0123'], [plain(-3.14159), '−3.14'], [plain(NaN), '–'], [plain(Infinity), '–'],
    [short(1500000), '1.5 M'], [short(20000), '20,000'],
  ]);
});

test('durations take the units that people say', () => {
  equal([
    [duration(0), '0s'], [duration(0.05), '50ms'], [duration(0.25), '0.25s'], [duration(1), '1.0s'], [duration(45), '45s'], [duration(204), '3m 24s'],
    [duration(59.97), '1m 00s'], [duration(3599.7), '1h 00m'], [duration(28329), '7h 52m'], [duration(86399), '23h 59m'],
    [duration(86400 * 2 + 3600 * 4), '2d 04h'], [duration(86400 * 412), '412d 00h'], [duration(-60), '−1m 00s'], [duration(NaN), '–'],
    [shortDuration(90), '1.5m'], [shortDuration(864000), '10d'], [shortDuration(0.001), '1ms'],
  ]);
});

test('shares are percent, and what is not all is never 100 %', () => {
  equal([
    [percent(0), '0 %'], [percent(0.612), '61.2 %'], [percent(0.00042), '0.042 %'], [percent(1), '100 %'],
    [percent(0.99999), '> 99.9 %'], [percent(NaN), '–'], [quantity(42.5, 'percent'), '42.5 %'],
    [percent(0.71), '71 %'], [percent(0.71, true), '71.0 %'], [percent(1, true), '100 %'], [quantity(0.71, 'fraction'), '71.0 %'],
  ]);
});

test('one measure serves a whole column', () => {
  assert.deepEqual(measure('gpu_s', 100), {divisor: 1, name: 'GPU-seconds'});
  assert.deepEqual(measure('gpu_s', 36000), {divisor: 3600, name: 'GPU-hours'});
  assert.deepEqual(measure('gpu_s', 9e8), {divisor: 86400, name: 'GPU-days'});
  assert.deepEqual(measure('W', 5000), {divisor: 1000, name: 'kW'});
  const column: Column = {name: 'g', label: 'GPU time', unit: 'gpu_s', type: 'number'};
  assert.equal(cell(86400 * 3, column, measure('gpu_s', 9e8)), '3');
  assert.equal(cell(null, column, measure('gpu_s', 9e8)), '–');
});

test('quantities name their unit, one of them too', () => {
  equal([
    [quantity(1, 'jobs'), '1 job'], [quantity(2000, 'gpus'), '2,000 GPUs'], [quantity(5.34, 'x'), '5.34×'],
    [quantity(7200 * 3, 'gpu_s'), '6 GPU-hours'], [quantity(null, 's'), '–'], [quantity('NA', ''), 'NA'],
  ]);
});

test('times are dates in UTC, or days of a trace that counts from its start', () => {
  equal([[time(1585699200), '2020-04-01'], [time(1585699500), '2020-04-01 00:05'], [time(3 * 86400 + 7800), 'day 3, 02:10'], [time(3 * 86400), 'day 3'], [time(1e300), '–']]);
});

test('ticks stand where people count', () => {
  assert.deepEqual(ticks(0, 1, 5, 'fraction', 'linear'), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0, 7200, 4, 's', 'linear'), [0, 1800, 3600, 5400, 7200]);
  assert.deepEqual(ticks(0, 3, 10, 'jobs', 'linear'), [0, 1, 2, 3]);
  assert.deepEqual(ticks(1, 64, 8, 'gpus', 'log'), [1, 2, 4, 8, 16, 32, 64]);
  assert.deepEqual(ticks(1, 1e6, 8, 's', 'log'), [1, 10, 60, 600, 3600, 36000, 86400, 864000]);
  assert.deepEqual(ticks(1, 1e6, 3, 's', 'log'), [1, 60, 3600, 86400]);
  assert.deepEqual(ticks(5, 5, 3, '', 'linear'), [5]);
});

const days = (...at: string[]) => at.map((day) => Date.parse(`${day}Z`) / 1000);
const asDates = (from: string, to: string, count: number) => {
  const [low, high] = days(from, to) as [number, number];
  return dateTicks(low, high, count).map((at) => new Date(at * 1000).toISOString().slice(0, 16));
};

test('dates on an axis are hours, midnights, Mondays and first days of months', () => {
  assert.deepEqual(asDates('2020-09-15T05:19', '2020-09-16T05:19', 6),
    ['2020-09-15T06:00', '2020-09-15T12:00', '2020-09-15T18:00', '2020-09-16T00:00']);
  assert.deepEqual(asDates('2020-09-01T00:00', '2020-10-06T00:00', 6).map((at) => at.slice(5, 10)), ['09-07', '09-14', '09-21', '09-28', '10-05']);
  assert.deepEqual(asDates('2022-10-11T00:00', '2023-02-07T00:00', 5).map((at) => at.slice(0, 10)), ['2022-11-01', '2022-12-01', '2023-01-01', '2023-02-01']);
  assert.deepEqual(asDates('2007-05-01T00:00', '2023-02-07T00:00', 4).map((at) => at.slice(0, 10)), ['2010-01-01', '2015-01-01', '2020-01-01']);
  const [first, fifth, hour] = days('2020-09-01T00:00', '2020-09-05T00:00', '2020-09-05T14:30') as [number, number, number];
  equal([[dateTick(first, false), '1 Sep'], [dateTick(first, true), 'Sep 2020'], [dateTick(fifth, true), '5 Sep'], [dateTick(hour, false), '14:30'], [dateTick(hour + 5, false), '14:30:05']]);
});

test('sentences keep numbers and units together', () => {
  assert.equal(prose('61 % wait 6m 45s at 0.8x'), '61\u202f% wait 6m\u00a045s at 0.8×');
  assert.equal(prose('TTFT <= 500 ms'), 'TTFT ≤\u00a0500\u00a0ms');
  assert.equal(prose('-48.1 points (-5 to 3), 2-4 GPUs, --restart, 4x8'), '−48.1 points (−5 to 3), 2-4 GPUs, --restart, 4x8');
});

test('what is chosen changes no series', () => {
  const of: Figure = {
    id: 'f', title: '', caption: '', source: '', n: null, charts: [],
    columns: [{name: 'vc', label: 'vc', unit: '', type: 'text'}, {name: 'size', label: 'size', unit: '', type: 'text'}, {name: 'y', label: 'y', unit: '', type: 'number'}],
    data: {vc: ['a', 'a', 'b'], size: ['small', 'large', 'large'], y: [1, 2, 3]},
  };
  const chart = parse('{"schema":1,"sections":[{"figures":[{"charts":[{"kind":"bar","x":"vc","y":["y"],"by":"size"}]}]}]}').sections[0]?.figures[0]?.charts[0];
  assert.ok(chart);
  const series = split(chart, allRows(of).where('vc', 'b'));
  assert.deepEqual(series.map(({name, rows}) => [name, rows.at.length]), [['small', 0], ['large', 1]]);
});

/** The bars of so many names: the first is a million, the others 1, 0, 1, 0. */
function bars(names: number, width: number) {
  const document = parse(JSON.stringify({schema: 1, sections: [{figures: [{
    columns: [{name: 'vc', type: 'text'}, {name: 'y', type: 'number'}, {name: 'z', type: 'number'}],
    data: Object.fromEntries(['vc', 'y', 'z'].map((name) => [name, Array.from({length: names}, (_, n) => name === 'vc' ? `vc${n}abc` : n === 0 ? 1e6 : n % 2)])),
    charts: [{kind: 'bar', x: 'vc', y: ['y', 'z']}],
  }]}]}));
  const of = document.sections[0]?.figures[0] as Figure;
  const drawn = drawBar({chart: of.charts[0] as Chart, rows: allRows(of), width, theme: kLight, hidden: new Set()});
  assert.ok(!hasNothing(drawn));
  return drawn.option as {xAxis: {axisLabel: {interval?: number; rotate: number}}; yAxis: {max: number}[]; series: {data: {value: number}[]}[]};
}

test('up to 15 names are all shown, turned where they must be; of many some are', () => {
  assert.deepEqual([bars(5, 600), bars(15, 368), bars(15, 260)].map(({xAxis}) => [xAxis.axisLabel.interval, xAxis.axisLabel.rotate]), [[0, 0], [0, 45], [0, 90]]);
  assert.equal(bars(80, 368).xAxis.axisLabel.interval, undefined);
});

test('a bar that is not 0 is seen beside a large one', () => {
  const {series, yAxis} = bars(5, 600);
  const values = series[0]?.data.map(({value}) => value) ?? [];
  assert.equal(values[0], 1e6);
  assert.equal(values[2], 0);
  assert.ok((values[1] ?? 0) / (yAxis[0]?.max ?? 0) > 1 / 330, `${values[1]}`);
});

test('ticks rise and stay within, whatever the ends', () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let n = 0; n < 2000; ++n) {
    const low = 10 ** (random() * 8 - 3);
    const high = low * (1 + 10 ** (random() * 8 - 4));
    for (const unit of ['', 's', 'gpu_s', 'fraction', 'gpus'] as const) {
      for (const scale of ['linear', 'log'] as const) {
        const found = ticks(low, high, 6, unit, scale);
        assert.ok(found.length <= 30, `${low} ${high} ${unit} ${scale}: ${found.length} ticks`);
        found.forEach((tick, at) => {
          assert.ok(tick >= low * 0.999 && tick <= high * 1.001, `${tick} outside ${low} to ${high}`);
          if (at > 0) assert.ok(tick > (found[at - 1] as number));
        });
      }
    }
  }
});

function figure(data: Figure['data']): Figure {
  const column = (name: string, type: Column['type']): Column => ({name, label: name, unit: '', type});
  return {
    id: 'f', title: '', caption: '', source: '', n: null, charts: [], data,
    columns: [column('name', 'text'), column('size', 'number')],
  };
}

test('rows sort by numbers or by names, missing ones last either way', () => {
  const rows = figure({name: ['vc10', 'vc9', '', 'vc1'], size: [3, null, 1, 3]});
  assert.deepEqual(order(rows, {column: 'size', down: false}), [2, 0, 3, 1]);
  assert.deepEqual(order(rows, {column: 'size', down: true}), [0, 3, 2, 1]);
  assert.deepEqual(order(rows, {column: 'name', down: false}), [3, 1, 0, 2]);
  assert.deepEqual(order(rows, undefined), [0, 1, 2, 3]);
});

test('a filter finds rows by the words of their texts', () => {
  const rows = figure({name: ['Fair share', 'FIFO', 'share'], size: [1, 2, 3]});
  assert.deepEqual(['share', 'SHARE fair', 'nothing', '', '2'].map((text) => matching(rows, [2, 1, 0], text)), [[2, 0], [0], [], [2, 1, 0], []]);
});

test('a difference is said in percent, of shares in points, and not where there is no base', () => {
  const plain = (text: string) => text.replace(/\s/gu, ' ');
  const said = [difference(50, 100, 's'), difference(103.1, 100, 's'), difference(2000, 100, 's'), difference(0.75, 0.5, 'fraction'), difference(40, 45.5, 'percent'),
    difference(3, 0, ''), difference(null, 3, 's'), difference(3, undefined, 's'), difference(7, 7, 's')];
  assert.deepEqual(said.map(plain), ['−50 %', '+3.1 %', '20×', '+25 points', '−5.5 points', '', '', '', '']);
  assert.deepEqual([quantity(0.01, 'points'), quantity(-0.0004, 'points')], ['+1 point', '0 points']);
});

test('no two of 32 series look alike, as lines or as bars', () => {
  for (const theme of [kLight, kDark]) {
    const all = Array.from({length: 32}, (_, n) => style(theme, n));
    assert.equal(new Set(all.map(({colour, dash}) => `${colour} ${String(dash)}`)).size, 32);
    assert.equal(new Set(all.map(({colour, symbol}) => `${colour} ${symbol}`)).size, 32);
    assert.equal(new Set(all.map(({colour, hatch}) => `${colour} ${hatch}`)).size, 32);
  }
});

test('an address keeps names of any letters', () => {
  const names = ['easy:4', 'a,b', '100%', 'out/run:las+best_fit', '%2C'];
  const choices = new URLSearchParams({policies: joined(names), baseline: 'a&b=c?d#e'});
  const {anchor, choices: read} = parseFragment(fragment({anchor: 'figure-run_users', choices}));
  assert.equal(anchor, 'figure-run_users');
  assert.deepEqual(parted(read.get('policies') ?? ''), names);
  assert.equal(read.get('baseline'), 'a&b=c?d#e');
  assert.equal(fragment(parseFragment('#section-who')), '#section-who');
});

test('CSV quotes what must be quoted and rounds nothing', () => {
  const rows = figure({name: ['a,b', 'say "x"', null], size: [0.1234567890123, 2, null]});
  assert.equal(csv(rows, [1, 0, 2]), 'name,size\r\n"say ""x""",2\r\n"a,b",0.1234567890123\r\n,\r\n');
});

test('a document of another schema, or none, is refused in words', () => {
  assert.throws(() => parse('{"schema":2}'), /schema 2/);
  assert.throws(() => parse('{}'), /schema \(none\)/);
  assert.throws(() => parse('nonsense'), /no valid report document/);
  const least = parse('{"schema":1}');
  assert.deepEqual([least.title, least.sections, least.provenance.jobs], ['Report', [], null]);
});

test('names next to points overlap neither marks nor each other', () => {
  const area = {left: 0, right: 300, top: 0, bottom: 100};
  const at = (x: number, y: number, name: string, must = false) => ({x, y, name, radius: 4, must});
  assert.deepEqual(placeLabels([at(100, 50, 'fifo'), at(109, 50, 'easy')], area), ['left', 'right'], 'each on its free side');
  assert.deepEqual(placeLabels([at(290, 50, 'conservative')], area), ['left'], 'inside the chart');
  const crowd = [80, 100, 120].flatMap((x) => [35, 50, 65].map((y) => at(x, y, '')));
  assert.deepEqual(placeLabels([at(100, 50, 'gittins'), ...crowd], area)[0], null, 'no room, no name');
  assert.equal(placeLabels([at(100, 50, 'gittins', true), ...crowd], area)[0], 'right', 'the best keeps its name');
});

test('numbers stand at bars only where bars are far enough apart for them', () => {
  const users = Array.from({length: 50}, (_, n) => `a user with a long name ${n}`);
  const column = (name: string): Column => ({name, label: name, unit: 'fraction', type: 'number'});
  const shares = (policies: string[]): Figure => ({
    id: 'f', title: '', caption: '', source: '', n: null, columns: [{name: 'user', label: 'User', unit: '', type: 'text'}, ...policies.map(column)],
    data: {user: users, ...Object.fromEntries(policies.map((name) => [name, users.map((_, n) => n / 50)]))}, charts: [],
  });
  const labelled = (policies: string[]) => {
    const drawn = drawBar({chart: chartOf({kind: 'bar', x: 'user', y: policies}), rows: allRows(shares(policies)), width: 700, theme: kLight, hidden: new Set()});
    assert.ok(!hasNothing(drawn));
    return (drawn.option['series'] as {label: {show: boolean}}[]).map(({label}) => label.show);
  };
  assert.deepEqual(labelled(['fifo']), [true]);
  assert.deepEqual(labelled(['fifo', 'gittins', 'srtf']), [false, false, false], 'three bars of 50 users leave no room for numbers');
});
