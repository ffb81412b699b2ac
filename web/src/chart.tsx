// SPDX-License-Identifier: Apache-2.0
// A chart on the page: choices and legend above, the picture, buttons that save it.
import {options} from 'preact';
import {useContext, useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {joined, parted, parseChosen, parseWindows, writeChosen, writeWindows} from './address';
import {Canvas, picture, type Words} from './canvas';
import {draw} from './charts/draw';
import {hasNothing} from './charts/drawing';
import {allRows, split} from './charts/rows';
import {Marks, PickedPolicies, PolicyPicker, type Pick} from './compared';
import type {Chart, Figure} from './document';
import {plain, prose} from './format';
import {useKept} from './kept';
import {saveText, savePng} from './save';
import {Swatch} from './swatch';
import {kLight, type Theme} from './theme';

interface Props {
  figure: Figure;
  chart: Chart;
  theme: Theme;
  name: string;  // of files
  words: Words;
  /** Whether the page allows no style attributes. */
  strict?: boolean;
}

const kPaperWidth = 672;  // A4 between its margins
const kPictureWidth = 960;
/** Of other series than policies so many are drawn at first; the legend switches on the rest. */
const kSeries = 12;

export function ChartView({figure, chart, theme, name, words, strict = false}: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | undefined>(undefined);
  const at = useRef(-1);
  const settled = useRef(0);
  const width = useWidth(frame);
  const near = useNear(frame);
  const [zoomed, setZoomed] = useState(false);
  const all = useMemo(() => allRows(figure), [figure]);
  const choices = useMemo(
    () => chart.choose.filter((column) => all.column(column)).map((column) => ({column, values: all.distinct(column)})), [all, chart]);
  const pick = useContext(PickedPolicies);
  const [keptChoice, keepChoice] = useKept(`show.${name}`);
  const chosen = useMemo(() => parseChosen(keptChoice), [keptChoice]);
  const picked = (column: string, values: string[]) => {
    const wanted = chosen[column];
    return wanted !== undefined && values.includes(wanted) ? wanted : telling(values, pick);
  };
  const rows = useMemo(
    () => choices.reduce((left, {column, values}) => left.where(column, picked(column, values)), all), [all, choices, chosen]);
  const [keptOff, keepOff] = useKept(`off.${name}`);
  /** Series by what they compare, where that is policies: the page says which of them are drawn. */
  const policies = useMemo(() => {
    const series = split(chart, all).filter(({of}) => pick?.places.has(of));
    return series.length > 1 ? new Map(series.map((each) => [each.name, each.of])) : undefined;
  }, [chart, all, pick]);
  const [keptWindows, keepWindows] = useKept(`zoom.${name}`);

  const drawnAt = (across: number, inColours: Theme) => {
    const input = {
      chart, rows, width: across, theme: inColours,
      ...(pick ? {places: pick.places, cautions: pick.cautions} : {}),
    };
    const unpicked = [...policies ?? []].filter(([, policy]) => !pick?.drawn.has(policy)).map(([series]) => series);
    const first = draw({...input, hidden: new Set([...unpicked, ...parted(keptOff ?? '')])});
    const off = new Set(parted(keptOff ?? ''));
    if (hasNothing(first)) return {drawn: first, off};
    if (!policies && keptOff === undefined && first.keys.length > kSeries) for (const key of first.keys.slice(kSeries)) off.add(key.name);
    const drawn = draw({...input, hidden: new Set([...unpicked, ...off])});
    return {drawn: hasNothing(drawn) ? drawn : {...drawn, keys: drawn.keys.filter((key) => !unpicked.includes(key.name))}, off};
  };
  const paper = usePaper();
  const pixels = paper ? kPaperWidth : width;
  const colours = paper ? kLight : theme;
  const {drawn, off} = useMemo(() => drawnAt(Math.max(pixels, 200), colours), [chart, rows, pixels, colours, keptOff, pick]);

  useLayoutEffect(() => {
    if (!host.current || hasNothing(drawn)) {
      canvas.current?.dispose();
      canvas.current = undefined;
      return;
    }
    if (!(near || paper) || pixels === 0) return;
    canvas.current ??= new Canvas(host.current, onZoom, strict);
    canvas.current.paint(drawn, pixels, parseWindows(keptWindows));
    at.current = -1;
  }, [drawn, near, paper, pixels]);
  useEffect(() => () => canvas.current?.dispose(), []);

  const onZoom = (is: boolean) => {
    setZoomed(is);
    clearTimeout(settled.current);
    settled.current = window.setTimeout(() => keepWindows(is ? writeWindows(canvas.current?.windows() ?? []) : undefined), 300);
  };
  const asSvg = () => {
    const {drawn: wide} = drawnAt(kPictureWidth, kLight);
    return hasNothing(wide) ? '' : picture(wide, canvas.current?.windows() ?? [], words, kPictureWidth, kLight);
  };
  const toggle = (key: string) => {
    const next = new Set(off);
    if (!next.delete(key)) next.add(key);
    keepOff(joined([...next]));
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
      {chart.title && <h4>{prose(chart.title)}</h4>}
      {pickers.length > 0 && (
        <div class="choices">
          {pickers.map(({column, values}) => (
            <label key={column}>
              <span>{all.column(column)?.label}</span>
              <select value={picked(column, values)} onChange={(event) => keepChoice(writeChosen({...chosen, [column]: event.currentTarget.value}))}>
                {values.map((value) => <option key={value} value={value}>{value || '(none)'}{[pick?.roles.get(value), pick?.cautions.get(value)].filter(Boolean).map((word) => ` · ${word}`).join('')}</option>)}
              </select>
            </label>
          ))}
        </div>
      )}
      {policies && <PolicyPicker of={chart.title || figure.title} />}
      {hasNothing(drawn) ? <p class="nothing">{drawn.nothing}</p> : (
        <>
          {drawn.keys.length > 0 && (
            <div class="legend" role="group" aria-label="Series">
              {drawn.keys.map((key) => (
                <button key={key.name} type="button" aria-pressed={!off.has(key.name)} title={key.name} onClick={() => toggle(key.name)}>
                  <Swatch of={key} /><span>{key.name}</span>{policies && <Marks of={policies.get(key.name) ?? ''} />}
                </button>
              ))}
            </div>
          )}
          {!policies && drawn.keys.some((key) => off.has(key.name)) && (
            <p class="hint">{plain(drawn.keys.filter((key) => !off.has(key.name)).length)} of {plain(drawn.keys.length)} drawn. Select a name to switch it on or off.</p>
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

/** What is shown at first of the values to choose from: the best deployable policy, where they are policies. */
export function telling(values: string[], pick: Pick | undefined): string {
  return values.find((value) => pick?.roles.get(value)?.startsWith('best') && !pick.cautions.has(value)) ?? values[0] ?? '';
}

type Place = {current: HTMLElement | null};

export function useWidth(place: Place): number {
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
export function useNear(place: Place): boolean {
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
