// SPDX-License-Identifier: Apache-2.0
// What stands around every view: where one can go, how the service is, whether one may change things.
import type {ComponentChildren} from 'preact';
import {useEffect, useRef, useState} from 'preact/hooks';
import {kDark, kLight, type Theme} from '../theme';
import {useThemeName} from '../theme_switch';
import {clock, exact} from './clock';
import {HistoryView} from './history';
import {JobView} from './job';
import {ManagerView} from './manager';
import {NowView} from './now';
import {PolicyView} from './policy';
import {useOverview, useTicks} from './poll';
import {QueueView} from './queue';
import {useRoute, type Route} from './route';
import type {Overview} from './service';
import {SweepsView} from './sweeps';
import {TenantsView} from './tenants';
import {TokenButton} from './token_dialog';
import {UseView} from './use';

/** What every view is given. */
export interface ViewProps {
  overview: Overview;
  /** The service's clock, in epoch seconds. */
  now: number;
  route: Route;
  theme: Theme;
}

const kViews: {name: string; title: string; view: (props: ViewProps) => ComponentChildren; is?(overview: Overview): boolean}[] = [
  {name: 'now', title: 'Now', view: NowView},
  {name: 'queue', title: 'Queue', view: QueueView},
  {name: 'sweeps', title: 'Sweeps', view: SweepsView, is: (overview) => !overview.manager},
  {name: 'history', title: 'History', view: HistoryView},
  {name: 'use', title: 'Usage', view: UseView},
  {name: 'tenants', title: 'Tenants', view: TenantsView, is: (overview) => overview.manager !== 'kubernetes'},
  {name: 'policy', title: 'Policy', view: PolicyView},
  {name: 'slurm', title: 'Slurm', view: ManagerView, is: (overview) => overview.manager === 'slurm'},
  {name: 'kubernetes', title: 'Kubernetes', view: ManagerView, is: (overview) => overview.manager === 'kubernetes'},
];

export function Shell() {
  const [themeName, switchTheme] = useThemeName();
  const {overview, lost, ahead} = useOverview();
  const route = useRoute();
  useTicks(1);
  const now = Date.now() / 1000 + ahead;
  const heard = useRef(now);
  if (!lost) heard.current = now;
  const here = route.view === 'job' ? undefined : kViews.find((view) => view.name === route.view) ?? kViews[0];
  const main = useRef<HTMLElement>(null);
  const place = `${route.view}/${route.part}`;
  const before = useRef(place);
  const [title, setTitle] = useState('');
  useEffect(() => {
    setTitle(here ? here.title : `Job ${route.part}`);
    if (before.current === place) return;
    before.current = place;
    window.scrollTo(0, 0);
    main.current?.focus({preventScroll: true});
  }, [place]);
  useEffect(() => {
    document.title = `${title}${overview ? ` · ${overview.gpus_busy} of ${overview.gpus} GPUs busy` : ''} · Almanac`;
  }, [title, overview?.gpus_busy, overview?.gpus]);

  const View = here ? here.view : JobView;
  const props = overview && {overview, now, route, theme: themeName === 'dark' ? kDark : kLight};
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href="#/now">Almanac</a>
        <nav aria-label="Views">
          <ul>
            {kViews.filter((view) => !view.is || (overview && view.is(overview))).map((view) => (
              <li key={view.name}><a href={`#/${view.name}`} aria-current={here === view ? 'page' : undefined}>{view.title}</a></li>
            ))}
          </ul>
        </nav>
        <div class="side">
          <span class={lost ? 'pulse lost' : 'pulse'} title={lost ? '' : exact(now)}>{overview ? clock(now, now, true) : ''}</span>
          <TokenButton />
          <button type="button" class="theme" onClick={switchTheme}>{themeName === 'dark' ? 'Light' : 'Dark'}</button>
        </div>
      </header>
      <div role="status" class={lost ? 'alarm' : ''}>
        {lost && (overview
          ? `The service has not answered since ${clock(heard.current, now, true)}. The page shows the state at that time.`
          : 'The service does not answer. Check that it is running.')}
      </div>
      <main id="content" ref={main} tabIndex={-1} class={lost ? 'stale' : ''}>
        {props ? <View key={place} {...props} /> : !lost && <p class="nothing">Loading…</p>}
      </main>
    </>
  );
}
