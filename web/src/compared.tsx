// SPDX-License-Identifier: Apache-2.0
// Which of the compared policies figures draw, and which one others are set against: one choice for the page.
import {createContext} from 'preact';
import {useContext, useMemo} from 'preact/hooks';
import {joined, parted} from './address';
import type {Compared} from './document';
import {useKept} from './kept';

export interface Pick {
  /** In the order of the document. */
  names: string[];
  cautions: Map<string, string>;
  /** "best", or "best deployable" next to "best oracle" or "best overall". */
  roles: Map<string, string>;
  /** What figures draw. */
  drawn: ReadonlySet<string>;
  /** Places among colours and marks: those that are drawn at first come first. */
  places: Map<string, number>;
  baseline: string;
  draw(names: Iterable<string> | undefined): void;
  setBaseline(name: string): void;
}

export const PickedPolicies = createContext<Pick | undefined>(undefined);

/** Of so few all are drawn. */
const kFew = 4;

export function usePick(of: Compared): Pick | undefined {
  const [kept, setKept] = useKept('policies');
  const [base, setBase] = useKept('baseline');
  return useMemo(() => {
    const names = of.policies.map((policy) => policy.name);
    if (names.length === 0) return undefined;
    const known = (name: string) => names.includes(name);
    const telling = [...new Set([of.baseline, of.best_choice, of.best])].filter(known);
    const first = names.length <= kFew || telling.length === 0 ? names : telling;
    const chosen = kept === undefined ? first : parted(kept).filter(known);
    const order = [...telling, ...names.filter((name) => !telling.includes(name))];
    const roles = new Map<string, string[]>();
    const say = (name: string, role: string) => known(name) && roles.set(name, [...(roles.get(name) ?? []), role]);
    say(of.best_choice, of.best === of.best_choice ? 'best' : 'best deployable');
    const cautions = new Map(of.policies.filter(({caution}) => caution !== '').map(({name, caution}) => [name, caution]));
    // A policy that is best, but not recommended, is an oracle or needs what the log does not have, such as checkpoints.
    if (of.best !== of.best_choice) say(of.best, cautions.has(of.best) ? 'best oracle' : 'best overall');
    return {
      names,
      cautions,
      roles: new Map([...roles].map(([name, all]) => [name, all.join(', ')])),
      drawn: new Set(chosen),
      places: new Map(order.map((name, place) => [name, place])),
      baseline: base !== undefined && known(base) ? base : of.baseline,
      draw: (those) => setKept(those === undefined ? undefined : joined(names.filter((name) => [...those].includes(name)))),
      setBaseline: (name) => setBase(name === of.baseline ? undefined : name),
    };
  }, [of, kept, base, setKept, setBase]);
}

/** Boxes to tick, folded under how many are drawn: the same ones at every figure. */
export function PolicyPicker({of}: {of: string}) {
  const pick = useContext(PickedPolicies);
  if (!pick || pick.names.length < 2) return null;
  const toggle = (name: string) => {
    const next = new Set(pick.drawn);
    if (!next.delete(name)) next.add(name);
    pick.draw(next);
  };
  return (
    <details class="picker">
      <summary>Policies <span class="hint">{pick.drawn.size} of {pick.names.length} drawn</span></summary>
      <div role="group" aria-label={`Policies drawn in figures, at ${of}`}>
        {pick.names.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={pick.drawn.has(name)} onChange={() => toggle(name)} />
            <span>{name}</span> <Marks of={name} />
          </label>
        ))}
      </div>
      <div class="tools">
        <button type="button" onClick={() => pick.draw(pick.names)}>All</button>
        <button type="button" onClick={() => pick.draw(undefined)}>Reset</button>
      </div>
    </details>
  );
}

/** The role of a policy, and what keeps it from being chosen. */
export function Marks({of}: {of: string}) {
  const pick = useContext(PickedPolicies);
  const caution = pick?.cautions.get(of);
  const role = pick?.roles.get(of);
  return (
    <>
      {role && <span class="mark">{role}</span>}
      {caution && <span class="mark caution">{caution}</span>}
    </>
  );
}
