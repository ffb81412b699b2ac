// SPDX-License-Identifier: Apache-2.0
// Which policy decides, which one is compared with it, and how jobs would have fared under that one.
import {useMemo, useState} from 'preact/hooks';
import {duration, percent, plain} from '../format';
import {Actions} from './action';
import {clock} from './clock';
import {useAnswer, useTicks} from './poll';
import type {Comparison, Figures, Policy, Shadow} from './service';
import type {ViewProps} from './shell';

export function PolicyView({overview, now}: ViewProps) {
  const minute = useTicks(60);
  const {value: policies} = useAnswer<{policies: Policy[]}>('/v1/policies', 0);
  const {value: shadow} = useAnswer<Shadow>('/v1/shadow', `${overview.policy} ${overview.shadow ?? ''} ${minute}`);
  const [find, setFind] = useState('');
  const [other, setOther] = useState('');
  const words = find.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const shown = useMemo(
    () => (policies?.policies ?? []).filter((each) => words.every((word) => `${each.name} ${each.summary} ${each.source}`.toLowerCase().includes(word))), [policies, find]);
  const against = overview.shadow ?? '';
  return (
    <>
      <h1>Policy</h1>
      <dl class="figures">
        <div class="large"><dt>Decides</dt><dd>{overview.policy}</dd></div>
        <div><dt>Compared with</dt><dd>{against || 'none'}</dd></div>
      </dl>
      {against !== '' && (
        <section aria-labelledby="shadow-title">
          <h2 id="shadow-title">Had {against} decided</h2>
          {shadow?.comparison ? <ComparisonTable of={shadow.comparison} now={now} />
            : <p class="nothing">There is no comparison yet: it is made every ten minutes of the jobs that have ended.</p>}
          <Actions note={false} actions={[{label: 'Stop comparing', method: 'PUT', path: '/v1/shadow', body: {policy: ''}}]} />
        </section>
      )}
      <section aria-labelledby="all-title">
        <h2 id="all-title">What could decide</h2>
        <p class="brief-text">A policy that is chosen decides from the next moment on; what runs is not touched unless it preempts. One that is compared plays
          the last days again and touches nothing. What only a simulation can know, such as run times, goes by what has ended here.</p>
        <div class="filters"><label>Find <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} /></label></div>
        <ul class="policies">
          {shown.map((each) => (
            <li key={each.name}>
              <h3>{each.name}{each.name === overview.policy && <span class="tag">decides</span>}{each.name === against && <span class="tag">compared</span>}</h3>
              <p>{each.summary}{each.source && <span class="source"> {each.source}</span>}</p>
              <Choice policy={each.name} decides={overview.policy} against={against} />
            </li>
          ))}
          <li>
            <h3><label for="other-policy">another</label></h3>
            <p><input id="other-policy" type="text" placeholder="fifo+harmless" value={other} spellcheck={false} onInput={(event) => setOther(event.currentTarget.value)} /> <span class="hint">put together as the command line does it</span></p>
            {other.trim() !== '' && <Choice policy={other.trim()} decides={overview.policy} against={against} />}
          </li>
        </ul>
      </section>
    </>
  );
}

function Choice({policy, decides, against}: {policy: string; decides: string; against: string}) {
  return (
    <Actions note={false} actions={[
      ...(policy === decides ? [] : [{label: 'Let it decide', method: 'PUT' as const, path: '/v1/policy', body: {policy}, sure: `Let ${policy} decide?`}]),
      ...(policy === against || policy === decides ? [] : [{label: 'Compare', method: 'PUT' as const, path: '/v1/shadow', body: {policy}}]),
    ]} />
  );
}

const kLines: {label: string; value(of: Figures): number | undefined; show(value: number): string; less: boolean}[] = [
  {label: 'Wait, mean', value: (of) => of.avg_wait_s, show: duration, less: true},
  {label: 'Wait, 99 in 100', value: (of) => of.p99_wait_s, show: duration, less: true},
  {label: 'Completion, mean', value: (of) => of.avg_jct_s, show: duration, less: true},
  {label: 'Completion, 99 in 100', value: (of) => of.p99_jct_s, show: duration, less: true},
  {label: 'Preemptions', value: (of) => of.preemptions, show: plain, less: true},
  {label: 'Deadlines kept', value: (of) => of.guarantee, show: percent, less: false},
];

function ComparisonTable({of, now}: {of: Comparison; now: number}) {
  return (
    <>
      <p class="finding">{finding(of)}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Comparison">
        <table class="comparison">
          <thead><tr>
            <th scope="col">{plain(of.real.jobs)} jobs since {clock(of.since_s, now)}</th>
            <th scope="col" class="number">{of.policy}, as it was</th>
            <th scope="col" class="number">{of.policy}, played</th>
            <th scope="col" class="number">{of.shadow}, played</th>
            <th scope="col" class="number">difference</th>
          </tr></thead>
          <tbody>
            {kLines.map((line) => {
              const [real, played, other] = [of.real, of.played, of.other].map(line.value);
              if (real === undefined && played === undefined && other === undefined) return null;
              const say = (value: number | undefined) => (value === undefined ? '–' : line.show(value));
              const change = played && other !== undefined ? other / played - 1 : undefined;
              const better = change !== undefined && Math.abs(change) >= 0.005 ? (change < 0) === line.less : undefined;
              return (
                <tr key={line.label}>
                  <th scope="row">{line.label}</th>
                  <td class="number">{say(real)}</td><td class="number">{say(played)}</td><td class="number">{say(other)}</td>
                  <td class="number">{change === undefined ? '–' : Math.abs(change) < 0.005 ? 'the same'
                    : <>{change > 0 ? '+' : ''}{percent(change)} <span class={better ? 'better' : 'worse'}>{better ? 'better' : 'worse'}</span></>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="hint">Made {clock(of.at_s, now)}. Played is what a simulation of the same jobs gives; where “as it was” and “played” of the same policy differ, users held, cancelled
        or processes took time, and the comparison is worth as much less.</p>
    </>
  );
}

function finding(of: Comparison): string {
  const [played, other] = [of.played.avg_wait_s, of.other.avg_wait_s];
  const about = `On the last ${plain(of.real.jobs)} jobs ${of.shadow} would have made them wait ${duration(other)} on average, ${of.policy} ${duration(played)}`;
  const [most, least] = [Math.max(played, other), Math.min(played, other)];
  if (most - least < 0.02 * most || most < 1) return `${about}: no difference that counts.`;
  return `${about}: ${other < played ? `${percent((played - other) / played)} less` : `${played < 1 ? 'longer' : `${(other / played).toFixed(1)} times as long`}`}.`;
}
