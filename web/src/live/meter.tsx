// SPDX-License-Identifier: Apache-2.0
// How much of something is taken, as a bar as long as a word.

export function Meter({share, label, colour}: {share: number; label?: string; colour?: string}) {
  const part = Math.max(0, Math.min(1, share));
  return (
    <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" {...(label ? {role: 'img', 'aria-label': label} : {'aria-hidden': true})}>
      <rect class="track" width="100" height="4" />
      <rect class="part" width={part * 100} height="4" {...(colour ? {style: {fill: colour}} : {})} />
    </svg>
  );
}
