// SPDX-License-Identifier: Apache-2.0
// Recent usage against fair share, loans between tenants, and weighted usage.
import {duration, percent, plain} from '../format';
import {Meter} from './meter';
import {useAnswer, useTicks} from './poll';
import type {Tenancy, Tenant} from './service';
import type {ViewProps} from './shell';

/** A full bar means usage of this many times the fair share. */
const kFull = 2;
const kLoans = 8;

export function TenantsView({overview}: ViewProps) {
  const often = useTicks(30);
  const {value: all} = useAnswer<Tenancy>('/v1/tenants', `${overview.policy} ${often}`);
  if (!all) return <><h1>Tenants</h1><p class="nothing">Loading…</p></>;
  if (all.tenants.length === 0) return <><h1>Tenants</h1><p class="nothing">No one has requested a GPU yet.</p></>;
  return (
    <>
      <h1>Tenants</h1>
      <dl class="figures">
        <div class="large"><dt>Unfairly distributed GPU time</dt><dd>{percent(all.share_error)}</dd></div>
        {all.worst !== undefined && <div><dt>Lowest usage against fair share</dt><dd>{all.worst} <small>{percent(all.worst_fair_share)}</small></dd></div>}
        {all.jain_fair_share !== undefined && <div title="Jain's fairness index of usage as a fraction of fair share; 1 = equal for all"><dt>Jain’s fairness index</dt><dd>{all.jain_fair_share.toFixed(2)}</dd></div>}
        {all.avg_finish_time_ratio !== undefined && (
          <div title="Completion time compared with that on an equal part of the cluster of one’s own"><dt>Mean finish-time ratio</dt><dd>{all.avg_finish_time_ratio.toFixed(2)}</dd></div>
        )}
        {all.unfair_jobs !== undefined && <div><dt>Jobs with a ratio above 1.05</dt><dd>{percent(all.unfair_jobs)}</dd></div>}
      </dl>
      <section aria-labelledby="due-title">
        <h2 id="due-title">Usage against fair share</h2>
        <p class="brief-text">The fair share at any time is {all.by_tenant ? 'a tenant’s guaranteed part of all GPUs' : 'an equal part of all GPUs for each user'}, limited to the GPUs that its jobs
          request, plus a part of what others leave unused. Period: the last {duration(all.to_s - all.from_s)}.</p>
        <div class="scroll" tabIndex={0} role="region" aria-label="Usage against fair share"><Table of={all} /></div>
        <p class="hint">Weighted usage has a half-life of {duration(all.half_life_s)}{all.usage_source ? `, as in ${all.usage_source}` : ''}. Policies that are fair over time use it.</p>
      </section>
      {all.loans.length > 0 && (
        <section aria-labelledby="loans-title">
          <h2 id="loans-title">Loans</h2>
          <ol class="brief">{all.loans.slice(0, kLoans).map((loan) => (
            <li key={`${loan.from} ${loan.to}`}><span>{named(loan.from)} to {named(loan.to)}</span><span class="right">{hours(loan.gpu_s)} GPU-h</span></li>
          ))}</ol>
        </section>
      )}
    </>
  );
}

function Table({of: all}: {of: Tenancy}) {
  const depth = depths(all.tenants);
  const hasLimits = all.tenants.some((each) => each.limit !== undefined);
  return (
    <table class="comparison">
      <thead><tr>
        <th scope="col">{all.by_tenant ? 'Tenant' : 'User'}</th>
        {all.by_tenant && <th scope="col" class="number">guarantee</th>}
        {hasLimits && <th scope="col" class="number">limit</th>}
        <th scope="col" class="number">allocated</th><th scope="col" class="number">requested</th>
        <th scope="col" class="number">usage, GPU-h</th><th scope="col" class="number">fair share, GPU-h</th>
        <th scope="col" class="number">usage / fair share</th><th scope="col"><span class="unseen">bar</span></th>
        {all.by_tenant && <><th scope="col" class="number">lent</th><th scope="col" class="number">borrowed</th></>}
        <th scope="col" class="number">weighted usage, GPU-h</th>
      </tr></thead>
      <tbody>
        {all.tenants.map((each) => {
          const part = each.fair_share_gpu_s > 0 ? each.used_gpu_s / each.fair_share_gpu_s : undefined;
          return (
            <tr key={each.name}>
              <th scope="row" style={{paddingLeft: `${depth.get(each.name) ?? 0}em`}}>{named(each.name)}</th>
              {all.by_tenant && <td class="number">{each.guarantee ? plain(each.guarantee) : '–'}</td>}
              {hasLimits && <td class="number">{each.limit === undefined ? '–' : plain(each.limit)}</td>}
              <td class="number">{plain(each.gpus_allocated)}</td><td class="number">{plain(each.gpus_waiting)}</td>
              <td class="number">{hours(each.used_gpu_s)}</td><td class="number">{hours(each.fair_share_gpu_s)}</td>
              <td class="number">{part === undefined ? '–' : percent(part)}</td>
              <td class="bar-cell">{part !== undefined && <Meter share={part / kFull} />}</td>
              {all.by_tenant && <><td class="number">{hours(each.lent_gpu_s)}</td><td class="number">{hours(each.borrowed_gpu_s)}</td></>}
              <td class="number">{hours(each.use_gpu_s)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** How many tenants are above each. */
function depths(tenants: Tenant[]): Map<string, number> {
  const made = new Map<string, number>();
  for (const each of tenants) made.set(each.name, each.parent === undefined ? 0 : (made.get(each.parent) ?? 0) + 1);
  return made;
}

function hours(gpuSeconds: number): string {
  return plain(gpuSeconds / 3600, 3);
}

function named(tenant: string): string {
  return tenant === '' ? 'others' : tenant;
}
