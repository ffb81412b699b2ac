// SPDX-License-Identifier: Apache-2.0
// The one place that talks to ECharts: it paints a drawing, zooms it, and makes pictures of it.
import {BarChart, BoxplotChart, CustomChart, LineChart, ScatterChart} from 'echarts/charts';
import {
  DataZoomComponent, GridComponent, LegendComponent, TitleComponent, ToolboxComponent, TooltipComponent,
  VisualMapComponent,
} from 'echarts/components';
import {init, use, type ECharts, type EChartsCoreOption} from 'echarts/core';
import {LabelLayout} from 'echarts/features';
import {CanvasRenderer, SVGRenderer} from 'echarts/renderers';
import type {Drawing} from './charts/drawing';
import {kFont, type Theme} from './theme';

use([
  BarChart, BoxplotChart, CustomChart, LineChart, ScatterChart, DataZoomComponent, GridComponent,
  LegendComponent, TitleComponent, ToolboxComponent, TooltipComponent, VisualMapComponent, LabelLayout, CanvasRenderer,
  SVGRenderer,
]);

/** Above this many marks, elements of their own would make the page slow. */
const kManyMarks = 4000;

type Part = Record<string, unknown>;

const listOf = (part: unknown): Part[] => (Array.isArray(part) ? part : part === undefined ? [] : [part]) as Part[];

/** A chart on the page. */
export class Canvas {
  private chart: ECharts | undefined;
  private renderer = '';
  private drawing: Drawing | undefined;
  private readonly finger = window.matchMedia('(pointer: coarse)').matches;

  /** `strict`: the page's policy allows no style attributes, which ECharts gives to words in SVG. */
  constructor(private readonly host: HTMLElement, private readonly zoomed: (is: boolean) => void, private readonly strict: boolean) {}

  /** `windows`: what is to be seen along each axis that can be zoomed; none = all. */
  paint(drawing: Drawing, width: number, windows: {start: number; end: number}[] = []): void {
    const renderer = this.strict || drawing.marks > kManyMarks ? 'canvas' : 'svg';
    if (this.renderer !== renderer) this.dispose();
    this.drawing = drawing;
    if (!this.chart) {
      this.renderer = renderer;
      this.chart = init(this.host, null, {renderer, width, height: drawing.height});
      this.chart.on('datazoom', () => this.tickAgain());
    }
    this.chart.resize({width, height: drawing.height});
    this.chart.setOption(withFont({...drawing.option, ...this.zoomParts(drawing)}), {notMerge: true});
    if (drawing.zoom.length > 0 && !this.finger) {
      this.chart.dispatchAction({type: 'takeGlobalCursor', key: 'dataZoomSelect', dataZoomSelectActive: true});
    }
    if (windows.length === 0) this.zoomed(false);
    drawing.zoom.slice(0, windows.length).forEach((_, n) => this.chart?.dispatchAction({type: 'dataZoom', dataZoomIndex: n, ...windows[n]}));
  }

  dispose(): void {
    this.chart?.dispose();
    this.chart = undefined;
    this.renderer = '';
  }

  /** Keeps `share` of what is seen along the first axis, moved by `shift` of it. */
  zoom(share: number, shift: number): void {
    const [window] = this.windows();
    if (!this.chart || !window) return;
    const span = Math.min(100, (window.end - window.start) * share);
    const middle = (window.start + window.end) / 2 + (window.end - window.start) * shift;
    const start = Math.max(0, Math.min(100 - span, middle - span / 2));
    this.chart.dispatchAction({type: 'dataZoom', dataZoomIndex: 0, start, end: start + span});
  }

  reset(): void {
    this.drawing?.zoom.forEach((_, n) => this.chart?.dispatchAction({type: 'dataZoom', dataZoomIndex: n, start: 0, end: 100}));
  }

  /** Shows the tooltip of the n-th point of the first series, as a pointer would. */
  point(n: number): number {
    const series = listOf(this.drawing?.option['series'])[0];
    const length = listOf(series?.['data']).length;
    if (!this.chart || length === 0) return 0;
    const at = Math.max(0, Math.min(length - 1, n));
    this.chart.dispatchAction({type: 'showTip', seriesIndex: 0, dataIndex: at});
    return at;
  }

  unpoint(): void {
    this.chart?.dispatchAction({type: 'hideTip'});
  }

  /** What is seen along each axis that can be zoomed, to be drawn elsewhere. */
  windows(): {start: number; end: number}[] {
    const parts = listOf((this.chart?.getOption() as Part | undefined)?.['dataZoom']);
    return (this.drawing?.zoom ?? []).map((_, n) => ({start: Number(parts[n]?.['start'] ?? 0), end: Number(parts[n]?.['end'] ?? 100)}));
  }

