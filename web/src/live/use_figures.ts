// SPDX-License-Identifier: Apache-2.0
// Samples of the whole machine as figures and sums.
import {chartOf, type Chart, type Column, type Figure} from '../document';
import {moved, zone} from './clock';
import type {Moment} from './service';

const kPoints = 480;
/** After a longer silence the service was not there: nothing is summed over it. */
const kSilence = 900;

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** At most kPoints samples: the mean of each equal stretch of time. */
export function binned(moments: Moment[]): Moment[] {
  const first = moments[0];
  const last = moments[moments.length - 1];
  if (!first || !last || moments.length <= kPoints) return moments;
  const by = (last.at_s - first.at_s) / kPoints;
  const bins = new Map<number, Moment[]>();
  for (const moment of moments) {
    const bin = Math.min(kPoints - 1, Math.floor((moment.at_s - first.at_s) / by));
    const own = bins.get(bin);
    if (own) own.push(moment); else bins.set(bin, [moment]);
  }
  return [...bins.values()].map((bin) => {
    const of = (name: 'gpu_use' | 'power_w') => bin.map((moment) => moment[name]).filter((value): value is number => value !== undefined);
    const [use, power] = [of('gpu_use'), of('power_w')];
    return {
      at_s: (bin[0] as Moment).at_s,
      gpus: mean(bin.map((moment) => moment.gpus)),
      gpus_busy: mean(bin.map((moment) => moment.gpus_busy)),
      jobs_running: mean(bin.map((moment) => moment.jobs_running)),
      jobs_waiting: mean(bin.map((moment) => moment.jobs_waiting)),
      ...(use.length > 0 ? {gpu_use: mean(use)} : {}),
      ...(power.length > 0 ? {power_w: mean(power)} : {}),
      ...alike(bin.map((moment) => moment.power_is_measured)),
    };
  });
}

/** Whether power is measured, where all say the same of it. */
function alike(said: (boolean | undefined)[]): {power_is_measured?: boolean} {
  const first = said[0];
  return first !== undefined && said.every((each) => each === first) ? {power_is_measured: first} : {};
}

/** Which of the two the watts of these samples are. */
export function powerSource(moments: Moment[]): string {
  const told = moments.filter((moment) => (moment.power_w ?? 0) > 0).map((moment) => moment.power_is_measured);
  if (told.length === 0 || told.every((each) => each === undefined)) return '';
  if (told.every((each) => each === true)) return ', measured';
  return told.every((each) => each === false) ? ', modeled' : ', partly measured';
}

/** Whose watts those of the model are. */
export const kModelledPower = 'The power model is that of almanac serve --power (default: a DGX-1).';

export interface Sums {
  /** Of all GPU time: held, measured to be used, held and not used. */
  held: number;
  used?: number;
  idle?: number;
  kwh: number;
  mean_w: number;
  gpu_hours: number;
}

/** Each sample holds until the next. */
export function energy(moments: Moment[]): Sums {
  let [all, held, used, measured, heldMeasured, joules, time] = [0, 0, 0, 0, 0, 0, 0];
  moments.forEach((moment, n) => {
    const lasts = (moments[n + 1]?.at_s ?? moment.at_s) - moment.at_s;
    if (lasts <= 0 || lasts > kSilence) return;
    all += moment.gpus * lasts;
    held += moment.gpus_busy * lasts;
    time += lasts;
    joules += (moment.power_w ?? 0) * lasts;
    if (moment.gpu_use === undefined) return;
    used += moment.gpu_use * moment.gpus * lasts;
    heldMeasured += moment.gpus_busy * lasts;
    measured += moment.gpus * lasts;
  });
  return {
    held: all > 0 ? held / all : NaN,
    ...(measured > 0 ? {used: used / measured, idle: Math.max(0, heldMeasured - used) / measured} : {}),
    kwh: joules / 3.6e6,
    mean_w: time > 0 ? joules / time : NaN,
    gpu_hours: held / 3600,
  };
}

export function figuresOf(moments: Moment[]): Figure[] {
  const at: Column = {name: 'at', label: 'Time', unit: 's', type: 'time', zone: zone()};
  const times = moments.map((moment) => moved(moment.at_s));
  const figure = (id: string, title: string, kind: Chart['kind'], columns: [keyof Moment, string, Column['unit']][]): Figure => ({
    id, title, caption: '', source: '', n: null,
    columns: [at, ...columns.map(([name, label, unit]): Column => ({name, label, unit, type: 'number'}))],
    data: {at: times, ...Object.fromEntries(columns.map(([name]) => [name, moments.map((moment) => moment[name] ?? null)]))},
    charts: [chartOf({kind, x: 'at', y: columns.map(([name]) => name)})],
  });
  const has = (name: keyof Moment) => moments.some((moment) => (moment[name] ?? 0) !== 0);
  return [
    figure('gpus', 'Allocated GPUs', 'step', [['gpus_busy', 'allocated', 'gpus'], ['gpus', 'in service', 'gpus']]),
    ...(moments.some((moment) => moment.gpu_use !== undefined) ? [figure('gpu_use', 'GPU utilization', 'line', [['gpu_use', 'GPU utilization', 'fraction']])] : []),
    figure('jobs', 'Jobs', 'step', [['jobs_running', 'running', 'jobs'], ['jobs_waiting', 'pending', 'jobs']]),
    ...(has('power_w') ? [{
      ...figure('power', `Power${powerSource(moments)}`, 'line', [['power_w', 'Power', 'W']]),
      caption: powerSource(moments) === ', measured' ? '' : kModelledPower,
    }] : []),
  ];
}
