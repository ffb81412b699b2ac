// SPDX-License-Identifier: Apache-2.0
// Sentences as they are set: an option of a command, such as --cluster, stays on one line.
import {prose} from './format';

export function Words({of}: {of: string}) {
  return <>{prose(of).split(/(--[a-z][a-z-]*)/).map((part, n) => (n % 2 === 1 ? <span key={n} class="option">{part}</span> : folded(part, /(?<=\w\+)(?=\w)/)))}</>;
}

/** A long name, such as that of a policy, which may be broken at its joints. */
export function foldable(name: string) {
  return folded(name, /(?<=[_+/:])/);
}

function folded(text: string, joint: RegExp) {
  return text.split(joint).map((part, n) => (n === 0 ? part : <><wbr />{part}</>));
}
