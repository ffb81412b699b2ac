// SPDX-License-Identifier: Apache-2.0
// Many nodes as a map: a tile each, a cell a GPU, in the colour of the user who has it, filled as far as it is used.
import {percent} from '../format';
import {style, type Theme} from '../theme';
import {jobLink, nodeLink} from './route';
import type {Gpu, Job, Node} from './service';
import {coloursOf} from './words';

interface Props {
  nodes: Node[];
  jobs: Job[];
  /** Of the node that is shown whole. */
  chosen: string;
  theme: Theme;
}

export function NodeGrid({nodes, jobs, chosen, theme}: Props) {
  const colours = coloursOf(jobs.map((job) => job.user), theme.colours.length);
  const byNumber = new Map(jobs.map((job) => [job.number, job]));
  const vcs = [...new Set(nodes.map((node) => node.vc))];
  return (
    <>
      {vcs.map((vc) => (
        <section key={vc} class="grid" {...(vcs.length > 1 ? {'aria-label': `Nodes of ${vc}`} : {'aria-label': 'Nodes'})}>
          {vcs.length > 1 && <h2>{vc || '(no virtual cluster)'}</h2>}
          <ul>
            {nodes.filter((node) => node.vc === vc).map((node) => (
              <li key={node.name} class={`${node.drained ? 'drained' : ''} ${node.name === chosen ? 'chosen' : ''}`}>
                <a href={nodeLink(node.name === chosen ? '' : node.name)} aria-current={node.name === chosen ? 'true' : undefined}>{node.name}</a>
                <span class="free">{freeOf(node)}</span>
                <span class="cells">
                  {node.gpus.map((gpu) => <Cell key={gpu.number} gpu={gpu} byNumber={byNumber} colours={colours} theme={theme} />)}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function freeOf(node: Node): string {
  if (node.silent) return 'silent';
  if (node.drained) return 'drained';
  if (node.gpus.length === 0) return 'CPUs only';
  const free = node.gpus.filter((gpu) => gpu.in_service && gpu.jobs.length === 0).length;
  return node.gpus.every((gpu) => !gpu.in_service) ? 'out of service' : free > 0 ? `${free} free` : 'full';
}

function Cell({gpu, byNumber, colours, theme}: {gpu: Gpu; byNumber: Map<number, Job>; colours: Map<string, number>; theme: Theme}) {
  const [number] = gpu.jobs;
  const job = number === undefined ? undefined : byNumber.get(number);
  const use = gpu.use === undefined ? '' : `, ${percent(gpu.use)} used`;
  if (!gpu.in_service) return <span class="cell broken" title={`GPU ${gpu.number}: out of service${gpu.trouble ? `, ${gpu.trouble}` : ''}`} />;
  if (number === undefined) return <span class="cell" title={`GPU ${gpu.number}: free`} />;
  const words = `GPU ${gpu.number}: ${job ? `${job.job_id} ${job.name}, ${job.user}` : number}${gpu.jobs.length > 1 ? ` and ${gpu.jobs.length - 1} more` : ''}${use}`;
  // With a mouse a cell leads to its job; keys and readers go by the node, which names its jobs.
  const colour = job ? style(theme, colours.get(job.user) ?? 0).colour : theme.grey;
  const background = gpu.use === undefined ? colour : `linear-gradient(to top, ${colour} ${100 * gpu.use}%, transparent 0)`;
  return <a class="cell" tabIndex={-1} aria-label={words} title={words} href={jobLink(job?.job_id ?? String(number))} style={{background, boxShadow: `inset 0 0 0 1px ${colour}`}} />;
}
