// SPDX-License-Identifier: Apache-2.0
// Names next to points: where there is room, and nowhere else.

export interface Spot {
  /** Pixels from the left and from the top of the chart. */
  x: number;
  y: number;
  name: string;
  /** Half the size of the mark. */
  radius: number;
  /** Whether the name is shown even where it crosses other marks. */
  must?: boolean;
}

export type Side = 'right' | 'left' | 'top' | 'bottom';

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const kLetter = 6.4;  // pixels, at 11.5 px
const kHeight = 13;
const kGap = 3;

/**
 * The side of each spot on which its name overlaps no mark and no other name; null if there is none.
 * Earlier spots choose first. `area` is where names may be.
 */
export function placeLabels(spots: Spot[], area: Box): (Side | null)[] {
  const marks = spots.map(({x, y, radius}) => ({left: x - radius, right: x + radius, top: y - radius, bottom: y + radius}));
  const taken: Box[] = [];
  return spots.map((spot, own) => {
    if (spot.name === '') return null;
    const boxes = kSides.map((side) => ({side, box: labelBox(spot, side)}))
      .filter(({box}) => box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom)
      .filter(({box}) => !taken.some((other) => overlap(box, other)));
    const clear = boxes.find(({box}) => !marks.some((mark, at) => at !== own && overlap(box, mark)));
    const free = (clear ?? (spot.must ? boxes[0] : undefined))?.side;
    if (free) taken.push(labelBox(spot, free));
    return free ?? null;
  });
}

const kSides: Side[] = ['right', 'left', 'top', 'bottom'];

function labelBox({x, y, name, radius}: Spot, side: Side): Box {
  const wide = name.length * kLetter;
  const away = radius + kGap;
  const left = side === 'right' ? x + away : side === 'left' ? x - away - wide : x - wide / 2;
  const top = side === 'top' ? y - away - kHeight : side === 'bottom' ? y + away : y - kHeight / 2;
  return {left, right: left + wide, top, bottom: top + kHeight};
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
