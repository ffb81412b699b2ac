// SPDX-License-Identifier: Apache-2.0
// The active policy, the one that it is compared with, and how jobs would have fared under that one.
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
        <div class="large"><dt>Active</dt><dd>{overview.policy}</dd></div>
        <div><dt>Compared with</dt><dd>{against || 'none'}</dd></div>
      </dl>
      {against !== '' && (
        <section aria-labelledby="shadow-title">
          <h2 id="shadow-title">If {against} had been active</h2>
          {shadow?.comparison ? <ComparisonTable of={shadow.comparison} now={now} />
            : <p class="nothing">No comparison yet. The service compares the policies on the ended jobs every ten minutes.</p>}
          <Actions note={false} actions={[{label: 'Stop comparing', method: 'PUT', path: '/v1/shadow', body: {policy: ''}}]} />
        </section>
      )}
      <section aria-labelledby="all-title">
        <h2 id="all-title">Available policies</h2>
        <p class="brief-text">Activating a policy takes effect at once. Running jobs continue unless the policy preempts them. Comparing a policy
          replays the last days in a simulation and changes nothing. Run times that only a simulation can know are estimated from ended jobs.</p>
        <div class="filters"><label>Find <input type="search" value={find} onInput={(event) => setFind(event.currentTarget.value)} /></label></div>
        <ul class="policies">
          {shown.map((each) => (
            <li key={each.name}>
              <h3>{each.name}{each.name === overview.policy && <span class="tag">active</span>}{each.name === against && <span class="tag">compared</span>}</h3>
              <p>{each.summary}{each.source && <span class="source"> {each.source}</span>}</p>
              <Choice policy={each.name} decides={overview.policy} against={against} />
            </li>
          ))}
          <li>
            <h3><label for="other-policy">Other policy</label></h3>
            <p><input id="other-policy" type="text" placeholder="fifo+harmless" value={other} spellcheck={false} onInput={(event) => setOther(event.currentTarget.value)} /> <span class="hint">a name or parts joined by +, as on the command line</span></p>
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
      ...(policy === decides ? [] : [{label: 'Activate', method: 'PUT' as const, path: '/v1/policy', body: {policy}, sure: `Activate ${policy}?`}]),
      ...(policy === against || policy === decides ? [] : [{label: 'Compare', method: 'PUT' as const, path: '/v1/shadow', body: {policy}}]),
    ]} />
  );
}

const kLines: {label: string; value(of: Figures): number | undefined; show(value: number): string; less: boolean}[] = [
  {label: 'Mean wait', value: (of) => of.avg_wait_s, show: duration, less: true},
  {label: 'p99 wait', value: (of) => of.p99_wait_s, show: duration, less: true},
  {label: 'Mean completion time', value: (of) => of.avg_jct_s, show: duration, less: true},
  {label: 'p99 completion time', value: (of) => of.p99_jct_s, show: duration, less: true},
  {label: 'Preemptions', value: (of) => of.preemptions, show: plain, less: true},
  {label: 'Deadlines met', value: (of) => of.guarantee, show: percent, less: false},
];

function ComparisonTable({of, now}: {of: Comparison; now: number}) {
  return (
    <>
      <p class="finding">{finding(of)}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Comparison">
        <table class="comparison">
          <thead><tr>
            <th scope="col">{plain(of.actual.jobs)} jobs since {clock(of.since_s, now)}</th>
            <th scope="col" class="number">{of.policy}, actual</th>
            <th scope="col" class="number">{of.policy}, simulated</th>
            <th scope="col" class="number">{of.shadow}, simulated</th>
            <th scope="col" class="number">difference</th>
          </tr></thead>
          <tbody>
            {kLines.map((line) => {
              const [actual, active, other] = [of.actual, of.active_simulated, of.shadow_simulated].map(line.value);
              if (actual === undefined && active === undefined && other === undefined) return null;
              const say = (value: number | undefined) => (value === undefined ? '–' : line.show(value));
              const change = active && other !== undefined ? other / active - 1 : undefined;
              const better = change !== undefined && Math.abs(change) >= 0.005 ? (change < 0) === line.less : undefined;
              return (
                <tr key={line.label}>
                  <th scope="row">{line.label}</th>
                  <td class="number">{say(actual)}</td><td class="number">{say(active)}</td><td class="number">{say(other)}</td>
                  <td class="number">{change === undefined ? '–' : Math.abs(change) < 0.005 ? 'none'
                    : <>{change > 0 ? '+' : ''}{percent(change)} <span class={better ? 'better' : 'worse'}>{better ? 'better' : 'worse'}</span></>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="hint">Computed at {clock(of.at_s, now)}. Both policies are simulated on the same jobs. If the actual and simulated numbers of {of.policy} differ, users held or
        cancelled jobs or starts took time, and the comparison is less reliable.</p>
    </>
  );
}

function finding(of: Comparison): string {
  const [active, other] = [of.active_simulated.avg_wait_s, of.shadow_simulated.avg_wait_s];
  const about = `Mean wait of the last ${plain(of.actual.jobs)} jobs: ${duration(other)} under ${of.shadow}, ${duration(active)} under ${of.policy}`;
  const [most, least] = [Math.max(active, other), Math.min(active, other)];
  if (most - least < 0.02 * most || most < 1) return `${about}. There is no notable difference.`;
  return `${about} (${other < active ? `${percent((active - other) / active)} shorter` : `${active < 1 ? 'longer' : `${(other / active).toFixed(1)} times as long`}`} under ${of.shadow}).`;
}
