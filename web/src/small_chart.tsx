// SPDX-License-Identifier: Apache-2.0
// The picture of a finding: the first chart of its figure that says something at this size.
import {useContext, useEffect, useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import {Canvas} from './canvas';
import {useNear, useWidth, telling} from './chart';
import {kMany} from './charts/bar';
import {draw} from './charts/draw';
import {hasNothing, type Drawing} from './charts/drawing';
import {allRows, split} from './charts/rows';
import {PickedPolicies} from './compared';
import type {Chart, Figure, Kind} from './document';
import {Swatch} from './swatch';
import type {Theme} from './theme';
import {foldable} from './words';

const kKinds: Kind[] = ['line', 'step', 'bar', 'points', 'box'];
const kHeight = 190;
/** Bars on their side need their own height; so many fit. */
const kTallest = 230;
const kSeries = 5;

/** Upright bars of more names are too thin to read. */
const kNames = 12;

const isReadable = (chart: Chart, names: number) => chart.kind !== 'bar' || chart.sorted || names <= kNames || names > kMany;

export function smallChartOf(figure: Figure | undefined): Chart | undefined {
  return figure?.charts.find((chart) => kKinds.includes(chart.kind) && isReadable(chart, allRows(figure).distinct(chart.x).length));
}

export function SmallChart({figure, chart, theme, strict}: {figure: Figure; chart: Chart; theme: Theme; strict: boolean}) {
  const frame = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | undefined>(undefined);
  const width = useWidth(frame);
  const near = useNear(frame);
  const pick = useContext(PickedPolicies);
  const drawn = useMemo(() => {
    const all = allRows(figure);
    const rows = chart.choose.filter((column) => all.column(column))
      .reduce((left, column) => left.where(column, telling(all.distinct(column), pick)), all);
    const series = split(chart, all);
    const policies = series.length > 1 && series.some(({of}) => pick?.places.has(of));
    const hidden = new Set(policies
      ? series.filter(({of}) => pick?.places.has(of) && !pick.drawn.has(of)).map(({name}) => name)
      : series.slice(kSeries).map(({name}) => name));
    const made = draw({
      chart: {...chart, reference: []}, rows, width: Math.max(width, 200), theme, hidden, small: true,
      ...(pick ? {places: pick.places, cautions: pick.cautions} : {}),
    });
    return hasNothing(made) ? undefined : {...made, height: Math.min(made.height, made.tall ? kTallest : kHeight), zoom: []} satisfies Drawing;
  }, [figure, chart, theme, width, pick]);
  const hidden = !drawn;
  useLayoutEffect(() => {
    if (!host.current || !drawn || !near || width === 0) return;
    canvas.current ??= new Canvas(host.current, () => {}, strict);
    canvas.current.paint(drawn, width);
  }, [drawn, near, width]);
  useEffect(() => () => canvas.current?.dispose(), []);
  const keys = drawn?.keys.filter((key) => !(pick?.places.has(key.name) && !pick.drawn.has(key.name))).slice(0, kSeries) ?? [];
  return (
    <div class="small-chart" ref={frame} hidden={hidden} aria-hidden="true">
      {chart.title && chart.title !== figure.columns.find(({name}) => name === chart.y[0])?.label && <p>{chart.title}</p>}
      {keys.length > 1 && <p class="small-keys">{keys.map((key) => <span key={key.name}><Swatch of={key} /> {foldable(key.name)}</span>)}</p>}
      <div ref={host} style={{height: `${drawn?.height ?? kHeight}px`}} />
    </div>
  );
}