  private zoomParts(drawing: Drawing): EChartsCoreOption {
    if (drawing.zoom.length === 0) return {};
    const has = (axis: 'x' | 'y') => drawing.zoom.some((zoom) => zoom.axis === axis);
    return {
      dataZoom: drawing.zoom.map(({axis}) => ({
        type: 'inside', [`${axis}AxisIndex`]: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: false,
        moveOnMouseWheel: false, preventDefaultMouseMove: false,
      })),
      // Dragging selects a stretch; the toolbox itself stays out of sight.
      toolbox: {
        show: true, itemSize: 0, left: -100,
        feature: {dataZoom: {
          show: true, filterMode: 'none', xAxisIndex: has('x') ? 0 : false, yAxisIndex: has('y') ? 0 : false,
          brushStyle: {color: 'rgba(90,130,180,.18)', borderColor: 'rgba(90,130,180,.7)', borderWidth: 1},
        }},
      },
    };
  }

  /** Ticks for what is seen now. */
  private tickAgain(): void {
    const parts = listOf((this.chart?.getOption() as Part | undefined)?.['dataZoom']);
    const axes: Part = {};
    let zoomed = false;
    this.drawing?.zoom.forEach(({axis, ticks}, n) => {
      const part = parts[n];
      zoomed ||= Number(part?.['start']) > 0.01 || Number(part?.['end']) < 99.99;
      const low = Number(part?.['startValue']);
      const high = Number(part?.['endValue']);
      if (!ticks || !(low < high)) return;
      const customValues = ticks(low, high);
      axes[`${axis}Axis`] = [{axisLabel: {customValues}, axisTick: {customValues}, splitLine: {customValues}}];
    });
    if (Object.keys(axes).length > 0) this.chart?.setOption(axes);
    this.zoomed(zoomed);
  }
}

function withFont(option: EChartsCoreOption): EChartsCoreOption {
  return {...option, textStyle: {...(option['textStyle'] as object), fontFamily: kFont}};
}

/** The words around a picture that leaves the page. */
export interface Words {
  title: string;
  below: string;
}

const kMargin = 20;

/** An SVG file of a drawing made `width` wide: with title, legend and source, as it would be printed. */
export function picture(drawing: Drawing, windows: {start: number; end: number}[], words: Words, width: number, theme: Theme): string {
  const keys = drawing.keys.slice(0, 40);
  const columns = Math.max(1, Math.floor((width - 2 * kMargin) / 170));
  const legend = keys.length > 0 ? Math.ceil(keys.length / columns) * 20 + 8 : 0;
  const top = 46 + legend;
  const height = drawing.height + top + 38;
  const grid = drawing.option['grid'] as {left: number; right: number; top: number; bottom: number};
  const shifted = (part: Part): Part => ({
    ...part,
    ...(part['left'] === undefined ? {right: kMargin} : {left: kMargin}),
    top: Number(part['top'] ?? 0) + top,
  });
  const written = (text: string, rest: Part, size: number, weight: string, color: string): Part =>
    ({text, left: kMargin, padding: 0, textStyle: {fontSize: size, fontWeight: weight, color, width: width - 2 * kMargin, overflow: 'truncate'}, ...rest});
  const option: EChartsCoreOption = {
    ...drawing.option,
    backgroundColor: theme.paper,
    title: [
      written(words.title, {top: kMargin}, 15, 'bold', theme.ink),
      written(words.below, {bottom: 12}, 10.5, 'normal', theme.soft),
      ...listOf(drawing.option['title']).map(shifted),
    ],
    grid: {...grid, left: grid.left + kMargin, right: grid.right + kMargin, top: grid.top + top, bottom: grid.bottom + 38},
    ...(drawing.option['visualMap'] ? {visualMap: shifted(drawing.option['visualMap'] as Part)} : {}),
    ...(keys.length > 0 ? {legend: {
      data: keys.map((key) => ({name: key.name, ...(key.mark === 'area' ? {icon: 'rect'} : {})})),
      left: kMargin, top: 48, width: width - 2 * kMargin, itemWidth: 22, itemHeight: 9, itemGap: 14, padding: 0,
      textStyle: {color: theme.soft, fontSize: 12, width: 130, overflow: 'truncate'},
    }} : {}),
    dataZoom: drawing.zoom.map(({axis}, n) => ({type: 'inside', [`${axis}AxisIndex`]: 0, filterMode: 'none', ...windows[n]})),
  };
  const chart = init(null, null, {renderer: 'svg', ssr: true, width, height});
  try {
    chart.setOption(withFont(option));
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}
