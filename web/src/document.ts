// SPDX-License-Identifier: Apache-2.0
// The report document: what a C++ command hands to the page. docs/guide/report.md describes it in words.

export type Unit =
  | '' | 's' | 'fraction' | 'percent' | 'jobs' | 'gpus' | 'gpu_s' | 'cpu_s' | 'users' | 'nodes' | 'W' | 'x' | 'points';

export type Value = number | string | null;

export interface Column {
  name: string;
  label: string;
  unit: Unit;
  /** time: seconds since the epoch, or since the trace began. */
  type: 'number' | 'text' | 'time';
  /** A text column that says the unit of each row instead; "" = none. */
  units?: string;
  /** What of it is better, if anything is. */
  better?: '' | 'less' | 'more';
  /** Shown when the reader asks for all columns. */
  detail?: boolean;
  /** The clock that times were moved to before they came here; absent: UTC. */
  zone?: string;
}

export type Kind = 'line' | 'step' | 'bar' | 'points' | 'interval' | 'box' | 'heatmap' | 'gantt';
export type Scale = 'linear' | 'log';

/** A published or expected curve, drawn behind ours. */
export interface Reference {
  name: string;
  x: Value[];
  y: (number | null)[];
}

export interface Box {
  low: string;
  q1: string;
  median: string;
  q3: string;
  high: string;
  mean: string;
}

/** Columns between which an interval of `y` lies. */
export interface Band {
  low: string;
  high: string;
}

/** How columns become a picture; texts are column names. */
export interface Chart {
  kind: Kind;
  title: string;
  x: string;
  y: string[];
  by: string;
  choose: string[];
  stacked: boolean;
  /** Bars rise with the first of `y`. */
  sorted: boolean;
  x_scale: Scale;
  y_scale: Scale;
  right: string[];
  labels: string;
  /** Of points: a text column; rows that have a text are hollow. */
  hollow: string;
  /** What is 0 along a logarithmic axis: "Jobs that did not wait". */
  zeros: string;
  box: Box;
  band: Band;
  value: string;
  end: string;
  reference: Reference[];
}

export interface Figure {
  id: string;
  title: string;
  caption: string;
  source: string;
  n: number | null;
  /** The text column of what is compared row by row; "" = none. */
  compared?: string;
  columns: Column[];
  /** Column name to values, all of one length. */
  data: Record<string, Value[]>;
  charts: Chart[];
}

export interface Section {
  id: string;
  title: string;
  text: string;
  /** Stands before the findings. */
  leads: boolean;
  figures: Figure[];
}

/** A number that a report leads with. */
export interface Tile {
  label: string;
  value: string;
  detail: string;
}

export interface Finding {
  headline: string;
  detail: string;
  /** A figure's id, or "". */
  figure: string;
  advice: string;
}

export interface Provenance {
  trace: string;
  sha256: string;
  filter: string;
  jobs: number | null;
  hash: string;
  version: string;
  command: string;
}

/** Policies that figures show beside each other. */
export interface Compared {
  policies: {name: string; caution: string}[];
  baseline: string;
  best: string;
  /** The best without a caution. */
  best_choice: string;
}

export interface Document {
  schema: number;
  kind: 'study' | 'run' | 'sweep' | 'runs' | 'traces' | 'prediction' | 'energy' | 'fill' | 'service' | 'trials' | 'capacity' | 'advice';
  title: string;
  subtitle: string;
  facts: {label: string; value: string}[];
  compared: Compared;
  tiles: Tile[];
  findings: Finding[];
  sections: Section[];
  absent: {id: string; title: string; needs: string}[];
  notes: string[];
  provenance: Provenance;
}

/** A part as it is written: absent keys mean "", [], false, "linear". */
type Written<T> = {[K in keyof T]?: T[K] | undefined};

const kSchema = 1;

/**
 * The document of a JSON text, every key there.
 * Throws an Error with a sentence for people when the text is no document of this schema.
 */
export function parse(text: string): Document {
  let json: Written<Document>;
  try {
    json = JSON.parse(text) as Written<Document>;
  } catch {
    throw new Error('This page has no valid report document: its JSON cannot be parsed.');
  }
  if (json.schema !== kSchema) {
    throw new Error(`This page reads documents of schema ${kSchema}; this one has schema ${json.schema ?? '(none)'}.`);
  }
  return {
    schema: kSchema,
    kind: json.kind ?? 'study',
    title: json.title || 'Report',
    subtitle: json.subtitle ?? '',
    facts: json.facts ?? [],
    compared: {policies: [], baseline: '', best: '', best_choice: '', ...json.compared},
    tiles: json.tiles ?? [],
    findings: (json.findings ?? []).map((finding: Written<Finding>) => ({
      headline: finding.headline ?? '',
      detail: finding.detail ?? '',
      figure: finding.figure ?? '',
      advice: finding.advice ?? '',
    })),
    sections: (json.sections ?? []).map((section: Written<Section>) => ({
      id: section.id ?? '',
      title: section.title ?? '',
      text: section.text ?? '',
      leads: section.leads ?? false,
      figures: (section.figures ?? []).map(figureOf),
    })),
    absent: json.absent ?? [],
    notes: json.notes ?? [],
    provenance: {
      trace: '', sha256: '', filter: '', jobs: null, hash: '', version: '', command: '',
      ...json.provenance,
    },
  };
}

function figureOf(figure: Written<Figure>): Figure {
  const data = figure.data ?? {};
  return {
    id: figure.id ?? '',
    title: figure.title ?? '',
    caption: figure.caption ?? '',
    source: figure.source ?? '',
    n: figure.n ?? null,
    compared: figure.compared ?? '',
    columns: (figure.columns ?? [])
      .filter((column) => column.name in data)
      .map((column: Written<Column>) => ({
        name: column.name ?? '',
        label: column.label || (column.name ?? ''),
        unit: column.unit ?? '',
        type: column.type ?? 'number',
        units: column.units ?? '',
        better: column.better ?? '',
        detail: column.detail ?? false,
      })),
    data,
    charts: (figure.charts ?? []).map(chartOf),
  };
}

/** A chart of the parts that are given. */
export function chartOf(chart: Written<Chart>): Chart {
  return {
    kind: chart.kind ?? 'line',
    title: chart.title ?? '',
    x: chart.x ?? '',
    y: chart.y ?? [],
    by: chart.by ?? '',
    choose: chart.choose ?? [],
    stacked: chart.stacked ?? false,
    sorted: chart.sorted ?? false,
    x_scale: chart.x_scale ?? 'linear',
    y_scale: chart.y_scale ?? 'linear',
    right: chart.right ?? [],
    labels: chart.labels ?? '',
    hollow: chart.hollow ?? '',
    zeros: chart.zeros ?? '',
    box: {low: '', q1: '', median: '', q3: '', high: '', mean: '', ...chart.box},
    band: {low: '', high: '', ...chart.band},
    value: chart.value ?? '',
    end: chart.end ?? '',
    reference: chart.reference ?? [],
  };
}
