// SPDX-License-Identifier: Apache-2.0
// How busy the machine was, what it drew, how many ran and waited.
import {useMemo} from 'preact/hooks';
import {percent, plain, quantity} from '../format';
import {LiveFigure} from './live_figure';
import {useAnswer, useTicks} from './poll';
import {refine} from './route';
import type {Moment} from './service';
import type {ViewProps} from './shell';
import {binned, energy, figuresOf, powerSource} from './use_figures';

const kRanges: [string, string, number][] = [['6h', '6 hours', 0.25], ['', '24 hours', 1], ['7', '7 days', 7], ['30', '30 days', 30]];

export function UseView({now, route, theme}: ViewProps) {
  const range = kRanges.find(([name]) => name === (route.query.get('days') ?? '')) ?? kRanges[1] as (typeof kRanges)[0];
  const since = useMemo(() => Math.floor(now - range[2] * 86400), [range]);
  const minute = useTicks(60);
  const {value} = useAnswer<{moments: Moment[]}>(`/v1/timeline?since=${since}`, minute);
  const moments = value?.moments;
  const figures = useMemo(() => figuresOf(binned(moments ?? [])), [moments]);
  const spent = useMemo(() => energy(moments ?? []), [moments]);
  return (
    <>
      <h1>Usage</h1>
      <div class="filters">
        <div class="chips" role="group" aria-label="Period">
          {kRanges.map(([name, label]) => <button key={name} type="button" aria-pressed={name === range[0]} onClick={() => refine(route, {days: name})}>{label}</button>)}
        </div>
      </div>
      {moments && moments.length < 2 && <p class="nothing">Not enough measurements yet. Try again in a few minutes.</p>}
      {moments && moments.length >= 2 && (
        <>
          <dl class="figures">
            <div class="large"><dt>GPU allocation</dt><dd>{percent(spent.held)}</dd></div>
            {spent.used !== undefined && <div><dt>GPU utilization</dt><dd>{percent(spent.used)}</dd></div>}
            {spent.idle !== undefined && <div><dt>Allocated but idle</dt><dd>{percent(spent.idle)} <small>of all GPU time</small></dd></div>}
            {spent.kwh > 0 && (
              <>
                <div><dt>Energy{powerSource(moments)}</dt><dd>{plain(spent.kwh)} kWh</dd></div>
                <div><dt>Mean power</dt><dd>{quantity(spent.mean_w, 'W')}</dd></div>
                {spent.gpu_hours > 0 && <div><dt>Energy per allocated GPU-hour</dt><dd>{plain(spent.kwh / spent.gpu_hours)} kWh</dd></div>}
              </>
            )}
          </dl>
          <div class="halves charts">{figures.map((figure) => <LiveFigure key={figure.id} figure={figure} theme={theme} />)}</div>
        </>
      )}
    </>
  );
}
