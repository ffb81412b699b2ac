// SPDX-License-Identifier: Apache-2.0
// A chart on the page: choices and legend above, the picture, buttons that save it.
import {options} from 'preact';
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {Canvas, picture, type Words} from './canvas';
import {draw} from './charts/draw';
import {hasNothing, type Key} from './charts/drawing';
import {allRows} from './charts/rows';
import type {Chart, Figure} from './document';
import {saveText, savePng} from './save';
import {kLight, type Theme} from './theme';

interface Props {
  figure: Figure;
  chart: Chart;
  theme: Theme;
  name: string;  // of files
  words: Words;
  /** Whether the page allows no style attributes. */
  strict?: boolean;
  /** Names of series that are drawn first where there are too many. */
  first?: string[];
}

const kNone: string[] = [];
const kPaperWidth = 672;  // A4 between its margins
const kPictureWidth = 960;
/** So many series are drawn at first, for more would share colours; the legend switches on the rest. */
const kSeries = 8;

export function ChartView({figure, chart, theme, name, words, strict = false, first: wanted = kNone}: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | undefined>(undefined);
  const at = useRef(-1);
  const width = useWidth(frame);
  const near = useNear(frame);
  const [zoomed, setZoomed] = useState(false);
  const all = useMemo(() => allRows(figure), [figure]);
  const choices = useMemo(
    () => chart.choose.filter((column) => all.column(column)).map((column) => ({column, values: all.distinct(column)})), [all, chart]);
  const [chosen, setChosen] = useState<Record<string, string>>({});
  const picked = (column: string, values: string[]) => chosen[column] ?? values[0] ?? '';
  const rows = useMemo(
    () => choices.reduce((left, {column, values}) => left.where(column, picked(column, values)), all), [all, choices, chosen]);
  const [hidden, setHidden] = useState<ReadonlySet<string>>();

  const drawnAt = (across: number, inColours: Theme) => {
    const first = draw({chart, rows, width: across, theme: inColours, hidden: hidden ?? new Set()});
    if (hidden || hasNothing(first) || first.keys.length <= kSeries) return {drawn: first, off: hidden ?? new Set<string>()};
    const names = first.keys.map((key) => key.name);
    const on = new Set(names.filter((name) => wanted.includes(name)));
    for (const name of names) if (on.size < kSeries) on.add(name);
    const off = new Set(names.filter((name) => !on.has(name)));
    return {drawn: draw({chart, rows, width: across, theme: inColours, hidden: off}), off};
  };
  const paper = usePaper();
  const pixels = paper ? kPaperWidth : width;
  const colours = paper ? kLight : theme;
  const {drawn, off} = useMemo(() => drawnAt(Math.max(pixels, 200), colours), [chart, rows, pixels, colours, hidden, wanted]);

  useLayoutEffect(() => {
    if (!host.current || hasNothing(drawn)) {
      canvas.current?.dispose();
      canvas.current = undefined;
      return;
    }
    if (!(near || paper) || pixels === 0) return;
    canvas.current ??= new Canvas(host.current, setZoomed, strict);
    canvas.current.paint(drawn, pixels);
    at.current = -1;
  }, [drawn, near, paper, pixels]);
  useEffect(() => () => canvas.current?.dispose(), []);

  const asSvg = () => {
    const {drawn: wide} = drawnAt(kPictureWidth, kLight);
    return hasNothing(wide) ? '' : picture(wide, canvas.current?.windows() ?? [], words, kPictureWidth, kLight);
  };
  const toggle = (key: string) => {
    const next = new Set(off);
    if (!next.delete(key)) next.add(key);
    setHidden(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, () => void> = {
      '+': () => canvas.current?.zoom(0.6, 0),
      '=': () => canvas.current?.zoom(0.6, 0),
      '-': () => canvas.current?.zoom(1 / 0.6, 0),
      '0': () => canvas.current?.reset(),
      ',': () => canvas.current?.zoom(1, -0.25),
      '.': () => canvas.current?.zoom(1, 0.25),
      ArrowRight: () => { at.current = canvas.current?.point(at.current + 1) ?? -1; },
      ArrowLeft: () => { at.current = canvas.current?.point(at.current - 1) ?? -1; },
      Escape: () => { at.current = -1; canvas.current?.unpoint(); canvas.current?.reset(); },
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  };

  const pickers = choices.filter(({values}) => values.length > 1);
  const label = `${chart.title || figure.title}. ${figure.caption}`;
  return (
    <div class="chart" ref={frame}>
      {chart.title && <h4>{chart.title}</h4>}
      {pickers.length > 0 && (
        <div class="choices">
          {pickers.map(({column, values}) => (
            <label key={column}>
              <span>{all.column(column)?.label}</span>
              <select value={picked(column, values)} onChange={(event) => setChosen({...chosen, [column]: event.currentTarget.value})}>
                {values.map((value) => <option key={value} value={value}>{value || '(none)'}</option>)}
              </select>
            </label>
          ))}
        </div>
      )}
      {hasNothing(drawn) ? <p class="nothing">{drawn.nothing}</p> : (
        <>
          {drawn.keys.length > 0 && (
            <div class="legend" role="group" aria-label="Series">
              {drawn.keys.map((key) => (
                <button key={key.name} type="button" aria-pressed={!off.has(key.name)} title={key.name} onClick={() => toggle(key.name)}>
                  <Swatch of={key} /><span>{key.name}</span>
                </button>
              ))}
            </div>
          )}
          <div
            class="picture" ref={host} role="img" tabIndex={0} aria-label={`${label} The numbers are in the table below.`}
            aria-keyshortcuts="ArrowLeft ArrowRight + - 0" style={{height: `${drawn.height}px`}} onKeyDown={onKeyDown}
            onBlur={() => canvas.current?.unpoint()}
          />
          {drawn.left_out && <p class="left-out">{drawn.left_out}</p>}
          <div class="tools">
            {drawn.zoom.length > 0 && (zoomed
              ? <button type="button" onClick={() => canvas.current?.reset()}>Show all</button>
              : <span class="hint mouse">Drag to zoom</span>)}
            <button type="button" class="save" onClick={() => saveText(asSvg(), 'image/svg+xml', `${name}.svg`)} aria-label={`Save ${name} as SVG`}>SVG</button>
            <button type="button" class="save" onClick={() => void savePng(asSvg(), `${name}.png`)} aria-label={`Save ${name} as PNG`}>PNG</button>
          </div>
        </>
      )}
    </div>
  );
}

function Swatch({of}: {of: Key}) {
  if (of.mark === 'area') return <svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" fill={of.colour} /></svg>;
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

type Place = {current: HTMLElement | null};

function useWidth(place: Place): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!place.current) return;
    setWidth(Math.floor(place.current.clientWidth));
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** Whether the reader is or has been close: a long report is drawn as it is read. */
function useNear(place: Place): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (!place.current || near) return;
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setNear(true), {rootMargin: '1200px'});
    watch.observe(place.current);
    return () => watch.disconnect();
  }, [near]);
  return near;
}

/** Whether the page is being printed: then every chart is drawn for paper, at once, for there is no later. */
function usePaper(): boolean {
  const [paper, setPaper] = useState(false);
  useEffect(() => {
    const turn = (is: boolean) => () => {
      const later = options.debounceRendering;
      options.debounceRendering = (render) => render();
      setPaper(is);
      if (later) options.debounceRendering = later; else delete options.debounceRendering;
    };
    const [before, after] = [turn(true), turn(false)];
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
  return paper;
}
